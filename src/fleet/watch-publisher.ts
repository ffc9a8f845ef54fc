import type { Clock } from '../domain/clock.ts';
import { COMMITMENTS, type Commitment } from '../domain/commitment.ts';
import type { Slot } from '../domain/slot.ts';
import type { AccountState } from '../live/accounts/account-state.ts';
import type { LiveAccountSource } from '../live/accounts/live-account-source.ts';
import type { LiveObserver } from '../live/live-observer.ts';
import type { LiveTokenListSource } from '../live/token-lists/live-token-list-source.ts';
import { TokenListState } from '../live/token-lists/token-list-state.ts';
import type { Watermark } from '../live/watermark.ts';
import type { WatermarkLease } from '../live/watermark-lease.ts';
import type { Mesh } from '../upstream/mesh/mesh.ts';
import {
  FEED_FRAME,
  type FollowedKey,
  type FollowedRead,
  type OverReason,
  packFeedMark,
  packFeedOver,
  packFeedTip,
  packHeld,
  packList,
  unpackReads,
} from './feed-frames.ts';
import type { FeedFrame } from './redis/feed.ts';

export interface WatchPublisherOptions {
  readonly clock: Clock;
  readonly mesh: Pick<Mesh, 'tip' | 'onTip'>;
  readonly accounts: Pick<LiveAccountSource, 'observeWith' | 'keepFor'>;
  readonly lists: Pick<LiveTokenListSource, 'observeWith' | 'keepFor'>;
  readonly publish: (frames: readonly FeedFrame[]) => void;
}

type State = AccountState | TokenListState;

/**
 * Publishes what this gateway keeps live, while it leads: of what followers have named, each state when a lease is granted
 * on it, the watermarks behind all that they cover, and the ends of leases. Who reads at a follower counts here as a reader,
 * so that one choice of what is kept live serves all.
 */
export class WatchPublisher implements LiveObserver<State> {
  readonly #options: WatchPublisherOptions;
  #isLeading = false;
  /** The states that a follower has named. */
  readonly #followed = new Set<State>();
  /** The watermarks of told leases. */
  readonly #marks = new Map<Watermark, { readonly id: number; readonly commitment: Commitment }>();
  /** The leases that have ended in this call, until it is known whether another one replaces them. */
  readonly #ended = new Map<State, WatermarkLease>();
  #lastMark = 0;

  constructor(options: WatchPublisherOptions) {
    this.#options = options;
    const { mesh, accounts, lists } = options;
    accounts.observeWith(this);
    lists.observeWith(this);
    for (const commitment of COMMITMENTS) {
      mesh.onTip(commitment, (slot) => {
        if (this.#isLeading) this.#publish(FEED_FRAME.tip, packFeedTip({ commitment, slot }));
      });
    }
  }

  /** The number of states that followers have named. */
  get followed(): number {
    return this.#followed.size;
  }

  start(): void {
    this.#isLeading = true;
  }

  /** Publishes nothing more: followers name what they read to the next leader. */
  stop(): void {
    this.#isLeading = false;
    this.#followed.clear();
    this.#marks.clear();
    this.#ended.clear();
  }

  /** Returns what is needed to understand the frames that follow. A follower names what it wants to be told. */
  snapshot(): readonly FeedFrame[] {
    this.#tellEnded();
    const tips = COMMITMENTS.flatMap((commitment) => {
      const slot = this.#options.mesh.tip(commitment);
      return slot === undefined ? [] : [{ type: FEED_FRAME.tip, payload: packFeedTip({ commitment, slot }) }];
    });
    const marks = [...this.#marks.keys()].map((watermark) => this.#frameOfMark(watermark));
    return [...tips, ...marks];
  }

  /** Hears what a follower's callers read. */
  onTold({ type, payload }: FeedFrame): void {
    if (!this.#isLeading || (type !== FEED_FRAME.follow && type !== FEED_FRAME.touch)) return;
    for (const read of unpackReads(payload)) this.#follow(read, type === FEED_FRAME.follow);
  }

  onGranted(state: State, lease: WatermarkLease): void {
    this.#ended.delete(state);
    if (this.#followed.has(state)) this.#tellValue(state, this.#markOf(lease.watermark, state.commitment));
  }

  onTaken(state: State, lease: WatermarkLease): void {
    if (!this.#followed.has(state)) return;
    if (this.#ended.size === 0) queueMicrotask(() => this.#tellEnded());
    this.#ended.set(state, lease);
  }

  onProcessed(state: State, isRolledBack: boolean): void {
    if (!this.#followed.has(state)) return;
    if (isRolledBack) this.#tellOver(keyOf(state), 'rolled-back', state.slot);
    else this.#tellValue(state, undefined);
  }

  onLeft(state: State): void {
    this.#ended.delete(state);
    if (this.#followed.delete(state)) this.#tellOver(keyOf(state), 'left', 0);
  }

  onWatermark(watermark: Watermark): void {
    if (!this.#marks.has(watermark)) return;
    this.#tellEnded(); // before the slots that they don't cover
    const { type, payload } = this.#frameOfMark(watermark);
    this.#publish(type, payload);
    if (watermark.isLost) this.#marks.delete(watermark);
  }

  /** Keeps live what a follower reads, and tells its value if that is wanted, or if it was not kept before. */
  #follow(read: FollowedRead, isValueWanted: boolean): void {
    const { kind, address, commitment } = read;
    const { accounts, lists } = this.#options;
    const source = kind === 'account' ? accounts : lists;
    const state = source.keepFor(address, commitment, read);
    if (state === undefined || state.tipAtIneligible !== undefined) {
      this.#tellOver(read, 'left', 0);
      return;
    }
    const isKnown = this.#followed.has(state);
    this.#followed.add(state);
    if (isKnown && !isValueWanted) return;
    const { lease } = state;
    if (lease !== undefined && !lease.watermark.isLost)
      this.#tellValue(state, this.#markOf(lease.watermark, commitment));
    else if (isKnownProcessed(state)) this.#tellValue(state, undefined);
  }

  #tellValue(state: State, mark: number | undefined): void {
    const key = keyOf(state);
    const { slot } = state;
    if (!(state instanceof TokenListState))
      this.#publish(FEED_FRAME.held, packHeld({ key, slot, mark, value: state.json }));
    else if (state.list !== undefined) this.#publish(FEED_FRAME.list, packList({ key, slot, mark, value: state.list }));
  }

  #tellEnded(): void {
    for (const [state, lease] of this.#ended) {
      const isWrong = lease.validatedMs === Number.NEGATIVE_INFINITY;
      this.#tellOver(keyOf(state), isWrong ? 'wrong' : 'replaced', 0);
    }
    this.#ended.clear();
  }

  #tellOver(key: FollowedKey, reason: OverReason, slot: Slot): void {
    this.#publish(FEED_FRAME.over, packFeedOver(key, reason, slot));
  }

  /** Returns the number of a watermark, which is told first if it wasn't before. */
  #markOf(watermark: Watermark, commitment: Commitment): number {
    const known = this.#marks.get(watermark);
    if (known !== undefined) return known.id;
    const id = ++this.#lastMark;
    this.#marks.set(watermark, { id, commitment });
    const { type, payload } = this.#frameOfMark(watermark);
    this.#publish(type, payload);
    return id;
  }

  #frameOfMark(watermark: Watermark): FeedFrame {
    const { id = 0, commitment = 'processed' } = this.#marks.get(watermark) ?? {};
    const { slot, validatedMs, isLost } = watermark;
    const ageMs = Number.isFinite(validatedMs) ? this.#options.clock.monotonic() - validatedMs : 0;
    return { type: FEED_FRAME.mark, payload: packFeedMark({ id, commitment, slot, ageMs, isLost }) };
  }

  #publish(type: number, payload: Buffer): void {
    if (this.#isLeading) this.#options.publish([{ type, payload }]);
  }
}

const keyOf = (state: State): FollowedKey =>
  state instanceof TokenListState
    ? { kind: 'list', commitment: state.commitment, address: state.owner }
    : { kind: 'account', commitment: state.commitment, address: state.address };

const isKnownProcessed = (state: State): boolean =>
  !(state instanceof TokenListState) && state.commitment === 'processed' && state.isKnown;
