import type { Agreement } from '../../../shared/domain/agreement.ts';
import type { Commitment } from '../../../shared/domain/commitment.ts';
import type { GatewayError } from '../../../shared/domain/gateway-error.ts';
import { provenWithoutClock } from '../../../shared/domain/root-lead.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import { ownText } from '../../../shared/runtime/own-text.ts';
import { toTemplatedText } from '../../../shared/runtime/templated-text.ts';
import type { PreviousBalance } from '../../upstream/reads/account-batcher.ts';
import type { AccountHistory, FeedAccount, KeptAccount } from '../feed/kept-account.ts';
import { SUBSCRIBING, type SyncEvent, type SyncState } from '../initial-sync.ts';
import {
  adoptedSlotOf,
  adoptLease,
  advanceSync,
  attachLease,
  awaitedReadSlotOf,
  detachLease,
  grantLease,
  type LiveRules,
  type LiveState,
  priorityOf,
  restartSync,
  withdrawLease,
} from '../live-state.ts';
import { type ReadHeat, recordRead } from '../read-heat.ts';
import type { Watermark } from '../watermark.ts';
import type { WatermarkLease } from '../watermark-lease.ts';
import { type AccountJson, isSameAccount, lamportsOfKept, textOfKept } from './account-json.ts';
import type { SecondedLease } from './seconded-lease.ts';

/** `late`: the lease covered that slot already, without the change, so it was wrong. */
export type UpdateResult = 'ignored' | 'unchanged' | 'changed' | 'rolled-back' | 'late';

/** The reason why an account can't be kept live, and the tip at which it was found. */
export interface Ineligibility {
  readonly reason: GatewayError;
  readonly tip: Slot;
}

/** The state of one account at one commitment. Does no I/O: its session calls it, and reads what it needs. */
export class AccountState implements LiveState<AccountJson>, FeedAccount {
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
  history: FeedAccount['history'] = undefined;
  /** What the ring has of it from a WebSocket session or another gateway. */
  recorded: AccountHistory | undefined = undefined;
  /** The state at the other commitment that a stream of a feed keeps together with this one. */
  companion: AccountState | undefined = undefined;
  /** The lease by which readers date the state, where a session of another operator keeps it too. */
  seconded: SecondedLease | undefined;
  /** Undefined while the account is eligible to be kept live. */
  ineligibility: Ineligibility | undefined;
  #slot: Slot = -1;
  #heldUntil: Slot = -1;
  #provenFrom: Slot = 0;
  /**
   * Whether the session's node has notified the present state: it may not do so again. `unproven`: no later Clock update has
   * shown of which slot it is at most.
   */
  #notified: 'no' | 'unproven' | 'proven' = 'no';
  /** Whether an account was notified that differs, for a slot that is not newer: it may be newer all the same. */
  #isContested = false;
  /** Undefined while the account isn't known. */
  #kept: KeptAccount | undefined;
  #previous: PreviousBalance | undefined;

  constructor(address: string, commitment: Commitment, rules: LiveRules, { tipAtLastRead, rank }: ReadHeat) {
    this.address = address;
    this.commitment = commitment;
    this.rules = rules;
    this.tipAtLastRead = tipAtLastRead;
    this.rank = rank;
  }

  get priority(): number {
    return Math.max(priorityOf(this), priorityOf(this.companion ?? this));
  }

  get subscriptionCount(): number {
    return 1;
  }

  get tipAtIneligible(): Slot | undefined {
    return this.ineligibility?.tip;
  }

  get slot(): Slot {
    return this.#slot;
  }

  /** The first slot at which {@link json} is proven to hold: the node's newest root may have been ahead of {@link slot}. */
  get provenFrom(): Slot {
    return this.#provenFrom;
  }

  /** The last slot at which the state before is known to hold: changes between that and {@link slot} may be missing. */
  get heldUntil(): Slot {
    return this.#heldUntil;
  }

  get json(): AccountJson {
    return textOfKept(this.kept);
  }

  /** The account in the form in which it takes least memory. */
  get kept(): KeptAccount {
    return this.#kept ?? null;
  }

  get coveredSlot(): Slot | undefined {
    return this.lease?.slot;
  }

  /** The balance before the newest change, if it was live. */
  get previous(): PreviousBalance | undefined {
    return this.#previous;
  }

  get isKnown(): boolean {
    return this.#kept !== undefined;
  }

  /** Whether another operator vouches for the present state all the time. */
  get isSeconded(): boolean {
    return this.lease !== undefined && this.seconded?.first === this.lease && this.seconded.isShared;
  }

  /** The slot that the next read must have reached; undefined when no read is needed. */
  get pendingReadMinSlot(): Slot | undefined {
    return awaitedReadSlotOf(this);
  }

  /** Starts the initial sync on a session: what is open about the notifications of the one before ends with it. */
  attach(watermark: Watermark | undefined): void {
    this.#notified = 'no';
    this.#isContested = false;
    attachLease(this, watermark);
  }

  detach(): void {
    detachLease(this);
  }

  recordRead(tip: Slot): void {
    recordRead(this, tip, this.rules.halfLifeSlots);
  }

  onSyncEvent(event: SyncEvent): void {
    advanceSync(this, event);
    this.#grantLease();
  }

  /**
   * Applies an account that was read from the session's node. Another node of a pool may have answered: what may be older
   * than the notified state, though its slot is newer, replaces nothing. If it differs, the account is read again.
   */
  onRead(slot: Slot, json: AccountJson, provenFrom: Slot = provenWithoutClock(slot)): UpdateResult {
    const mayBeOlder = this.#notified !== 'no' && provenFrom < this.#provenFrom;
    if (mayBeOlder && !isSameAccount(json, this.json)) return 'ignored';
    const result = mayBeOlder ? 'ignored' : this.#applyJson(slot, json, provenFrom);
    this.onSyncEvent({ name: 'read', slot });
    return result;
  }

  /** Applies an account as it was from a slot on, in the form in which another keeps it too. `isSame`: it is the present one. */
  onVersion(slot: Slot, kept: KeptAccount, isSame: boolean): UpdateResult {
    const result = this.#apply(slot, kept, slot, isSame);
    this.onSyncEvent({ name: 'read', slot });
    return result;
  }

  /**
   * Applies a notification. At processed, one for an older slot, or of another account for the same, shows that the node has
   * changed forks.
   */
  onNotification(slot: Slot, json: AccountJson): UpdateResult {
    if (slot <= this.#slot) {
      const isSame = isSameAccount(json, this.json);
      if (this.commitment === 'processed' && (slot < this.#slot || !isSame)) return this.rollback();
      this.#isContested = !isSame;
    }
    const result = this.#applyJson(slot, json, provenWithoutClock(slot));
    if (result === 'ignored') return result;
    this.#notified = 'unproven';
    this.#isContested = false;
    return result;
  }

  /**
   * Applies what a Clock update proves about the notifications for slots before it. Returns false where one of them may
   * be newer than the state that it didn't replace: then the account must be read again.
   */
  onProof(provenFrom: Slot): boolean {
    if (this.#notified === 'unproven') {
      this.#notified = 'proven';
      this.#provenFrom = provenFrom;
      this.lease?.proveFrom(provenFrom);
    }
    const isCurrent = !this.#isContested || provenFrom <= this.#slot;
    this.#isContested = false;
    return isCurrent;
  }

  confirm(agreement: Agreement): void {
    if (this.lease !== undefined) this.lease.agreement = agreement;
  }

  resync(marginSlots: number): void {
    restartSync(this);
    this.onSyncEvent({ name: 'acknowledged', marginSlots });
  }

  adopt(slot: Slot, json: AccountJson, watermark: Watermark, heldUntil: Slot = -1): boolean {
    const isSame = this.isKnown && json === this.json;
    const { lease } = this;
    if (isSame && lease?.watermark === watermark) return false;
    const previous = isSame ? this.#previous : this.#presentUnderLease();
    this.#slot = adoptedSlotOf(this, slot, watermark, isSame);
    this.#heldUntil = heldUntil;
    if (!isSame) this.#kept = json && toTemplatedText(ownText(json)); // it may be a part of a frame's text
    withdrawLease(this);
    this.#previous = previous;
    this.#notified = 'no';
    this.#provenFrom = provenWithoutClock(this.#slot);
    adoptLease(this, watermark);
    lease?.revoke();
    return !isSame;
  }

  endAdopted(): void {
    withdrawLease(this)?.revoke();
  }

  rollback(): UpdateResult {
    if (!this.isKnown) return 'ignored';
    this.#kept = undefined;
    return 'rolled-back';
  }

  reset(): void {
    this.#slot = -1;
    this.#kept = undefined;
    this.#previous = undefined;
    withdrawLease(this);
  }

  invalidate(): void {
    const lease = withdrawLease(this);
    this.reset();
    lease?.invalidate();
  }

  #applyJson(slot: Slot, json: AccountJson, provenFrom: Slot): UpdateResult {
    const isSame = this.isKnown && json === this.json;
    return this.#apply(slot, isSame ? this.kept : json && toTemplatedText(json), provenFrom, isSame);
  }

  /** Replaces state and slot together by a newer state; ignores any other (I4). */
  #apply(slot: Slot, kept: KeptAccount, provenFrom: Slot, isSame: boolean): UpdateResult {
    if (slot <= this.#slot) return 'ignored';
    const isLate = this.lease !== undefined && slot <= this.lease.slot;
    const previous = isSame ? this.#previous : this.#presentUnderLease();
    if (!isSame) this.#heldUntil = this.lease?.watermark.completeBefore(slot) ?? -1;
    this.#slot = slot;
    this.#kept = kept;
    this.#notified = 'no';
    this.#provenFrom = provenFrom;
    if (isSame) {
      this.lease?.proveFrom(provenFrom);
      this.lease?.extend(slot);
      return 'unchanged';
    }
    const previousLease = withdrawLease(this);
    this.#previous = previous;
    this.#grantLease();
    previousLease?.revoke();
    return isLate ? 'late' : 'changed';
  }

  #presentUnderLease(): PreviousBalance | undefined {
    const { lease } = this;
    return lease && { sinceSlot: this.#slot, lamports: lamportsOfKept(this.kept), lease };
  }

  /** Grants a lease on what is known, except at processed: a fork may take back what no Clock update has denied. */
  #grantLease(): void {
    if (this.commitment !== 'processed' && this.isKnown) grantLease(this);
  }
}
