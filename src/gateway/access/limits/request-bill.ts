import type { Quota, QuotaWindow } from '../quota/quota-window.ts';
import type { RateLimitKey } from '../quota/rate-limit-key.ts';
import type { CallerAccount } from './caller-account.ts';
import type { Principal } from './tiers.ts';

/** The units that work may need, of those that a request hasn't paid yet. */
export interface ExpectedUnits {
  /** What it surely costs: refused if that many are not left. */
  readonly known: number;
  /** The most that it may cost. */
  readonly highest: number;
}

/** What one request pays: known units before, the others when its answer is made. */
export class RequestBill {
  readonly #account: CallerAccount;
  readonly #addressKey: RateLimitKey;
  readonly #principal: Principal | undefined;
  paid = 0;
  /** The windows that were charged last, and the units that were not, as the debt is at most one limit. */
  #own: Charged | undefined;
  #outer: Charged | undefined;
  #reserved: readonly [QuotaWindow, number][] = [];

  constructor(account: CallerAccount, addressKey: RateLimitKey, principal: Principal | undefined) {
    this.#account = account;
    this.#addressKey = addressKey;
    this.#principal = principal;
  }

  pay(units: number): Quota {
    const quota = this.#current().spend(units);
    if (quota.allowed) this.#remember(units, 0, 0);
    return quota;
  }

  /**
   * Reserves the most that work may cost, so that all that is under way leads into a debt of at most one limit. Returns
   * `granted`; `later` if other requests under way must end first; `refused` if the caller must wait for units.
   */
  reserve({ known, highest }: ExpectedUnits): 'granted' | 'later' | 'refused' {
    const { windows } = this.#current();
    // a window that is full always allows one request, whatever it may cost
    if (windows.some(({ spendableNow, limit }) => spendableNow < Math.min(known, limit - this.paid)))
      return this.#refuse(known);
    const highestIn = ({ limit }: QuotaWindow): number => Math.min(limit, Math.max(known, highest));
    const hasRoom = (window: QuotaWindow): boolean =>
      window.balance + window.limit - window.reserved >= highestIn(window); // a debt is at most one limit
    if (!windows.every(hasRoom)) return windows.some(({ reserved }) => reserved > 0) ? 'later' : this.#refuse(known);
    this.#reserved = windows.map((window) => [window, highestIn(window)]);
    for (const [window, units] of this.#reserved) {
      window.open();
      window.reserved += units;
    }
    return 'granted';
  }

  #refuse(units: number): 'refused' {
    this.#account.refuse(units);
    return 'refused';
  }

  /** Charges what is still to be paid of that many units in all, or gives back what was paid too much. */
  settle(units: number): Quota {
    const account = this.#current();
    const owed = units - this.paid;
    if (owed > 0) this.#remember(owed, ...account.charge(owed));
    else if (owed < 0) {
      account.countGivenBack(Math.max(0, -owed - (this.#own?.beyond ?? 0)));
      giveBack(this.#own, -owed);
      giveBack(this.#outer, -owed);
      this.paid = units;
    }
    return account.quotaFor(units, true);
  }

  release(): void {
    for (const [window, units] of this.#reserved) window.reserved -= units;
    this.#reserved = [];
  }

  /** Returns the quota for a caller that is refused work for that many more units, and pays only `kept`. */
  refusal(units: number, kept = 0): Quota {
    const price = this.paid + units;
    this.settle(kept);
    return this.#current().quotaFor(price, false);
  }

  #current(): CallerAccount {
    return this.#account.find(this.#addressKey, this.#principal);
  }

  /** Remembers units, some of which are beyond the debt of a window and were not charged in it. */
  #remember(units: number, beyondOwn: number, beyondOuter: number): void {
    this.paid += units;
    const { own, outer } = this.#account;
    this.#own = charged(this.#own, own, beyondOwn);
    this.#outer = outer && charged(this.#outer, outer, beyondOuter);
  }
}

/** A window that was charged, and the units beyond the greatest debt, which were not counted in it. */
interface Charged {
  readonly window: QuotaWindow;
  beyond: number;
}

function charged(before: Charged | undefined, window: QuotaWindow, beyond: number): Charged {
  if (before?.window !== window) return { window, beyond };
  before.beyond += beyond;
  return before;
}

function giveBack(charged: Charged | undefined, units: number): void {
  if (charged === undefined) return;
  charged.window.giveBack(Math.max(0, units - charged.beyond));
  charged.beyond = Math.max(0, charged.beyond - units);
}
