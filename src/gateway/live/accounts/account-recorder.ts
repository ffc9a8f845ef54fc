import type { Slot } from '../../../shared/domain/slot.ts';
import type { RingMember } from '../feed/history.ts';
import type { AccountHistory } from '../feed/kept-account.ts';
import type { VersionRing } from '../feed/version-ring.ts';
import type { Watermark } from '../watermark.ts';
import type { AccountState } from './account-state.ts';

/** Keeps in the ring what an account is that a WebSocket session or another gateway keeps live, for as long as it has a lease. */
export class AccountRecorder implements RingMember {
  readonly #ring: VersionRing;
  readonly #account: AccountState;
  #history: AccountHistory | undefined = undefined;

  constructor(ring: VersionRing, account: AccountState) {
    this.#ring = ring;
    this.#account = account;
  }

  get address(): string {
    return this.#account.address;
  }

  get heat(): RingMember['heat'] {
    return this.#account.holder;
  }

  /** Records the present state, or that the account is not known. Called whenever either may have changed. */
  update(): void {
    const { lease, commitment, slot, provenFrom, kept: value } = this.#account;
    if (commitment === 'processed') return;
    if (lease === undefined) {
      this.end();
      return;
    }
    if (this.#history?.coverage !== lease.watermark) this.end();
    const first = commitment === 'finalized' ? Math.max(slot, provenFrom) : slot; // a root may be newer than the slot it names
    const history = this.#history;
    if (history === undefined) this.#start(first, lease.watermark);
    else if (first > history.newest.slot && value !== history.newest.value)
      this.#ring.add(history, { slot: first, value }, lease.watermark.completeBefore(slot));
  }

  /** Ends what is recorded: the account is not known beyond. */
  end(): void {
    this.#ring.end(this.#history);
    this.#history = undefined;
  }

  /** Ends what is recorded, which turned out to be wrong. */
  deny(): void {
    this.#history?.deny();
    this.#history = undefined;
  }

  onEvicted(): void {
    this.#history = undefined;
  }

  /** A feed, or a session at confirmed, may know more of the account already. */
  #start(slot: Slot, watermark: Watermark): void {
    const known = this.#ring.get(this.address);
    if (known?.isOpen === true && known.at(slot) !== undefined) return;
    if (this.#ring.accepts(this.heat))
      this.#history = this.#ring.start(this, watermark, { slot, value: this.#account.kept });
  }
}
