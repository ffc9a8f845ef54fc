import type { Slot } from '../../shared/domain/slot.ts';
import { type InitialSync, SUBSCRIBING, type SyncEvent, type SyncState } from './initial-sync.ts';
import type { Place } from './places.ts';
import type { Watermark } from './watermark.ts';
import { WatermarkLease } from './watermark-lease.ts';

interface LeaseObserver<T = LeaseHolder> {
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

/** What a state keeps of its place, its reads and its lease: in its own object, since there may be very many. */
export interface LeaseHolder extends Place {
  readonly rules: LiveRules;
  syncState: SyncState;
  /** That of its session; undefined where it has none, or another gateway's. */
  watermark: Watermark | undefined;
  /** The lease that dates the present state beyond its own slot. */
  lease: WatermarkLease | undefined;
  /** The lease that ended with the session before, until the state is live again. */
  lostLease: WatermarkLease | undefined;
  recordRead(tip: Slot): void;
}

/** The rank by which a place is kept, and made live, before others: a subscriber can't wait, else the most read comes first. */
export const priorityOf = ({ subscriptions, rank }: Pick<Place, 'subscriptions' | 'rank'>): number =>
  subscriptions === undefined ? rank : Number.POSITIVE_INFINITY;

export const isSynced = ({ syncState }: LeaseHolder): boolean => syncState.name === 'synced';

/** The slot that the read which the initial sync waits for must have reached; undefined when it waits for none. */
export function awaitedReadSlotOf({ syncState }: LeaseHolder): Slot | undefined {
  if (syncState.name === 'first-read') return 0;
  return syncState.name === 'second-read' ? syncState.minSlot : undefined;
}

/** The newest slot that the state was claimed for, also over the session before; -1 for none. */
export const claimedSlotOf = ({ lease, lostLease }: LeaseHolder): Slot => (lease ?? lostLease)?.slot ?? -1;

/** A lease of the session before was lost with it. Without a watermark one that is adopted is waited for. */
export function attachLease(holder: LeaseHolder, watermark: Watermark | undefined): void {
  holder.watermark = watermark;
  holder.syncState = SUBSCRIBING;
  holder.lostLease = holder.lease ?? holder.lostLease;
  holder.lease = undefined;
}

export function detachLease(holder: LeaseHolder): void {
  holder.watermark = undefined;
  endLost(holder);
  restartSync(holder);
}

/** Starts the initial sync over, because of new subscriptions, and revokes the lease. */
export function restartSync(holder: LeaseHolder): void {
  holder.syncState = SUBSCRIBING;
  withdrawLease(holder)?.revoke();
}

export function advanceSync(holder: LeaseHolder, event: SyncEvent): void {
  holder.syncState = holder.rules.initialSync(holder.syncState, event);
}

export function grantLease(holder: LeaseHolder, slot: Slot, provenFrom?: Slot): void {
  if (holder.watermark === undefined || holder.lease !== undefined || !isSynced(holder)) return;
  holder.lease = new WatermarkLease(slot, holder.watermark, holder, provenFrom);
  endLost(holder);
  holder.rules.observer?.onGranted(holder, holder.lease);
}

/** Adopts a lease of another gateway, which has done the initial sync. */
export function adoptLease(holder: LeaseHolder, slot: Slot, watermark: Watermark, provenFrom?: Slot): void {
  holder.lease = new WatermarkLease(slot, watermark, holder, provenFrom);
  endLost(holder);
}

/** Removes the lease and returns it: the caller revokes it once the newer state can be read. */
export function withdrawLease(holder: LeaseHolder): WatermarkLease | undefined {
  const { lease } = holder;
  holder.lease = undefined;
  if (lease !== undefined) holder.rules.observer?.onEnded(holder, lease);
  return lease;
}

/** Revokes the lease of the session before: nobody makes it live again, or it is. */
function endLost(holder: LeaseHolder): void {
  const { lostLease } = holder;
  holder.lostLease = undefined;
  lostLease?.revoke();
}
