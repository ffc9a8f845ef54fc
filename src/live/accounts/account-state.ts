import type { Commitment } from '../../domain/commitment.ts';
import type { GatewayError } from '../../domain/gateway-error.ts';
import type { Slot } from '../../domain/slot.ts';
import { type InitialSync, SUBSCRIBING, type SyncEvent, type SyncState } from '../initial-sync.ts';
import type { Watermark } from '../watermark.ts';
import { WatermarkLease } from '../watermark-lease.ts';

/** An account's state as its JSON in one-byte characters, which the collector need not track; null when absent. */
export type AccountJson = string | null;

/** What came of news: `late` is news of a slot that was already claimed without it, so a claim was false. */
export type UpdateResult = 'ignored' | 'unchanged' | 'changed' | 'rolled-back' | 'late';

/** Why an account can't be kept live, and the tip at which that was found. */
export interface Ineligibility {
  readonly reason: GatewayError;
  readonly tip: Slot;
}

/** What is known of one account at one commitment. Does no I/O: it is told, and says what it wants to know. */
export class AccountState {
  readonly address: string;
  readonly commitment: Commitment;
  readonly subscriptionCount = 1;
  /** The tip at its last reader. */
  tipAtLastRead: Slot;
  /** Undefined while it may be kept live. */
  ineligibility: Ineligibility | undefined;
  readonly #initialSync: InitialSync;
  #syncState: SyncState = SUBSCRIBING;
  #slot: Slot = -1;
  #json: AccountJson = null;
  #isKnown = false;
  #watermark: Watermark | undefined;
  #lease: WatermarkLease | undefined;

  constructor(address: string, commitment: Commitment, initialSync: InitialSync, tipAtLastRead: Slot) {
    this.address = address;
    this.commitment = commitment;
    this.tipAtLastRead = tipAtLastRead;
    this.#initialSync = initialSync;
  }

  get tipAtIneligible(): Slot | undefined {
    return this.ineligibility?.tip;
  }

  /** The slot of {@link json}; -1 while nothing is known. */
  get slot(): Slot {
    return this.#slot;
  }

  get json(): AccountJson {
    return this.#json;
  }

  /** False before the first news, and after what was known was taken back. */
  get isKnown(): boolean {
    return this.#isKnown;
  }

  get isSynced(): boolean {
    return this.#syncState.name === 'synced';
  }

  /** From which slot on it wants to be read now; undefined when it doesn't. */
  get pendingReadMinSlot(): Slot | undefined {
    if (this.#syncState.name === 'first-read') return 0;
    return this.#syncState.name === 'second-read' ? this.#syncState.minSlot : undefined;
  }

  /** What vouches for {@link json} beyond {@link slot}. */
  get lease(): WatermarkLease | undefined {
    return this.#lease;
  }

  /** Begins anew, on another connection. What is known stays known. */
  attach(watermark: Watermark): void {
    this.#watermark = watermark;
    this.#syncState = SUBSCRIBING;
    this.#lease = undefined;
  }

  /** Ends the connection's word for it; what is known stays known. */
  detach(): void {
    this.#lease?.revoke();
    this.#lease = undefined;
    this.#watermark = undefined;
    this.#syncState = SUBSCRIBING;
  }

  onSyncEvent(event: SyncEvent): void {
    this.#syncState = this.#initialSync(this.#syncState, event);
    if (this.#syncState.name === 'synced') this.#grantLease();
  }

  /** A reading on the same connection's node. */
  onRead(slot: Slot, json: AccountJson): UpdateResult {
    const result = this.#apply(slot, json);
    this.onSyncEvent({ name: 'read', slot });
    return result;
  }

  /** A notification. At processed, one of a slot that is no newer says that the node has changed forks. */
  onNotification(slot: Slot, json: AccountJson): UpdateResult {
    const isOlder = slot < this.#slot || (slot === this.#slot && json !== this.#json);
    return isOlder && this.commitment === 'processed' ? this.rollback() : this.#apply(slot, json);
  }

  /** The node has left the fork that was told of. */
  rollback(): UpdateResult {
    if (!this.#isKnown) return 'ignored';
    this.#isKnown = false;
    return 'rolled-back';
  }

  /** What was known turned out to be wrong. */
  reset(): void {
    this.#slot = -1;
    this.#isKnown = false;
    this.#lease = undefined;
  }

  /** What is newer replaces state and slot together; all else is left alone. */
  #apply(slot: Slot, json: AccountJson): UpdateResult {
    if (slot <= this.#slot) return 'ignored';
    const isLate = this.#lease !== undefined && slot <= this.#lease.slot;
    const isSame = this.#isKnown && json === this.#json;
    this.#slot = slot;
    this.#json = json;
    this.#isKnown = true;
    if (isSame) {
      this.#lease?.extend(slot);
      return 'unchanged';
    }
    const previousLease = this.#lease;
    this.#lease = undefined;
    if (this.isSynced) this.#grantLease();
    previousLease?.revoke();
    return isLate ? 'late' : 'changed';
  }

  #grantLease(): void {
    // At processed a fork may take back what no beacon has denied: nothing is claimed beyond its own slot.
    if (this.#watermark === undefined || this.#lease !== undefined || this.commitment === 'processed') return;
    this.#lease = new WatermarkLease(this.#slot, this.#watermark, (tip) => {
      this.tipAtLastRead = tip;
    });
  }
}
