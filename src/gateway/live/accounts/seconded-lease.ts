import type { Agreement } from '../../../shared/domain/agreement.ts';
import type { Commitment } from '../../../shared/domain/commitment.ts';
import type { Lease, LeaseListener, LeaseSource, LeaseState } from '../../../shared/domain/lease.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import type { ReadHeat } from '../read-heat.ts';
import { MAX_LAG_SLOTS } from '../watermark.ts';
import type { WatermarkLease } from '../watermark-lease.ts';
import { type AccountJson, isSameAccount } from './account-json.ts';

/** The two operators of both sessions. */
const VOICES = 2;

/** An account as one session keeps it. */
export interface SecondedAccount extends Readonly<ReadHeat> {
  readonly address: string;
  readonly commitment: Commitment;
  readonly slot: Slot;
  readonly provenFrom: Slot;
  readonly json: AccountJson;
  readonly lease: WatermarkLease | undefined;
  recordRead(tip: Slot): void;
}

export interface Seconding {
  /** Returns the same account as a session with another operator keeps it; undefined where it has no place there. */
  secondOf(account: SecondedAccount): SecondedAccount | undefined;
  areOfTwoOperators(nodeId: string | undefined, other: string | undefined): boolean;
}

/**
 * The lease of an account that sessions with two operators keep. While both have the same account, the older of both
 * watermarks dates it, and two operators vouch for it there. Otherwise it is the lease of the first session alone.
 */
export class SecondedLease implements Lease {
  readonly first: WatermarkLease;
  readonly #account: SecondedAccount;
  readonly #seconding: Seconding;
  #second: SecondedAccount | undefined;
  /** The lease of the second session whose account was compared last, and what came of it. */
  #compared: WatermarkLease | undefined;
  #isSame = false;
  /** The newest slot that was given: no later one is older. */
  #given: Slot = -1;
  #agreement: Agreement | undefined;

  constructor(first: WatermarkLease, account: SecondedAccount, seconding: Seconding) {
    this.first = first;
    this.#account = account;
    this.#seconding = seconding;
    this.#second = seconding.secondOf(account);
  }

  get state(): LeaseState {
    return this.first.state;
  }

  get slot(): Slot {
    const { slot } = this.first;
    const shared = this.#sharedSlot();
    const isNear = shared !== undefined && slot - shared <= MAX_LAG_SLOTS;
    this.#given = Math.max(this.#given, isNear ? shared : slot);
    return this.#given;
  }

  get isShared(): boolean {
    return this.#sharedSlot() !== undefined;
  }

  get lagSlots(): number {
    return this.first.lagSlots;
  }

  get validatedMs(): number {
    return this.first.validatedMs;
  }

  get provenFrom(): Slot | undefined {
    return this.first.provenFrom;
  }

  get agreement(): Agreement | undefined {
    const { slot } = this;
    if (this.#sharedSlot() !== slot) return this.first.agreement;
    if (this.#agreement?.slot !== slot) this.#agreement = { slot, agreed: VOICES, read: VOICES, needed: VOICES };
    return this.#agreement;
  }

  get sources(): readonly LeaseSource[] {
    const second = this.#secondLease();
    return second === undefined ? this.first.sources : [...this.first.sources, ...second.sources];
  }

  recordRead(tip: Slot): void {
    this.first.recordRead(tip);
    this.#second?.recordRead(tip);
    if (this.#second?.lease === undefined) this.#second = this.#seconding.secondOf(this.#account);
  }

  onRevoked(key: string, listener: LeaseListener): void {
    this.first.onRevoked(key, listener);
  }

  offRevoked(key: string): void {
    this.first.offRevoked(key);
  }

  /** Returns the newest slot at which both sessions have the account; undefined where they don't have the same. */
  #sharedSlot(): Slot | undefined {
    const second = this.#secondLease();
    if (second === undefined || this.#second === undefined) return undefined;
    const slot = Math.min(this.first.slot, second.slot);
    return slot >= Math.max(this.#account.slot, this.#second.slot, this.#second.provenFrom) ? slot : undefined;
  }

  /** Returns the lease of the second session while it has the same account; an account never changes under its lease. */
  #secondLease(): WatermarkLease | undefined {
    const lease = this.#second?.lease;
    if (lease?.state !== 'active' || this.#second === undefined) return undefined;
    if (this.#compared !== lease) {
      this.#compared = lease;
      this.#isSame =
        this.#account.lease === this.first &&
        this.#seconding.areOfTwoOperators(this.first.watermark.nodeId, lease.watermark.nodeId) &&
        isSameAccount(this.#account.json, this.#second.json);
    }
    return this.#isSame ? lease : undefined;
  }
}
