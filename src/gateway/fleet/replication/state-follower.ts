import { COMMITMENTS, type Commitment } from '../../../shared/domain/commitment.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import type { AccountJson } from '../../live/accounts/account-json.ts';
import type { AccountState } from '../../live/accounts/account-state.ts';
import type { FollowedSession } from '../../live/followed-session.ts';
import { liveKeyOf } from '../../live/live-state.ts';
import type { TokenListState } from '../../live/token-lists/token-list-state.ts';
import { Watermark } from '../../live/watermark.ts';
import type { TokenList } from '../../tokens/token-list.ts';
import type { Event, EventOf, ValueSet } from '../events.ts';
import { keyOf, type State, type StatesOptions } from './state-publisher.ts';

export interface StateFollowerOptions extends StatesOptions {
  /** Called after a watermark has advanced, and all leases that rely on it. */
  readonly onLeasesAdvanced: (watermark: Watermark) => void;
}

/** Applies the events of the leader, in their order, to what this gateway keeps live by them. */
export class StateFollower {
  readonly accounts: FollowedSession<AccountState, AccountJson>;
  readonly lists: FollowedSession<TokenListState, TokenList>;
  readonly #options: StateFollowerOptions;
  readonly #watermarks = new Map<number, { readonly commitment: Commitment; readonly watermark: Watermark }>();
  /** The newest processed slot of the leader. */
  tip: Slot | undefined;
  isJoined = false;

  constructor(options: StateFollowerOptions) {
    this.#options = options;
    const { mesh, accounts, lists } = options;
    const report = (states: readonly State[], needsValues: boolean): void => this.#reportReads(states, needsValues);
    this.accounts = accounts.createFollowedSession({ report });
    this.lists = lists.createFollowedSession({ report });
    for (const at of COMMITMENTS) {
      mesh.onTip(at, () => {
        for (const { commitment, watermark } of this.#watermarks.values()) if (commitment === at) watermark.checkLag();
      });
    }
  }

  get followed(): number {
    return this.accounts.size + this.lists.size;
  }

  join(snapshot: readonly Event[]): void {
    this.lose();
    this.isJoined = true;
    for (const event of snapshot) this.apply(event);
  }

  /** Ends all leases in this call: nothing is known any more (I6). */
  lose(): void {
    this.isJoined = false;
    for (const { watermark } of this.#watermarks.values()) watermark.markLost();
    this.#watermarks.clear();
    this.tip = undefined;
  }

  apply(event: Event): void {
    if (event.type === 'tip-advanced') this.#applyTip(event);
    else if (event.type === 'watermark-advanced') this.#applyWatermark(event);
    else if (event.type === 'account-set') this.#applyValue(this.accounts, event);
    else if (event.type === 'list-set') this.#applyValue(this.lists, event);
    else if (event.type === 'value-ended')
      (event.key.kind === 'account' ? this.accounts : this.lists).onEnded(
        liveKeyOf(event.key),
        event.reason,
        event.slot,
      );
  }

  #applyTip({ commitment, slot, parent }: EventOf<'tip-advanced'>): void {
    if (commitment === 'processed') this.tip = slot;
    this.#options.mesh.observeSlot(commitment, slot, parent);
  }

  #applyWatermark({ id, commitment = 'processed', slot, ageMs, state }: EventOf<'watermark-advanced'>): void {
    const { mesh, clock, onLeasesAdvanced } = this.#options;
    const tip = (): Slot | undefined => mesh.tip(commitment);
    const watermark = this.#watermarks.get(id)?.watermark ?? new Watermark(tip, () => this.isJoined);
    if (state === 'lost' || state === 'renewing') {
      this.#watermarks.delete(id);
      watermark.markLost();
      this.#onWatermark(watermark);
      return;
    }
    this.#watermarks.set(id, { commitment, watermark });
    if (slot < 0 || slot > (tip() ?? -1)) return; // it isn't accepted yet that the cluster has reached it
    watermark.advance(slot, clock.monotonic() - ageMs);
    this.#onWatermark(watermark);
    onLeasesAdvanced(watermark);
  }

  #onWatermark(watermark: Watermark): void {
    this.accounts.onWatermark(watermark);
    this.lists.onWatermark(watermark);
  }

  #applyValue<V>(
    session: Pick<FollowedSession<never, V>, 'onValue' | 'onEnded'>,
    { key, slot, watermark: id, value, heldUntil }: ValueSet<V> & { readonly heldUntil?: Slot },
  ): void {
    const watermark = id === undefined ? undefined : this.#watermarks.get(id)?.watermark;
    if (id === undefined || watermark !== undefined) session.onValue(liveKeyOf(key), slot, value, watermark, heldUntil);
    else session.onEnded(liveKeyOf(key));
  }

  #reportReads(states: readonly State[], needsValues: boolean): void {
    if (!this.isJoined || states.length === 0) return;
    const readOf = (state: State) => ({ key: keyOf(state), rank: state.rank, tipAtLastRead: state.tipAtLastRead ?? 0 });
    this.#options.publish({ type: 'states-read', reads: states.map(readOf), needsValues });
  }
}
