import type { Commitment } from '../../domain/commitment.ts';
import type { Slot } from '../../domain/slot.ts';
import type { TokenList } from '../../tokens/token-list.ts';
import type { BoundedWait } from '../bounded-wait.ts';
import { type InitialSync, SUBSCRIBING, type SyncEvent, type SyncState } from '../initial-sync.ts';
import type { Watermark } from '../watermark.ts';
import { WatermarkLease } from '../watermark-lease.ts';

/** Token accounts of this owner come and go, as far as the two programs tell: one subscription each. */
const PROGRAM_SUBSCRIPTIONS = 2;

/**
 * What is known of one owner's token accounts at one commitment. News only says that they are to be read again: so the
 * list is always one that a node gave, whole and at one slot. Does no I/O: it is told, and says what it wants to know.
 */
export class TokenListState {
  readonly owner: string;
  readonly commitment: Commitment;
  /** The tip at its last reader. */
  tipAtLastRead: Slot;
  /** The latest reading, which whoever asks may wait for. */
  pendingRead: BoundedWait | undefined;
  readonly #initialSync: InitialSync;
  #syncState: SyncState = SUBSCRIBING;
  #slot: Slot = -1;
  #list: TokenList | undefined;
  /** The newest slot at which something is known to have changed. */
  #changedSlot: Slot = -1;
  #watermark: Watermark | undefined;
  #lease: WatermarkLease | undefined;
  #subscriptionCount = PROGRAM_SUBSCRIPTIONS;
  #tipAtIneligible: Slot | undefined;

  constructor(owner: string, commitment: Commitment, initialSync: InitialSync, tipAtLastRead: Slot) {
    this.owner = owner;
    this.commitment = commitment;
    this.tipAtLastRead = tipAtLastRead;
    this.#initialSync = initialSync;
  }

  /** The slot of {@link list}; -1 while nothing is known. */
  get slot(): Slot {
    return this.#slot;
  }

  get list(): TokenList | undefined {
    return this.#list;
  }

  /** How many subscriptions it takes, as far as is known. */
  get subscriptionCount(): number {
    return this.#subscriptionCount;
  }

  get isSynced(): boolean {
    return this.#syncState.name === 'synced';
  }

  /** The tip at which it was found that it can't be kept live; undefined while it may be. */
  get tipAtIneligible(): Slot | undefined {
    return this.#tipAtIneligible;
  }

  /** From which slot on it wants to be read now; undefined when it doesn't. */
  get pendingReadMinSlot(): Slot | undefined {
    const knownSlot = Math.max(0, this.#slot, this.#changedSlot);
    if (this.#syncState.name === 'first-read') return knownSlot;
    if (this.#syncState.name === 'second-read') return Math.max(this.#syncState.minSlot, knownSlot);
    return this.isSynced && this.#lease === undefined ? knownSlot : undefined;
  }

  /** What vouches for {@link list} beyond {@link slot}. */
  get lease(): WatermarkLease | undefined {
    return this.#lease;
  }

  /** Begins anew, on another connection. What is known stays known. */
  attach(watermark: Watermark): void {
    this.#watermark = watermark;
    this.#syncState = SUBSCRIBING;
    this.#lease = undefined; // lost with the connection before: it has ended by itself
  }

  /** Ends the connection's word for it; what is known stays known. */
  detach(): void {
    this.#watermark = undefined;
    this.restartSync();
  }

  /** It takes more subscriptions, whose silence means nothing as yet: what is claimed stands still until then. */
  restartSync(subscriptionCount = this.#subscriptionCount): void {
    this.#subscriptionCount = subscriptionCount;
    this.#syncState = SUBSCRIBING;
    const previousLease = this.#lease;
    this.#lease = undefined;
    previousLease?.revoke();
  }

  /** It can't be kept live. */
  markIneligible(tip: Slot): void {
    this.#tipAtIneligible = tip;
    this.#list = undefined;
  }

  onSyncEvent(event: SyncEvent): void {
    this.#syncState = this.#initialSync(this.#syncState, event);
    if (this.isSynced && this.#changedSlot <= this.#slot) this.#grantLease();
  }

  /** A whole list, read from the connection's node. All that it names is subscribed to. */
  onRead(slot: Slot, list: TokenList): void {
    if (slot < Math.max(this.#slot, this.#changedSlot)) return;
    this.#slot = slot;
    this.#list = list;
    this.onSyncEvent({ name: 'read', slot });
  }

  /** Something has changed. Returns false when that slot was claimed already without it, so a claim was false. */
  onNotification(slot: Slot, requestRead: () => void): boolean {
    if (slot <= this.#slot) return true; // it was read since
    const isLate = this.#lease !== undefined && slot <= this.#lease.slot;
    this.#changedSlot = Math.max(this.#changedSlot, slot);
    const previousLease = this.#lease;
    this.#lease = undefined;
    requestRead(); // before anybody learns of the news, so that who wants the new list finds it on its way
    previousLease?.revoke();
    return !isLate;
  }

  /** What was known turned out to be wrong. */
  reset(): void {
    this.#slot = -1;
    this.#list = undefined;
    this.#lease = undefined;
  }

  #grantLease(): void {
    if (this.#watermark === undefined || this.#lease !== undefined || this.#list === undefined) return;
    this.#lease = new WatermarkLease(this.#slot, this.#watermark, (tip) => {
      this.tipAtLastRead = tip;
    });
  }
}
