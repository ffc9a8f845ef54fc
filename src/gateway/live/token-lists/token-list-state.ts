import { isDeepStrictEqual } from 'node:util';
import type { Slot } from '../../../shared/domain/slot.ts';
import type { ListedTokenAccount } from '../../tokens/listed-token-account.ts';
import { isSameList, type TokenList, withChanges } from '../../tokens/token-list.ts';
import type { BoundedWait } from '../bounded-wait.ts';
import { LiveState } from '../live-state.ts';
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
 * them have arrived. Its address is the owner.
 */
export class TokenListState extends LiveState<TokenList> {
  /** The read that is under way, or the last one: readers wait for it. */
  pendingRead: BoundedWait | undefined;
  /** False when the session has no capacity for the accounts that name the mints. */
  hasIdentities = true;
  list: TokenList | undefined;
  /**
   * The list as it was read last: it names all accounts and mints that a change can be applied to, those too that have left the list
   * since, and what is known of the mints.
   */
  readList: TokenList | undefined;
  /** As far as is known. */
  subscriptionCount = PROGRAM_SUBSCRIPTIONS;
  tipAtIneligible: Slot | undefined;
  /** The newest slot up to which notified changes were applied, without a read. */
  #appliedSlot: Slot = -1;
  /** The newest slot at which the list is known to have changed in a way that only a read can show. */
  #changedSlot: Slot = -1;
  /** The newest slot of a notified change that the list may lack, since it may be of a newer root. */
  #contestedSlot: Slot | undefined;
  #changes: MemberChange[] = [];
  /** The lease that ended with the first of them. */
  #heldLease: WatermarkLease | undefined;

  get provenFrom(): undefined {
    return undefined;
  }

  /** The lease of {@link list}: the active one, or the one that has just ended while its changes aren't complete. */
  get latestLease(): WatermarkLease | undefined {
    if (this.lease?.state === 'active') return this.lease;
    return this.#heldLease !== undefined && this.#heldLease.lagSlots <= MAX_LAG_SLOTS ? this.#heldLease : undefined;
  }

  /** The newest slot at which {@link list} is known to hold; undefined while it isn't kept live. */
  override get coveredSlot(): Slot | undefined {
    return (this.lease ?? this.#heldLease)?.slot;
  }

  protected get isLeasable(): boolean {
    return this.isCurrent && this.#changes.length === 0;
  }

  /** True when the list is live, but for changes that are not applied yet. */
  get isCurrent(): boolean {
    return this.isSynced && this.list !== undefined && this.#changedSlot <= this.slot;
  }

  override get pendingReadMinSlot(): Slot | undefined {
    const awaitedSlot = super.pendingReadMinSlot;
    if (awaitedSlot === undefined && (!this.isSynced || this.isCurrent)) return undefined;
    return Math.max(0, awaitedSlot ?? 0, this.slot, this.#changedSlot);
  }

  override attach(watermark: Watermark | undefined): void {
    this.abandonChanges();
    this.#appliedSlot = -1;
    this.#contestedSlot = undefined;
    super.attach(watermark);
  }

  override detach(): void {
    this.abandonChanges();
    super.detach();
  }

  /** Restarts the initial sync because new subscriptions were added; the lease stops advancing until they are synced. */
  onSubscribed(subscriptionCount: number): void {
    this.subscriptionCount = subscriptionCount;
    this.#heldLease = undefined;
    this.restartSync();
  }

  /** Leaves the changes that are not applied yet to the next read. */
  abandonChanges(): void {
    for (const { slot } of this.#changes) this.#contestAt(slot);
    this.#changedSlot = Math.max(this.#changedSlot, ...this.#changes.map(({ slot }) => slot));
    this.#changes = [];
    this.#heldLease = undefined;
  }

  markIneligible(tip: Slot): void {
    this.tipAtIneligible = tip;
    this.list = undefined;
    this.readList = undefined;
  }

  onRead(slot: Slot, list: TokenList): void {
    if (slot < Math.max(this.slot, this.#changedSlot)) return;
    this.slot = slot;
    this.list = this.hasIdentities ? list : { ...list, identities: undefined };
    this.readList = this.list;
    for (const change of this.#changes) if (change.slot <= slot) this.#contest(change);
    this.#changes = this.#changes.filter((change) => change.slot > slot);
    this.onSyncEvent({ name: 'read', slot });
  }

  /** Only a read can show it. False if the lease covered that slot already, without the change: it was wrong. */
  onNotification(slot: Slot, requestRead: () => void): boolean {
    if (slot <= this.slot) {
      this.#contestAt(slot);
      return slot > this.#appliedSlot; // the list was read since, or that slot was complete
    }
    const isLate = this.#isCovered(slot);
    this.#contestAt(slot);
    this.#changedSlot = Math.max(this.#changedSlot, slot);
    this.#heldLease = undefined;
    const previousLease = this.withdrawLease();
    requestRead(); // before the lease's listeners, so that they find the read of the new list under way
    previousLease?.revoke();
    return !isLate;
  }

  /** Records a change that will be applied. Returns false when it comes too late, as {@link onNotification} does. */
  onAccountChange(change: MemberChange): boolean {
    const { slot } = change;
    if (slot <= this.slot) {
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
    if (provenFrom <= this.slot) return;
    this.onNotification(provenFrom, requestRead);
    this.#contestedSlot = undefined; // a list of that slot shows all of them
  }

  /** Applies the changes up to a slot, at which all of them have arrived. */
  applyChanges(watermarkSlot: Slot): void {
    if (!this.isCurrent) return;
    const complete = this.#changes.filter(({ slot }) => slot <= watermarkSlot);
    const newest = complete.at(-1);
    if (newest === undefined || this.list === undefined || this.readList === undefined) return;
    this.#changes = this.#changes.slice(complete.length);
    this.list = withChanges(
      this.list,
      new Map(complete.map(({ address, account }) => [address, account])),
      this.readList,
    );
    this.slot = newest.slot;
    this.#appliedSlot = newest.slot;
    this.grantLease();
    this.#heldLease = undefined;
    if (this.#changes.length > 0) this.#holdBack();
  }

  adopt(slot: Slot, list: TokenList, watermark: Watermark): boolean {
    const isSame = this.list !== undefined && isSameList(this.list, list);
    const { lease } = this;
    if (isSame && lease?.watermark === watermark) return false;
    const sinceSlot = isSame || slot > this.slot ? slot : Math.max(slot, watermark.slot);
    this.slot = Math.max(this.slot, sinceSlot);
    this.list = list;
    this.readList = list;
    this.#changes = [];
    this.withdrawLease();
    this.adoptLease(watermark);
    this.#heldLease = undefined;
    lease?.revoke();
    return !isSame;
  }

  /** Readers wait for the newer list. */
  override endAdopted(): void {
    this.#holdBack();
  }

  reset(): void {
    this.abandonChanges();
    this.slot = -1;
    this.list = undefined;
    this.readList = undefined;
    this.withdrawLease();
  }

  override invalidate(): void {
    const held = this.#heldLease;
    super.invalidate();
    held?.invalidate();
  }

  /** Ends the lease at the slot that it covers: a later one has a change that may not be the only one. */
  #holdBack(): void {
    const lease = this.withdrawLease();
    if (lease === undefined) return;
    this.#heldLease = lease;
    lease.revoke();
  }

  /** Records a change that the list was read after, unless the list shows it. */
  #contest({ slot, address, account }: MemberChange): void {
    const listed = this.list?.accounts.find((each) => each.address === address);
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
