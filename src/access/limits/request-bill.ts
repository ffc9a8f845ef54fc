import type { QuotaWindow } from '../quota/quota-book.ts';
import type { CallerWindows } from './caller-windows.ts';
import type { Quota } from './quota.ts';
import type { RateLimitKey } from './rate-limit-key.ts';
import type { Principal } from './tiers.ts';

/** The units that work may need, of those that a request hasn't paid yet. */
export interface ExpectedUnits {
  /** What it surely costs: refused if so many are not left. */
  readonly known: number;
  /** The most that it may cost. */
  readonly highest: number;
}

/** A window in which a request was charged. */
interface PaidWindow {
  readonly window: QuotaWindow;
  /** The units of the request that were not charged, as the debt is at most one limit. */
  beyond: number;
}

/** What one request pays: known units before, the others when its answer is made. */
export class RequestBill {
  readonly #windows: CallerWindows;
  readonly #addressKey: RateLimitKey;
  readonly #principal: Principal | undefined;
  /** The units that were charged so far, and the windows that they were charged in, but for some beyond the debt. */
  #paid = 0;
  #paidIn: readonly PaidWindow[] = [];
  #reserved: readonly [QuotaWindow, number][] = [];

  constructor(windows: CallerWindows, addressKey: RateLimitKey, principal: Principal | undefined) {
    this.#windows = windows;
    this.#addressKey = addressKey;
    this.#principal = principal;
  }

  /** Charges so many more units if they are left, else none. */
  pay(units: number): Quota {
    const windows = this.#current();
    const quota = windows.take(units);
    if (quota.allowed) this.#remember(units, 0, 0);
    return quota;
  }

  /** The units that were charged so far. */
  get paid(): number {
    return this.#paid;
  }

  /**
   * Reserves the most that work may cost, so that all that is under way leads into a debt of at most one limit. Returns
   * `granted`; `later` if other requests under way must end first; `refused` if the caller must wait for units.
   */
  reserve({ known, highest }: ExpectedUnits): 'granted' | 'later' | 'refused' {
    const { own, outer } = this.#current();
    const buckets = outer.isUsed ? [own, outer] : [own];
    // a window that is full always allows one request, whatever it may cost
    if (buckets.some(({ left, limit }) => left < Math.min(known, limit - this.#paid))) return this.#refused(known);
    const units = buckets.map(({ limit }) => Math.min(limit, Math.max(known, highest)));
    if (buckets.some(({ room }, i) => room < (units[i] ?? 0)))
      return buckets.some(({ window }) => window !== undefined && window.reserved > 0) ? 'later' : this.#refused(known);
    this.#reserved = buckets.flatMap((bucket, i): [QuotaWindow, number][] => {
      const window = bucket.open();
      if (window === undefined) return [];
      window.reserved += units[i] ?? 0;
      return [[window, units[i] ?? 0]];
    });
    return 'granted';
  }

  #refused(units: number): 'refused' {
    this.#windows.miss(units);
    this.#windows.countDecision(false);
    return 'refused';
  }

  /** Charges what is still to be paid of so many units in all, or gives back what was paid too much. */
  settle(units: number): Quota {
    const windows = this.#current();
    const owed = units - this.#paid;
    if (owed > 0) {
      this.#remember(owed, ...windows.charge(owed));
    } else if (owed < 0) {
      windows.countGivenBack(Math.max(0, -owed - (this.#paidIn[0]?.beyond ?? 0))); // the first is the caller's own
      for (const paid of this.#paidIn) {
        const notCharged = Math.min(paid.beyond, -owed);
        paid.window.used = Math.max(0, paid.window.used + owed + notCharged);
        paid.beyond -= notCharged;
      }
      this.#paid = units;
    }
    return windows.quotaFor(units, true);
  }

  /** Ends the reservation. */
  release(): void {
    for (const [window, units] of this.#reserved) window.reserved -= units;
    this.#reserved = [];
  }

  /** Returns the quota for a caller who is refused work that costs so many units besides, and keeps only `kept`. */
  refusal(units: number, kept = 0): Quota {
    const price = this.#paid + units;
    this.settle(kept);
    return this.#current().quotaFor(price, false);
  }

  #current(): CallerWindows {
    return this.#windows.find(this.#addressKey, this.#principal);
  }

  /** Remembers units, some of which are beyond the debt of a window and were not charged in it. */
  #remember(units: number, beyondOwn: number, beyondOuter: number): void {
    const { own, outer } = this.#windows;
    this.#paid += units;
    const paidBefore = this.#paidIn;
    const paidIn = (window: QuotaWindow | undefined, beyond: number): PaidWindow[] => {
      if (window === undefined) return [];
      const before = paidBefore.find((paid) => paid.window === window)?.beyond ?? 0;
      return [{ window, beyond: before + beyond }];
    };
    this.#paidIn = [...paidIn(own.window, beyondOwn), ...paidIn(outer.window, beyondOuter)];
  }
}
