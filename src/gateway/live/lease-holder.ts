import type { Slot } from '../../shared/domain/slot.ts';
import { type InitialSync, SUBSCRIBING, type SyncEvent, type SyncState } from './initial-sync.ts';
import type { LeaseObserver } from './live-observer.ts';
import type { Place } from './places.ts';
import type { ReadHeat } from './read-heat.ts';
import type { Watermark } from './watermark.ts';
import { WatermarkLease } from './watermark-lease.ts';

export class LeaseHolder implements Place {
  readonly heat: ReadHeat;
  subscriptions: Place['subscriptions'] = undefined;
  reader: Place['reader'] = undefined;
  /** Notified of each lease; undefined where nobody copies them. */
  observer: LeaseObserver | undefined = undefined;
  readonly #initialSync: InitialSync;
  #syncState: SyncState = SUBSCRIBING;
  #watermark: Watermark | undefined;
  #lease: WatermarkLease | undefined;
  /** The lease that ended with the session before, until the state is live again. */
  #lostLease: WatermarkLease | undefined;

  constructor(initialSync: InitialSync, heat: ReadHeat) {
    this.#initialSync = initialSync;
    this.heat = heat;
  }

  /** The lease that dates the present state beyond its own slot. */
  get lease(): WatermarkLease | undefined {
    return this.#lease;
  }

  get isSubscribed(): boolean {
    return this.subscriptions !== undefined;
  }

  get isSynced(): boolean {
    return this.#syncState.name === 'synced';
  }

  /** The slot that the read which the initial sync waits for must have reached; undefined when it waits for none. */
  get awaitedReadSlot(): Slot | undefined {
    if (this.#syncState.name === 'first-read') return 0;
    return this.#syncState.name === 'second-read' ? this.#syncState.minSlot : undefined;
  }

  /** The newest slot that the state was claimed for, also over the session before; -1 for none. */
  get claimedSlot(): Slot {
    return (this.#lease ?? this.#lostLease)?.slot ?? -1;
  }

  /** A lease of the session before was lost with it. Without a watermark one that is adopted is waited for. */
  attach(watermark: Watermark | undefined): void {
    this.#watermark = watermark;
    this.#syncState = SUBSCRIBING;
    this.#lostLease = this.#lease ?? this.#lostLease;
    this.#lease = undefined;
  }

  detach(): void {
    this.#watermark = undefined;
    this.#endLost();
    this.restartSync();
  }

  /** Starts the initial sync over, because of new subscriptions, and revokes the lease. */
  restartSync(): void {
    this.#syncState = SUBSCRIBING;
    this.takeLease()?.revoke();
  }

  advanceSync(event: SyncEvent): void {
    this.#syncState = this.#initialSync(this.#syncState, event);
  }

  grantLease(slot: Slot, provenFrom?: Slot): void {
    if (this.#watermark === undefined || this.#lease !== undefined || !this.isSynced) return;
    this.#lease = new WatermarkLease(slot, this.#watermark, this.heat, provenFrom);
    this.#endLost();
    this.observer?.onGranted(this.#lease);
  }

  /** Adopts a lease of another gateway, which has done the initial sync. */
  adoptLease(slot: Slot, watermark: Watermark, provenFrom?: Slot): void {
    this.#lease = new WatermarkLease(slot, watermark, this.heat, provenFrom);
    this.#endLost();
  }

  /** The rank by which it is made live before others: a subscriber can't wait, else the most read comes first. */
  get rank(): number {
    return this.isSubscribed ? Number.POSITIVE_INFINITY : this.heat.rank;
  }

  /** Revokes the lease of the session before: nobody makes it live again, or it is. */
  #endLost(): void {
    const lost = this.#lostLease;
    this.#lostLease = undefined;
    lost?.revoke();
  }

  /** Removes the lease and returns it: the caller revokes it once the newer state can be read. */
  takeLease(): WatermarkLease | undefined {
    const lease = this.#lease;
    this.#lease = undefined;
    if (lease !== undefined) this.observer?.onEnded(lease);
    return lease;
  }
}
