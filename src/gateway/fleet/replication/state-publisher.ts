import type { Clock } from '../../../shared/domain/clock.ts';
import { COMMITMENTS } from '../../../shared/domain/commitment.ts';
import type { AccountState } from '../../live/accounts/account-state.ts';
import type { LiveAccountSource } from '../../live/accounts/live-account-source.ts';
import type { LiveObserver } from '../../live/live-state.ts';
import type { LiveTokenListSource } from '../../live/token-lists/live-token-list-source.ts';
import { TokenListState } from '../../live/token-lists/token-list-state.ts';
import type { Watermark } from '../../live/watermark.ts';
import type { WatermarkLease } from '../../live/watermark-lease.ts';
import type { RestingMesh } from '../../upstream/mesh/mesh.ts';
import type { Event, EventOf, StateKey, StateRead } from '../events.ts';
import { NumberedWatermarks, tipEvents } from './watermarks.ts';

export interface StatesOptions {
  readonly clock: Clock;
  readonly mesh: Pick<RestingMesh, 'tip' | 'onTip' | 'observeSlot'>;
  readonly accounts: LiveAccountSource['liveSet'];
  readonly lists: LiveTokenListSource['liveSet'];
  readonly publish: (event: Event) => void;
}

export type State = AccountState | TokenListState;

/**
 * Publishes what this gateway keeps live, while it leads: of what followers read, each state when a lease is granted on it,
 * the watermarks behind all that they cover, and the ends of leases. Readers at a follower count as readers here, so that
 * one choice of what is kept live serves all.
 */
export class StatePublisher implements LiveObserver<State> {
  readonly #options: StatesOptions;
  readonly #watermarks: NumberedWatermarks;
  #isLeading = false;
  readonly #followed = new Set<State>();
  /** The leases that have ended in this call, until it is known whether another one replaces them. */
  readonly #ended = new Map<State, WatermarkLease>();

  constructor(options: StatesOptions) {
    this.#options = options;
    const { clock, mesh, accounts, lists } = options;
    this.#watermarks = new NumberedWatermarks(clock, (event) => this.#publish(event));
    accounts.observeWith(this);
    lists.observeWith(this);
    for (const commitment of COMMITMENTS)
      mesh.onTip(commitment, (slot, parent) => this.#publish({ type: 'tip-advanced', commitment, slot, parent }));
  }

  get followed(): number {
    return this.#followed.size;
  }

  start(): void {
    this.#isLeading = true;
  }

  stop(): void {
    this.#isLeading = false;
    this.#followed.clear();
    this.#watermarks.clear();
    this.#ended.clear();
  }

  /** Returns what is needed to understand the events that follow. Values come as a follower reports reads. */
  snapshot(): readonly Event[] {
    this.#publishEnded();
    return [...tipEvents((commitment) => this.#options.mesh.tip(commitment)), ...this.#watermarks.snapshot()];
  }

  onStatesRead({ reads, needsValues }: EventOf<'states-read'>): void {
    if (this.#isLeading) for (const read of reads) this.#keep(read, needsValues);
  }

  onGranted(state: State, lease: WatermarkLease): void {
    this.#ended.delete(state);
    if (this.#followed.has(state)) this.#publishValue(state, lease.watermark);
  }

  onEnded(state: State, lease: WatermarkLease): void {
    if (!this.#followed.has(state)) return;
    if (this.#ended.size === 0) queueMicrotask(() => this.#publishEnded());
    this.#ended.set(state, lease);
  }

  onProcessed(state: State, isRolledBack: boolean): void {
    if (!this.#followed.has(state)) return;
    if (isRolledBack) this.#publishEnd(keyOf(state), 'rolled-back', state.slot);
    else this.#publishValue(state, undefined);
  }

  onLeft(state: State): void {
    this.#ended.delete(state);
    if (this.#followed.delete(state)) this.#publishEnd(keyOf(state), 'left');
  }

  onWatermark(watermark: Watermark): void {
    if (!this.#watermarks.has(watermark)) return;
    this.#publishEnded(); // before the slots that they don't cover
    this.#watermarks.publish(watermark);
    if (watermark.isLost) this.#watermarks.delete(watermark);
  }

  /** Keeps live what a follower reads, and publishes its value if that is needed, or if it was not kept before. */
  #keep({ key, ...heat }: StateRead, needsValue: boolean): void {
    const { accounts, lists } = this.#options;
    const source = key.kind === 'account' ? accounts : lists;
    const state = source.keepFor(key.address, key.commitment, heat);
    if (state === undefined || state.tipAtIneligible !== undefined) {
      this.#publishEnd(key, 'left');
      return;
    }
    const isKnown = this.#followed.has(state);
    this.#followed.add(state);
    if (isKnown && !needsValue) return;
    const { lease } = state;
    if (lease !== undefined && !lease.watermark.isLost) this.#publishValue(state, lease.watermark);
    else if (isKnownProcessed(state)) this.#publishValue(state, undefined);
  }

  #publishValue(state: State, datedBy: Watermark | undefined): void {
    const { slot } = state;
    const set = { key: keyOf(state), slot, watermark: datedBy && this.#watermarks.idOf(datedBy, state.commitment) };
    if (!(state instanceof TokenListState))
      this.#publish({ type: 'account-set', ...set, value: state.json, heldUntil: state.heldUntil });
    else if (state.list !== undefined) this.#publish({ type: 'list-set', ...set, value: state.list });
  }

  #publishEnded(): void {
    for (const [state, lease] of this.#ended) {
      const isWrong = lease.validatedMs === Number.NEGATIVE_INFINITY;
      this.#publishEnd(keyOf(state), isWrong ? 'wrong' : 'replaced');
    }
    this.#ended.clear();
  }

  #publishEnd(key: StateKey, reason: EventOf<'value-ended'>['reason'], slot = 0): void {
    this.#publish({ type: 'value-ended', key, reason, slot });
  }

  #publish(event: Event): void {
    if (this.#isLeading) this.#options.publish(event);
  }
}

export const keyOf = (state: State): StateKey => ({
  kind: state instanceof TokenListState ? 'list' : 'account',
  commitment: state.commitment,
  address: state.address,
});

const isKnownProcessed = (state: State): boolean =>
  !(state instanceof TokenListState) && state.commitment === 'processed' && state.isKnown;
