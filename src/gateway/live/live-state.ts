import type { Agreement } from '../../shared/domain/agreement.ts';
import type { Commitment } from '../../shared/domain/commitment.ts';
import type { Slot } from '../../shared/domain/slot.ts';
import { ownText } from '../../shared/runtime/own-text.ts';
import { type InitialSync, SUBSCRIBING, type SyncEvent, type SyncState } from './initial-sync.ts';
import type { Place } from './places.ts';
import { type ReadHeat, recordRead } from './read-heat.ts';
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
export const liveKeyOf = (address: string, commitment: Commitment): string =>
  commitment === 'confirmed' ? address : `${commitment}/${address}`;

/**
 * What is kept live of one address at one commitment, with its place, its reads and its lease: one object, since there may be very
 * many. Does no I/O: its session calls it, and reads what it needs. `V` is the value that gateways copy.
 */
export abstract class LiveState<V = unknown> implements Place, PoolItem {
  readonly address: string;
  readonly commitment: Commitment;
  readonly rules: LiveRules;
  tipAtLastRead: Slot | undefined;
  rank: number;
  subscriptions: Map<string, number> | undefined = undefined;
  reader: string | undefined = undefined;
  /** The slot of the present value; -1 for none. */
  slot: Slot = -1;
  syncState: SyncState = SUBSCRIBING;
  /** That of its session; undefined where it has none, or another gateway's. */
  watermark: Watermark | undefined = undefined;
  /** The lease that dates the present state beyond its own slot. */
  lease: WatermarkLease | undefined = undefined;
  /** The lease that ended with the session before, until the state is live again. */
  lostLease: WatermarkLease | undefined = undefined;

  constructor(address: string, commitment: Commitment, rules: LiveRules, { tipAtLastRead, rank }: ReadHeat) {
    this.address = address;
    this.commitment = commitment;
    this.rules = rules;
    this.tipAtLastRead = tipAtLastRead;
    this.rank = rank;
  }

  abstract get subscriptionCount(): number;
  /** The tip at which it became ineligible to be kept live; undefined while it is eligible. */
  abstract get tipAtIneligible(): Slot | undefined;
  /** The first slot at which the value is proven to hold; undefined where that is not known. */
  abstract get provenFrom(): Slot | undefined;
  /** Whether the value may have a lease once it is synced. */
  protected abstract get isLeasable(): boolean;

  /**
   * Adopts the value and the lease of another gateway, which holds from `slot` up to what its watermark covers. The
   * caller makes sure that this is no less than what is known here. Returns whether the value is another one.
   */
  abstract adopt(slot: Slot, value: V, watermark: Watermark, heldUntil?: Slot): boolean;

  /** Forgets the value, as the watermark that its lease relied on turned out to be wrong. */
  abstract reset(): void;

  /** The text that is kept as its key: in one piece of memory, or that of the address, which is kept anyway. */
  get key(): string {
    const key = liveKeyOf(this.address, this.commitment);
    return key === this.address ? key : ownText(key);
  }

  /** The rank by which a place is kept, and made live, before others: a subscriber can't wait, else the most read comes first. */
  get priority(): number {
    return this.subscriptions === undefined ? this.rank : Number.POSITIVE_INFINITY;
  }

  get isSynced(): boolean {
    return this.syncState.name === 'synced';
  }

  /** The slot that the next read must have reached; undefined when no read is needed. */
  get pendingReadMinSlot(): Slot | undefined {
    if (this.syncState.name === 'first-read') return 0;
    return this.syncState.name === 'second-read' ? this.syncState.minSlot : undefined;
  }

  /** The newest slot that the value was claimed for, also over the session before; -1 for none. */
  get claimedSlot(): Slot {
    return (this.lease ?? this.lostLease)?.slot ?? -1;
  }

  /** The newest slot at which the value is known to hold; undefined while it isn't kept live. */
  get coveredSlot(): Slot | undefined {
    return this.lease?.slot;
  }

  /** A lease of the session before was lost with it. Without a watermark one that is adopted is waited for. */
  attach(watermark: Watermark | undefined): void {
    this.watermark = watermark;
    this.syncState = SUBSCRIBING;
    this.lostLease = this.lease ?? this.lostLease;
    this.lease = undefined;
  }

  detach(): void {
    this.watermark = undefined;
    endLost(this);
    this.restartSync();
  }

  recordRead(tip: Slot): void {
    recordRead(this, tip, this.rules.halfLifeSlots);
  }

  onSyncEvent(event: SyncEvent): void {
    this.syncState = this.rules.initialSync(this.syncState, event);
    if (this.isLeasable) this.grantLease();
  }

  /** Records that operators gave the present value at a slot. */
  confirm(agreement: Agreement): void {
    if (this.lease !== undefined) this.lease.agreement = agreement;
  }

  /** Ends the lease that was adopted: a newer value will come. */
  endAdopted(): void {
    this.withdrawLease()?.revoke();
  }

  /** Forgets the value, which turned out to be wrong, and denies what its lease covered. */
  invalidate(): void {
    const lease = this.withdrawLease();
    this.reset();
    lease?.invalidate();
  }

  /** Starts the initial sync over, because of new subscriptions, and revokes the lease. */
  protected restartSync(): void {
    this.syncState = SUBSCRIBING;
    this.withdrawLease()?.revoke();
  }

  protected grantLease(): void {
    if (this.watermark === undefined || this.lease !== undefined || !this.isSynced) return;
    const lease = this.adoptLease(this.watermark);
    this.rules.observer?.onGranted(this, lease);
  }

  /** Adopts a lease of another gateway, which has done the initial sync. */
  protected adoptLease(watermark: Watermark): WatermarkLease {
    this.lease = new WatermarkLease(this.slot, watermark, this, this.provenFrom);
    endLost(this);
    return this.lease;
  }

  /** Removes the lease and returns it: the caller revokes it once the newer value can be read. */
  protected withdrawLease(): WatermarkLease | undefined {
    const { lease } = this;
    this.lease = undefined;
    if (lease !== undefined) this.rules.observer?.onEnded(this, lease);
    return lease;
  }
}

/** Revokes the lease of the session before: nobody makes it live again, or it is. */
function endLost(state: LiveState): void {
  const { lostLease } = state;
  state.lostLease = undefined;
  lostLease?.revoke();
}
