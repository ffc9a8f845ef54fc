import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import { RequestCost, unitsOfUpstream } from '../../../shared/domain/units.ts';
import type { Quota, QuotaWindow } from '../quota/quota-window.ts';
import { addressKeyOf, callerNameOf, type RateLimitKey, siteKeyOf } from '../quota/rate-limit-key.ts';
import type { CallerAccount } from './caller-account.ts';
import type { Principal, Tier } from './tiers.ts';

/** What one request pays: it reserves units before its work, and settles what that came to. */
export class RequestAccount {
  /** Key of the shares of what all use: the principal's, or the address. */
  readonly key: RateLimitKey;
  readonly siteKey: RateLimitKey | undefined;
  readonly tier: Tier;
  readonly principal: Principal | undefined;
  /** What the request makes at the upstream. */
  readonly cost: RequestCost;
  /** The quota that a refusal names; undefined for a request that got the units it needed. */
  refusal: Quota | undefined = undefined;
  paid = 0;
  readonly #caller: CallerAccount;
  readonly #addressKey: RateLimitKey;
  /** Units that were known before the work, and those of the answer. */
  #known = 0;
  #ofAnswer = 0;
  /** The windows that were charged last, the caller's own first, and the units that were not, as the debt is at most one limit. */
  #charged: readonly Charged[] = [];
  #held: readonly (readonly [QuotaWindow, number])[] = NOTHING_HELD;

  constructor(caller: CallerAccount, address: ArrayBuffer, principal: Principal | undefined, tier: Tier) {
    this.#caller = caller;
    this.#addressKey = addressKeyOf(address);
    this.key = principal === undefined ? this.#addressKey : principal.id;
    this.siteKey = siteKeyOf(this.key);
    this.principal = principal;
    this.tier = tier;
    this.cost = new RequestCost(callerNameOf(this.key), tier.priority);
  }

  /**
   * Pays units that are known before the work. With `highest`, which is the most that the work may cost, they are not paid
   * yet, and all that is under way is held, so that it leads into a debt of at most one limit. Returns false if other
   * requests under way must end first; throws `rate_limited` if the caller must wait for units.
   */
  reserve(known: number, highest?: number): boolean {
    if (highest !== undefined) return this.#hold(known, highest);
    if (known === 0) return true;
    if (!this.#current().spend(known).allowed) this.#refuse(known);
    this.#remember(known);
    this.#known += known;
    return true;
  }

  /**
   * Charges what is still to be paid of the known units, of the work, and of the answer, or gives back what was paid too
   * much. A request that was refused doesn't pay its known units. The limiter's next call overwrites the quota.
   */
  settle(ofAnswer = this.#ofAnswer, isRefused = false): Quota {
    this.#ofAnswer = ofAnswer;
    if (isRefused) this.#known = 0; // what was made at the upstream is paid all the same
    for (const [window, units] of this.#held) window.reserved -= units;
    this.#held = NOTHING_HELD;
    const caller = this.#current();
    const owed = this.#known + unitsOfUpstream(this.cost) + ofAnswer - this.paid;
    if (owed > 0) this.#remember(owed, caller.charge(owed));
    else if (owed < 0) {
      caller.countGivenBack(Math.max(0, -owed - (this.#charged[0]?.beyond ?? 0)));
      for (const each of this.#charged) giveBack(each, -owed);
      this.paid += owed;
    }
    return caller.quotaFor(this.paid, true);
  }

  #hold(known: number, highest: number): boolean {
    const { windows } = this.#current();
    // a window that is full always allows one request, whatever it may cost
    for (const { spendableNow, limit } of windows)
      if (spendableNow < Math.min(known, limit - this.paid)) this.#refuse(known, true);
    const highestIn = ({ limit }: QuotaWindow): number => Math.min(limit, Math.max(known, highest));
    const hasRoom = (window: QuotaWindow): boolean =>
      window.balance + window.limit - window.reserved >= highestIn(window); // a debt is at most one limit
    if (!windows.every(hasRoom))
      return windows.some(({ reserved }) => reserved > 0) ? false : this.#refuse(known, true);
    this.#held = windows.map((window) => [window, highestIn(window)] as const);
    for (const [window, units] of this.#held) {
      window.open();
      window.reserved += units;
    }
    return true;
  }

  /** A request that is refused costs nothing but what it has made at the upstream. */
  #refuse(units: number, isWork = false): never {
    if (isWork) this.#caller.refuse(units); // other units were refused where they were to be spent
    const price = this.paid + units;
    this.settle(0, true);
    this.refusal = { ...this.#current().quotaFor(price, false) };
    throw rateLimitExceeded(this.refusal, isWork || undefined);
  }

  #current(): CallerAccount {
    return this.#caller.select(this.#addressKey, this.principal);
  }

  /** Remembers units, some of which are beyond the debt of a window and were not charged in it. */
  #remember(units: number, beyond: readonly number[] = []): void {
    this.paid += units;
    const before = this.#charged;
    this.#charged = this.#caller.windows.map((window, i) => charged(before[i], window, beyond[i] ?? 0));
  }
}

const NOTHING_HELD: readonly never[] = [];

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

function giveBack(charged: Charged, units: number): void {
  charged.window.giveBack(Math.max(0, units - charged.beyond));
  charged.beyond = Math.max(0, charged.beyond - units);
}

/** Waiting is no remedy where the price is beyond the whole limit, unless a full window allows it all the same. */
export function rateLimitExceeded(
  quota: Quota,
  fitsFullWindow = quota.units <= quota.limit,
  what: 'request' | 'message' = 'request',
): GatewayError {
  const { units, isByAddress, limit, remaining, retryAfter } = quota;
  const price = `this ${what} costs ${units} ${units === 1 ? 'unit' : 'units'}`;
  const message = fitsFullWindow
    ? `${price}, ${remaining} of ${limit} are left; wait ${retryAfter} s${isByAddress ? ' or use an API key' : ''}`
    : `${price}, and your tier never has more than ${limit}: request less${isByAddress ? ', or use an API key' : ''}`;
  return new GatewayError('rate_limited', message, { retryAfter });
}
