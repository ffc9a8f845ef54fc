import type { Agreement } from '../../shared/domain/agreement.ts';
import type { Commitment } from '../../shared/domain/commitment.ts';
import type { Slot } from '../../shared/domain/slot.ts';
import { ownText } from '../../shared/runtime/own-text.ts';
import { type InitialSync, SUBSCRIBING, type SyncEvent, type SyncState } from './initial-sync.ts';
import type { Place } from './places.ts';
import type { PoolItem } from './session-pool.ts';
import type { Watermark } from './watermark.ts';
import { WatermarkLease } from './watermark-lease.ts';

interface LeaseObserver<T = LiveState> {
  onGranted(state: T, lease: WatermarkLease): void;
  /** A lease has ended. The one on the state that replaces it may follow in the same call. */
  onEnded(state: T, lease: WatermarkLease): void;
}

/** Is notified of all that a live set keeps, such as other gateways, which copy it. */
export interface LiveObserver<T> extends LeaseObserver<T> {
  /** A state at processed, which has no lease, was replaced or rolled back. */
  onProcessed(state: T, isRolledBack: boolean): void;
  onLeft(state: T): void;
  /** A watermark has advanced, behind all that it covers, or is lost. */
  onWatermark(watermark: Watermark): void;
}

export interface LiveRules {
  readonly initialSync: InitialSync;
  /** The slots after which a read counts half. */
  readonly halfLifeSlots: number;
  /** Is notified of each lease; undefined where nobody copies them. */
  observer: LeaseObserver | undefined;
}

/** Returns the key of what is kept live. At the commitment that is read most it is the address itself. */
export const liveKeyOf = ({ address, commitment }: Pick<LiveState, 'address' | 'commitment'>): string =>
  commitment === 'confirmed' ? address : `${commitment}/${address}`;

/**
 * What is kept live of one address at one commitment: what it keeps of its place, its reads and its lease is in its own
 * object, since there may be very many. `V` is the value that gateways copy.
 */
export interface LiveState<V = unknown> extends Place, PoolItem {
  readonly address: string;
  readonly commitment: Commitment;
  readonly rules: LiveRules;
  /** The rank by which it is kept, and made live, before others. */
  readonly priority: number;
  /** The slot of the present value; -1 for none. */
  readonly slot: Slot;
  /** The first slot at which the value is proven to hold; undefined where that is not known. */
  readonly provenFrom: Slot | undefined;
  /** The newest slot at which the value is known to hold; undefined while it isn't kept live. */
  readonly coveredSlot: Slot | undefined;
  /** The tip at which it became ineligible to be kept live; undefined while it is eligible. */
  readonly tipAtIneligible: Slot | undefined;
  syncState: SyncState;
  /** That of its session; undefined where it has none, or another gateway's. */
  watermark: Watermark | undefined;
  /** The lease that dates the present value beyond its own slot. */
  lease: WatermarkLease | undefined;
  /** The lease that ended with the session before, until the value is live again. */
  lostLease: WatermarkLease | undefined;
  recordRead(tip: Slot): void;
  attach(watermark: Watermark | undefined): void;
  detach(): void;
  /**
   * Adopts the value and the lease of another gateway, which holds from `slot` up to what its watermark covers. The
   * caller makes sure that this is no less than what is known here. Returns whether the value is another one.
   */
  adopt(slot: Slot, value: V, watermark: Watermark, heldUntil?: Slot): boolean;
  /** Ends the lease that was adopted: a newer value will come. */
  endAdopted(): void;
  /** Forgets the value, as the watermark that its lease relied on turned out to be wrong. */
  reset(): void;
  /** Forgets the value, which turned out to be wrong, and denies what its lease covered. */
  invalidate(): void;
  /** Records that operators gave the present value at a slot. */
  confirm(agreement: Agreement): void;
}

/** A subscriber can't wait; else the most read comes first. */
export const priorityOf = ({ subscriptions, rank }: Pick<Place, 'subscriptions' | 'rank'>): number =>
  subscriptions === undefined ? rank : Number.POSITIVE_INFINITY;

/** Returns the text that is kept as a key: in one piece of memory, or that of the address, which is kept anyway. */
export const ownKeyOf = (state: Pick<LiveState, 'address' | 'commitment'>): string =>
  state.commitment === 'confirmed' ? state.address : ownText(liveKeyOf(state));

export const isSynced = ({ syncState }: LiveState): boolean => syncState.name === 'synced';

/** The slot that the read which the initial sync waits for must have reached; undefined when it waits for none. */
export function awaitedReadSlotOf({ syncState }: LiveState): Slot | undefined {
  if (syncState.name === 'first-read') return 0;
  return syncState.name === 'second-read' ? syncState.minSlot : undefined;
}

/** The newest slot that the value was claimed for, also over the session before; -1 for none. */
export const claimedSlotOf = ({ lease, lostLease }: LiveState): Slot => (lease ?? lostLease)?.slot ?? -1;

/** A lease of the session before was lost with it. Without a watermark one that is adopted is waited for. */
export function attachLease(state: LiveState, watermark: Watermark | undefined): void {
  state.watermark = watermark;
  state.syncState = SUBSCRIBING;
  state.lostLease = state.lease ?? state.lostLease;
  state.lease = undefined;
}

export function detachLease(state: LiveState): void {
  state.watermark = undefined;
  endLost(state);
  restartSync(state);
}

/** Starts the initial sync over, because of new subscriptions, and revokes the lease. */
export function restartSync(state: LiveState): void {
  state.syncState = SUBSCRIBING;
  withdrawLease(state)?.revoke();
}

export function advanceSync(state: LiveState, event: SyncEvent): void {
  state.syncState = state.rules.initialSync(state.syncState, event);
}

export function grantLease(state: LiveState): void {
  if (state.watermark === undefined || state.lease !== undefined || !isSynced(state)) return;
  const lease = adoptLease(state, state.watermark);
  state.rules.observer?.onGranted(state, lease);
}

/**
 * Returns the slot from which on a state holds that another gateway publishes. Where the same slots had another state here, one
 * of both is wrong: the newest is believed.
 */
export function adoptedSlotOf(state: LiveState, slot: Slot, watermark: Watermark, isSame: boolean): Slot {
  const isBelieved = isSame || slot > state.slot;
  return Math.max(state.slot, slot, isBelieved ? slot : watermark.slot);
}

/** Adopts a lease of another gateway, which has done the initial sync. */
export function adoptLease(state: LiveState, watermark: Watermark): WatermarkLease {
  const lease = new WatermarkLease(state.slot, watermark, state, state.provenFrom);
  state.lease = lease;
  endLost(state);
  return lease;
}

/** Removes the lease and returns it: the caller revokes it once the newer value can be read. */
export function withdrawLease(state: LiveState): WatermarkLease | undefined {
  const { lease } = state;
  state.lease = undefined;
  if (lease !== undefined) state.rules.observer?.onEnded(state, lease);
  return lease;
}

/** Revokes the lease of the session before: nobody makes it live again, or it is. */
function endLost(state: LiveState): void {
  const { lostLease } = state;
  state.lostLease = undefined;
  lostLease?.revoke();
}
