import { isDeepStrictEqual } from 'node:util';
import type { Agreement } from '../../../shared/domain/agreement.ts';
import type { Commitment } from '../../../shared/domain/commitment.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import type { ListedTokenAccount } from '../../tokens/listed-token-account.ts';
import { isSameList, type TokenList, withChanges } from '../../tokens/token-list.ts';
import type { BoundedWait } from '../bounded-wait.ts';
import { SUBSCRIBING, type SyncEvent, type SyncState } from '../initial-sync.ts';
import {
  adoptedSlotOf,
  adoptLease,
  advanceSync,
  attachLease,
  awaitedReadSlotOf,
  detachLease,
  grantLease,
  isSynced,
  type LiveRules,
  type LiveState,
  priorityOf,
  restartSync,
  withdrawLease,
} from '../live-state.ts';
import { type ReadHeat, recordRead } from '../read-heat.ts';
import { MAX_LAG_SLOTS, type Watermark } from '../watermark.ts';
import type { WatermarkLease } from '../watermark-lease.ts';

/** The subscriptions that report new token accounts of an owner: one for each of the two token programs. */
const PROGRAM_SUBSCRIPTIONS = 2;

/** The most changes that wait for their Clock update, so that a node can't fill the memory: beyond it, the list is read. */
const MAX_CHANGES = 1000;

export interface MemberChange {
  readonly slot: Slot;
  readonly address: string;
  /** Undefined when it is no token account of the owner any more. */
  readonly account: ListedTokenAccount | undefined;
}

/**
 * The state of one owner's token accounts at one commitment. It is a list that a node returned, whole and at one slot,
 * with the changes that were notified since; those of a slot are applied together, once a Clock update shows that all of
 * them have arrived. Does no I/O: its session calls it, and reads what it needs.
 */
export class TokenListState implements LiveState<TokenList> {
  /** The owner. */
  readonly address: string;
  readonly commitment: Commitment;
  readonly rules: LiveRules;
  tipAtLastRead: Slot | undefined;
  rank: number;
  subscriptions: LiveState['subscriptions'] = undefined;
  reader: string | undefined = undefined;
  syncState: SyncState = SUBSCRIBING;
  watermark: Watermark | undefined = undefined;
  lease: WatermarkLease | undefined = undefined;
  lostLease: WatermarkLease | undefined = undefined;
  /** A list has no proof that its node's newest root was not ahead. */
  readonly provenFrom = undefined;
  /** The read that is under way, or the last one: readers wait for it. */
  pendingRead: BoundedWait | undefined;
  /** False when the session has no capacity for the accounts that name the mints. */
  hasIdentities = true;
  #slot: Slot = -1;
  #list: TokenList | undefined;
  /** The list as it was read last: it has the accounts that have left it since, too, and what is known of their mints. */
  #readList: TokenList | undefined;
  /** The newest slot up to which notified changes were applied, without a read. */
  #appliedSlot: Slot = -1;
  /** The newest slot at which the list is known to have changed in a way that only a read can show. */
  #changedSlot: Slot = -1;
  /** The newest slot of a notified change that the list may lack, since it may be of a newer root. */
  #contestedSlot: Slot | undefined;
  #changes: MemberChange[] = [];
  /** The lease that ended with the first of them. */
  #heldLease: WatermarkLease | undefined;
  #subscriptionCount = PROGRAM_SUBSCRIPTIONS;
  #tipAtIneligible: Slot | undefined;

  constructor(address: string, commitment: Commitment, rules: LiveRules, { tipAtLastRead, rank }: ReadHeat) {
    this.address = address;
    this.commitment = commitment;
    this.rules = rules;
    this.tipAtLastRead = tipAtLastRead;
    this.rank = rank;
  }

  get priority(): number {
    return priorityOf(this);
  }

  get slot(): Slot {
    return this.#slot;
  }

  get list(): TokenList | undefined {
    return this.#list;
  }

  /** The list as it was read last: it names all accounts and mints that a change can be applied to. */
  get readList(): TokenList | undefined {
    return this.#readList;
  }

  /** The number of subscriptions that the list needs, as far as is known. */
  get subscriptionCount(): number {
    return this.#subscriptionCount;
  }

  get tipAtIneligible(): Slot | undefined {
    return this.#tipAtIneligible;
  }

  /** The lease of {@link list}: the active one, or the one that has just ended while its changes aren't complete. */
  get latestLease(): WatermarkLease | undefined {
    if (this.lease?.state === 'active') return this.lease;
    return this.#heldLease !== undefined && this.#heldLease.lagSlots <= MAX_LAG_SLOTS ? this.#heldLease : undefined;
  }

  /** The newest slot at which {@link list} is known to hold; undefined while it isn't kept live. */
  get coveredSlot(): Slot | undefined {
    return (this.lease ?? this.#heldLease)?.slot;
  }

  /** True when the list is live, but for changes that are not applied yet. */
  get isCurrent(): boolean {
    return isSynced(this) && this.#list !== undefined && this.#changedSlot <= this.#slot;
  }

  /** The slot that the next read must have reached; undefined when no read is needed. */
  get pendingReadMinSlot(): Slot | undefined {
    const awaitedSlot = awaitedReadSlotOf(this);
    if (awaitedSlot === undefined && (!isSynced(this) || this.isCurrent)) return undefined;
    return Math.max(0, awaitedSlot ?? 0, this.#slot, this.#changedSlot);
  }

  attach(watermark: Watermark | undefined): void {
    this.abandonChanges();
    this.#appliedSlot = -1;
    this.#contestedSlot = undefined;
    attachLease(this, watermark);
  }

  detach(): void {
    this.abandonChanges();
    detachLease(this);
  }

  /** Restarts the initial sync because new subscriptions were added; the lease stops advancing until they are synced. */
  restartSync(subscriptionCount: number): void {
    this.#subscriptionCount = subscriptionCount;
    this.#heldLease = undefined;
    restartSync(this);
  }

  /** Leaves the changes that are not applied yet to the next read. */
  abandonChanges(): void {
    for (const { slot } of this.#changes) this.#contestAt(slot);
    this.#changedSlot = Math.max(this.#changedSlot, ...this.#changes.map(({ slot }) => slot));
    this.#changes = [];
    this.#heldLease = undefined;
  }

  markIneligible(tip: Slot): void {
    this.#tipAtIneligible = tip;
    this.#list = undefined;
    this.#readList = undefined;
  }

  recordRead(tip: Slot): void {
    recordRead(this, tip, this.rules.halfLifeSlots);
  }

  onSyncEvent(event: SyncEvent): void {
    advanceSync(this, event);
    if (this.isCurrent && this.#changes.length === 0) grantLease(this);
  }

  onRead(slot: Slot, list: TokenList): void {
    if (slot < Math.max(this.#slot, this.#changedSlot)) return;
    this.#slot = slot;
    this.#list = this.hasIdentities ? list : { ...list, identities: undefined };
    this.#readList = this.#list;
    for (const change of this.#changes) if (change.slot <= slot) this.#contest(change);
    this.#changes = this.#changes.filter((change) => change.slot > slot);
    this.onSyncEvent({ name: 'read', slot });
  }

  /** Only a read can show it. False if the lease covered that slot already, without the change: it was wrong. */
  onNotification(slot: Slot, requestRead: () => void): boolean {
    if (slot <= this.#slot) {
      this.#contestAt(slot);
      return slot > this.#appliedSlot; // the list was read since, or that slot was complete
    }
    const isLate = this.#isCovered(slot);
    this.#contestAt(slot);
    this.#changedSlot = Math.max(this.#changedSlot, slot);
    this.#heldLease = undefined;
    const previousLease = withdrawLease(this);
    requestRead(); // before the lease's listeners, so that they find the read of the new list under way
    previousLease?.revoke();
    return !isLate;
  }

  /** Records a change that will be applied. Returns false when it comes too late, as {@link onNotification} does. */
  onAccountChange(change: MemberChange): boolean {
    const { slot } = change;
    if (slot <= this.#slot) {
      this.#contest(change);
      return slot > this.#appliedSlot; // the list was read since, or that slot was complete
    }
    const isLate = this.#isCovered(slot);
    this.#changes.splice(this.#changes.findLastIndex((other) => other.slot <= slot) + 1, 0, change);
    if (this.#changes.length > MAX_CHANGES) this.abandonChanges();
    this.#holdBack();
    return !isLate;
  }

  /**
   * Applies what a Clock update proves about the changes for slots before it. One that the list doesn't show, and that may
   * be newer than the list, is a change that only a read can show.
   */
  onProof(clockSlot: Slot, provenFrom: Slot, requestRead: () => void): void {
    if (this.#contestedSlot === undefined || this.#contestedSlot >= clockSlot) return;
    this.#contestedSlot = undefined;
    if (provenFrom <= this.#slot) return;
    this.onNotification(provenFrom, requestRead);
    this.#contestedSlot = undefined; // a list of that slot shows all of them
  }

  /** Applies the changes up to a slot, at which all of them have arrived. */
  applyChanges(watermarkSlot: Slot): void {
    if (!this.isCurrent) return;
    const complete = this.#changes.filter(({ slot }) => slot <= watermarkSlot);
    const newest = complete.at(-1);
    if (newest === undefined || this.#list === undefined || this.#readList === undefined) return;
    this.#changes = this.#changes.slice(complete.length);
    this.#list = withChanges(
      this.#list,
      new Map(complete.map(({ address, account }) => [address, account])),
      this.#readList,
    );
    this.#slot = newest.slot;
    this.#appliedSlot = newest.slot;
    grantLease(this);
    this.#heldLease = undefined;
    if (this.#changes.length > 0) this.#holdBack();
  }

  adopt(slot: Slot, list: TokenList, watermark: Watermark): boolean {
    const isSame = this.#list !== undefined && isSameList(this.#list, list);
    const { lease } = this;
    if (isSame && lease?.watermark === watermark) return false;
    this.#slot = adoptedSlotOf(this, slot, watermark, isSame);
    this.#list = list;
    this.#readList = list;
    this.#changes = [];
    withdrawLease(this);
    adoptLease(this, watermark);
    this.#heldLease = undefined;
    lease?.revoke();
    return !isSame;
  }

  /** Readers wait for the newer list. */
  endAdopted(): void {
    this.#holdBack();
  }

  reset(): void {
    this.abandonChanges();
    this.#slot = -1;
    this.#list = undefined;
    this.#readList = undefined;
    withdrawLease(this);
  }

  invalidate(): void {
    const leases = [withdrawLease(this), this.#heldLease];
    this.reset();
    for (const lease of leases) lease?.invalidate();
  }

  confirm(agreement: Agreement): void {
    if (this.lease !== undefined) this.lease.agreement = agreement;
  }

  /** Ends the lease at the slot that it covers: a later one has a change that may not be the only one. */
  #holdBack(): void {
    const lease = withdrawLease(this);
    if (lease === undefined) return;
    this.#heldLease = lease;
    lease.revoke();
  }

  /** Records a change that the list was read after, unless the list shows it. */
  #contest({ slot, address, account }: MemberChange): void {
    const listed = this.#list?.accounts.find((each) => each.address === address);
    if (!isDeepStrictEqual(listed, account)) this.#contestAt(slot);
  }

  /** Records that a finalized list which was read at this slot may lack a change: a later Clock update shows whether. */
  #contestAt(slot: Slot): void {
    if (this.commitment === 'finalized') this.#contestedSlot = Math.max(this.#contestedSlot ?? 0, slot);
  }

  #isCovered(slot: Slot): boolean {
    return this.coveredSlot !== undefined && slot <= this.coveredSlot;
  }
}
