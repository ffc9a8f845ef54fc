import type { Clock } from '../../../shared/domain/clock.ts';
import { QuotaBook } from '../quota/quota-book.ts';
import type { Quota, RateLimit } from '../quota/quota-window.ts';
import { addressKeyOf, SITE_FACTOR } from '../quota/rate-limit-key.ts';
import { CallerAccount, LimiterCounts, type WindowBooks } from './caller-account.ts';
import { RequestAccount } from './request-account.ts';
import type { Principal, Tier } from './tiers.ts';

/**
 * Counts units in fixed windows, one per caller, each starting at its first request. Units whose number is known before
 * are refused if they are not left. Those that are known afterwards may lead into a debt of at most one limit, which the
 * next window pays. At most `trackedAddresses` windows of addresses are in memory, and some that the others share.
 */
export class RateLimiter {
  readonly counts = new LimiterCounts();
  readonly #books: WindowBooks;
  readonly #account: CallerAccount;

  constructor(
    limits: { readonly free: RateLimit; readonly trackedAddresses: number },
    clock: Clock,
    createBook = (_name: string, capacity: number): QuotaBook => new QuotaBook(capacity, clock),
  ) {
    const others = createBook('principals', Number.POSITIVE_INFINITY);
    this.#books = {
      clock,
      counts: this.counts,
      freeLimit: limits.free,
      siteLimit: { ...limits.free, units: limits.free.units * SITE_FACTOR },
      addresses: createBook('addresses', limits.trackedAddresses - 1),
      others,
      unused: others.find('', limits.free, clock.monotonic()),
    };
    this.#account = new CallerAccount(this.#books);
  }

  get size(): number {
    return this.#books.addresses.size + this.#books.others.size;
  }

  /** Returns the quota of a principal, or of the caller at this address of 4 or 16 bytes, and charges nothing. */
  peek(address: ArrayBuffer, principal?: Principal): Quota {
    return this.consume(address, 0, principal);
  }

  consume(address: ArrayBuffer, units: number, principal?: Principal): Quota {
    return this.#account.select(addressKeyOf(address), principal).spend(units);
  }

  charge(address: ArrayBuffer, units: number, principal?: Principal): void {
    this.#account.select(addressKeyOf(address), principal).charge(units);
  }

  giveBack(address: ArrayBuffer, units: number, principal?: Principal): Quota {
    return this.#account.select(addressKeyOf(address), principal).giveBack(units);
  }

  openAccount(address: ArrayBuffer, principal: Principal | undefined, tier: Tier): RequestAccount {
    return new RequestAccount(this.#account, address, principal, tier);
  }
}
