import type { Clock } from '../../domain/clock.ts';
import { QuotaBook, type RateLimit } from '../quota/quota-book.ts';
import { CallerWindows, type WindowStores } from './caller-windows.ts';
import { LimiterCounts } from './limiter-counts.ts';
import type { Quota } from './quota.ts';
import { addressKeyOf, SITE_FACTOR } from './rate-limit-key.ts';
import { RequestBill } from './request-bill.ts';
import type { Principal } from './tiers.ts';

/** Creates a book for so many windows. */
type CreateBook = (name: string, capacity: number) => QuotaBook;

/**
 * Counts units in fixed windows, one per caller, each starting at its first request. Units whose number is known before
 * are refused if they are not left. Those that are known afterwards may lead into a debt of at most one limit, which the
 * next window pays. At most `identities` windows of addresses are kept, and some that those beyond share.
 */
export class RateLimiter {
  readonly counts = new LimiterCounts();
  readonly #stores: WindowStores;
  /** The windows of the request that is counted at the moment. */
  readonly #windows: CallerWindows;

  constructor(
    limits: { readonly free: RateLimit; readonly identities: number },
    clock: Clock,
    createBook: CreateBook = (_, capacity) => new QuotaBook(capacity),
  ) {
    this.#stores = {
      clock,
      counts: this.counts,
      freeLimit: limits.free,
      siteLimit: { ...limits.free, requests: limits.free.requests * SITE_FACTOR },
      addresses: createBook('addresses', limits.identities - 1),
      principals: createBook('principals', Number.POSITIVE_INFINITY),
      overflow: createBook('overflow', Number.POSITIVE_INFINITY),
    };
    this.#windows = new CallerWindows(this.#stores);
  }

  /** The number of windows in memory. */
  get size(): number {
    const { addresses, principals, overflow } = this.#stores;
    return addresses.size + principals.size + overflow.size;
  }

  /** Returns the quota of a principal, or of the caller at this address of 4 or 16 bytes, and charges nothing. */
  peek(address: ArrayBuffer, principal?: Principal): Quota {
    return this.consume(address, 0, principal);
  }

  /** Charges so many units if they are left, else none. */
  consume(address: ArrayBuffer, units: number, principal?: Principal): Quota {
    return this.#windows.find(addressKeyOf(address), principal).take(units);
  }

  /** Charges units that were not known before: they may lead into a debt of at most one limit. */
  charge(address: ArrayBuffer, units: number, principal?: Principal): void {
    this.#windows.find(addressKeyOf(address), principal).charge(units);
  }

  /** Gives back units that were consumed for what is refused after all. */
  giveBack(address: ArrayBuffer, units: number, principal?: Principal): Quota {
    return this.#windows.find(addressKeyOf(address), principal).giveBack(units);
  }

  /** Opens the bill of one request, whose price is not wholly known before. */
  openBill(address: ArrayBuffer, principal?: Principal): RequestBill {
    return new RequestBill(new CallerWindows(this.#stores), addressKeyOf(address), principal);
  }
}
