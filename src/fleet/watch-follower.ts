import type { Clock } from '../domain/clock.ts';
import { COMMITMENTS, type Commitment } from '../domain/commitment.ts';
import type { Slot } from '../domain/slot.ts';
import type { AccountJson } from '../live/accounts/account-json.ts';
import type { AccountState } from '../live/accounts/account-state.ts';
import type { LiveAccountSource } from '../live/accounts/live-account-source.ts';
import type { FollowedSession } from '../live/followed-session.ts';
import type { LeaseHolder } from '../live/lease-holder.ts';
import type { LiveTokenListSource } from '../live/token-lists/live-token-list-source.ts';
import type { TokenListState } from '../live/token-lists/token-list-state.ts';
import { Watermark } from '../live/watermark.ts';
import type { TokenList } from '../tokens/token-list.ts';
import type { RestingMesh } from '../upstream/mesh/mesh.ts';
import {
  FEED_FRAME,
  type FeedValue,
  type FollowedKey,
  type FollowedRead,
  packReads,
  unpackFeedMark,
  unpackFeedOver,
  unpackFeedTip,
  unpackHeld,
  unpackList,
} from './feed-frames.ts';
import type { FeedFrame } from './redis/feed.ts';

export interface WatchFollowerOptions {
  readonly clock: Clock;
  readonly mesh: Pick<RestingMesh, 'tip' | 'onTip' | 'observeSlot'>;
  readonly accounts: Pick<LiveAccountSource, 'createFollowedSession'>;
  readonly lists: Pick<LiveTokenListSource, 'createFollowedSession'>;
  readonly tell: (frame: FeedFrame) => void;
  /** Called after a watermark has advanced, and all leases that rely on it. */
  readonly onLeasesAdvanced: (watermark: Watermark) => void;
}

interface Mark {
  readonly commitment: Commitment;
  readonly watermark: Watermark;
}

/** Applies the frames of the leader, in their order, to what this gateway keeps live by them. */
export class WatchFollower {
  readonly accounts: FollowedSession<AccountState, AccountJson>;
  readonly lists: FollowedSession<TokenListState, TokenList>;
  readonly #options: WatchFollowerOptions;
  readonly #marks = new Map<number, Mark>();
  readonly #tips = new Map<Commitment, Slot>();
  #isJoined = false;

  constructor(options: WatchFollowerOptions) {
    this.#options = options;
    const { mesh, accounts, lists } = options;
    this.accounts = accounts.createFollowedSession({
      follow: (states) => this.#tell(FEED_FRAME.follow, states.map(readOfAccount)),
      touch: (states) => this.#tell(FEED_FRAME.touch, states.map(readOfAccount)),
    });
    this.lists = lists.createFollowedSession({
      follow: (states) => this.#tell(FEED_FRAME.follow, states.map(readOfList)),
      touch: (states) => this.#tell(FEED_FRAME.touch, states.map(readOfList)),
    });
    for (const at of COMMITMENTS) {
      mesh.onTip(at, () => {
        for (const { commitment, watermark } of this.#marks.values()) if (commitment === at) watermark.checkLag();
      });
    }
  }

  /** The number of states that are kept live by the frames. */
  get followed(): number {
    return this.accounts.size + this.lists.size;
  }

  get isJoined(): boolean {
    return this.#isJoined;
  }

  /** The leader's newest slot; undefined while nothing is known. */
  get tip(): Slot | undefined {
    return this.#tips.get('processed');
  }

  join(snapshot: readonly FeedFrame[]): void {
    this.lose();
    this.#isJoined = true;
    for (const frame of snapshot) this.apply(frame);
  }

  /** Ends all leases at once: nothing is heard any more (I6). */
  lose(): void {
    this.#isJoined = false;
    for (const { watermark } of this.#marks.values()) watermark.markLost();
    this.#marks.clear();
    this.#tips.clear();
  }

  /** Applies a frame; skips types that it doesn't know. */
  apply({ type, payload }: FeedFrame): void {
    if (type === FEED_FRAME.tip) this.#applyTip(payload);
    else if (type === FEED_FRAME.mark) this.#applyMark(payload);
    else if (type === FEED_FRAME.held) this.#applyValue(unpackHeld(payload), this.accounts);
    else if (type === FEED_FRAME.list) this.#applyValue(unpackList(payload), this.lists);
    else if (type === FEED_FRAME.over) this.#applyOver(payload);
  }

  #applyTip(payload: Buffer): void {
    const { commitment, slot } = unpackFeedTip(payload);
    this.#tips.set(commitment, slot);
    this.#options.mesh.observeSlot(commitment, slot);
  }

  #applyMark(payload: Buffer): void {
    const { id, commitment, slot, ageMs, isLost } = unpackFeedMark(payload);
    const { mesh, clock, onLeasesAdvanced } = this.#options;
    const mark = this.#marks.get(id) ?? {
      commitment,
      watermark: new Watermark(
        () => mesh.tip(commitment),
        () => this.#isJoined,
      ),
    };
    const { watermark } = mark;
    if (isLost) {
      watermark.markLost();
      this.#marks.delete(id);
    } else {
      this.#marks.set(id, mark);
      if (slot < 0 || slot > (mesh.tip(commitment) ?? -1)) return; // it isn't accepted yet that the cluster has reached it
      watermark.advance(slot, clock.monotonic() - ageMs);
    }
    this.accounts.onWatermark(watermark);
    this.lists.onWatermark(watermark);
    if (!isLost) onLeasesAdvanced(watermark);
  }

  #applyValue<V>({ key, slot, mark, value }: FeedValue<V>, session: Told<V>): void {
    const watermark = mark === undefined ? undefined : this.#marks.get(mark)?.watermark;
    if (mark === undefined || watermark !== undefined) session.onTold(textOf(key), slot, value, watermark);
    else session.onEnded(textOf(key));
  }

  #applyOver(payload: Buffer): void {
    const { key, reason, slot } = unpackFeedOver(payload);
    const session = key.kind === 'account' ? this.accounts : this.lists;
    const text = textOf(key);
    if (reason === 'replaced') session.onEnded(text);
    else if (reason === 'wrong') session.onWrong(text);
    else if (reason === 'rolled-back') session.onRolledBack(text, slot);
    else session.onLeft(text);
  }

  #tell(type: number, reads: readonly FollowedRead[]): void {
    if (this.#isJoined && reads.length > 0) this.#options.tell({ type, payload: packReads(reads) });
  }
}

type Told<V> = {
  onTold(key: string, slot: Slot, value: V, watermark: Watermark | undefined): void;
  onEnded(key: string): void;
};

/** Returns the name under which a live set knows it. */
const textOf = ({ commitment, address }: FollowedKey): string => `${commitment}/${address}`;

const readOfAccount = ({ address, commitment, holder }: AccountState): FollowedRead => ({
  kind: 'account',
  address,
  commitment,
  ...heatOf(holder),
});

const readOfList = ({ owner, commitment, holder }: TokenListState): FollowedRead => ({
  kind: 'list',
  address: owner,
  commitment,
  ...heatOf(holder),
});

const heatOf = ({ heat }: LeaseHolder): Pick<FollowedRead, 'rank' | 'tipAtLastRead'> => ({
  rank: heat.rank,
  tipAtLastRead: heat.tipAtLastRead ?? 0,
});
