import type { Slot } from '../../../shared/domain/slot.ts';
import { type AccountHistory, isOfFeed } from '../feed/kept-account.ts';
import type { VersionRing } from '../feed/version-ring.ts';
import type { Watermark } from '../watermark.ts';
import type { AccountState } from './account-state.ts';

/** Keeps in the ring what an account is that a WebSocket session or another gateway keeps live, for as long as it has a lease. */
export class AccountRecorder {
  readonly #ring: VersionRing;
  readonly #account: AccountState;
  #history: AccountHistory | undefined = undefined;

  constructor(ring: VersionRing, account: AccountState) {
    this.#ring = ring;
    this.#account = account;
  }

  /** Records the present state, or that the account is not known. Called whenever either may have changed. */
  update(): void {
    const { lease, commitment, slot, provenFrom, heldUntil, kept: value } = this.#account;
    if (commitment === 'processed') return;
    if (lease === undefined) {
      this.end();
      return;
    }
    if (this.#history?.isKept !== true || this.#history.coverage !== lease.watermark) this.end();
    const first = commitment === 'finalized' ? Math.max(slot, provenFrom) : slot; // a root may be newer than the slot it names
    const history = this.#history;
    if (history === undefined) this.#start(first, slot, lease.watermark);
    else if (first > history.newest.slot && value !== history.newest.value)
      this.#ring.add(history, { slot: first, value }, heldUntil);
  }

  /** Ends what is recorded: the account is not known beyond. */
  end(): void {
    this.#history?.end();
    this.#history = undefined;
  }

  /** Ends what is recorded, which turned out to be wrong. */
  deny(): void {
    this.#history?.deny();
    this.#history = undefined;
  }

  /** A feed, or a session at confirmed, may know more of the account already: one at finalized dates no version of a block. */
  #start(first: Slot, slot: Slot, watermark: Watermark): void {
    const account = this.#account;
    const known = this.#ring.get(account.address);
    const isDated = known !== undefined && (isOfFeed(known) || known.member.commitment === 'confirmed');
    const isAsGood = isDated || account.commitment === 'finalized';
    if (known?.isOpen === true && isAsGood && known.at(slot) !== undefined) return;
    if (this.#ring.accepts(account.priority))
      this.#history = this.#ring.start(account, watermark, { slot: first, value: account.kept });
  }
}
