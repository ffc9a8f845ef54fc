import type { Commitment } from '../../domain/commitment.ts';
import type { Slot } from '../../domain/slot.ts';
import type { TokenList } from '../../tokens/token-list.ts';
import type { BoundedWait } from '../bounded-wait.ts';
import type { InitialSync, SyncEvent } from '../initial-sync.ts';
import { LeaseHolder } from '../lease-holder.ts';
import type { WatermarkLease } from '../watermark-lease.ts';

/** The subscriptions that report new token accounts of an owner: one for each of the two token programs. */
const PROGRAM_SUBSCRIPTIONS = 2;

/**
 * The state of one owner's token accounts at one commitment. A notification only causes another read, so the list is
 * always one that a node returned, whole and at one slot. Does no I/O: its session calls it, and reads what it needs.
 */
export class TokenListState {
  readonly owner: string;
  readonly commitment: Commitment;
  readonly holder: LeaseHolder;
  /** The read that is under way, or the last one: readers wait for it. */
  pendingRead: BoundedWait | undefined;
  #slot: Slot = -1;
  #list: TokenList | undefined;
  /** The newest slot at which the list is known to have changed. */
  #changedSlot: Slot = -1;
  #subscriptionCount = PROGRAM_SUBSCRIPTIONS;
  #tipAtIneligible: Slot | undefined;

  constructor(owner: string, commitment: Commitment, initialSync: InitialSync, tipAtLastRead: Slot) {
    this.owner = owner;
    this.commitment = commitment;
    this.holder = new LeaseHolder(initialSync, tipAtLastRead);
  }

  /** The slot of {@link list}; -1 while nothing is known. */
  get slot(): Slot {
    return this.#slot;
  }

  get list(): TokenList | undefined {
    return this.#list;
  }

  /** The number of subscriptions that the list needs, as far as is known. */
  get subscriptionCount(): number {
    return this.#subscriptionCount;
  }

  /** The tip at which the list became ineligible to be kept live; undefined while it is eligible. */
  get tipAtIneligible(): Slot | undefined {
    return this.#tipAtIneligible;
  }

  /** The lease that dates {@link list} beyond {@link slot}. */
  get lease(): WatermarkLease | undefined {
    return this.holder.lease;
  }

  /** The slot that the next read must have reached; undefined when no read is needed. */
  get pendingReadMinSlot(): Slot | undefined {
    const { awaitedReadSlot, isSynced, lease } = this.holder;
    if (awaitedReadSlot === undefined && !(isSynced && lease === undefined)) return undefined;
    return Math.max(0, awaitedReadSlot ?? 0, this.#slot, this.#changedSlot);
  }

  /** Restarts the initial sync because new subscriptions were added; the lease stops advancing until they are synced. */
  restartSync(subscriptionCount: number): void {
    this.#subscriptionCount = subscriptionCount;
    this.holder.restartSync();
  }

  /** Forgets the list: it can't be kept live. */
  markIneligible(tip: Slot): void {
    this.#tipAtIneligible = tip;
    this.#list = undefined;
  }

  onSyncEvent(event: SyncEvent): void {
    this.holder.advanceSync(event);
    if (this.#list !== undefined && this.#changedSlot <= this.#slot) this.holder.grantLease(this.#slot);
  }

  /** Applies a whole list that was read from the session's node, once all that it names is subscribed to. */
  onRead(slot: Slot, list: TokenList): void {
    if (slot < Math.max(this.#slot, this.#changedSlot)) return;
    this.#slot = slot;
    this.#list = list;
    this.onSyncEvent({ name: 'read', slot });
  }

  /** Records a change. Returns false when the lease covered that slot already, without the change: it was wrong. */
  onNotification(slot: Slot, requestRead: () => void): boolean {
    if (slot <= this.#slot) return true; // the list was read since
    const isLate = this.lease !== undefined && slot <= this.lease.slot;
    this.#changedSlot = Math.max(this.#changedSlot, slot);
    const previousLease = this.holder.takeLease();
    requestRead(); // before the lease's listeners, so that they find the read of the new list under way
    previousLease?.revoke();
    return !isLate;
  }

  /** Forgets the list, which turned out to be wrong. */
  reset(): void {
    this.#slot = -1;
    this.#list = undefined;
    this.holder.takeLease();
  }
}
