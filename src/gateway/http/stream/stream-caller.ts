import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import { RequestCost } from '../../../shared/domain/units.ts';
import type { Admit } from '../../../shared/runtime/fair-semaphore.ts';
import type { Access } from '../../access/access.ts';
import { rateLimitKeyOf } from '../../access/authenticator.ts';
import { rateLimitExceeded } from '../../access/limits/request-account.ts';
import type { StreamSlot } from '../../access/limits/stream-quota.ts';
import type { Principal, Tier } from '../../access/limits/tiers.ts';
import { callerNameOf, siteKeyOf } from '../../access/quota/rate-limit-key.ts';
import { recordUsage } from '../rest/usage-metering.ts';

/** The parts that decide what the caller of a stream may use. */
export type StreamCallerAccess = Pick<Access, 'admission' | 'authenticator' | 'rateLimiter' | 'streamQuota' | 'usage'>;

/** The path of a stream, as metrics and usage show it. */
export type StreamPath = '/stream' | '/rpc';

/** The caller of one stream: its identity, and what it may use. */
export class StreamCaller {
  /** The name under which its places for live accounts are counted: an IPv6 /48 is one caller. */
  readonly name: string;
  readonly streamSlot: StreamSlot;
  readonly #access: StreamCallerAccess;
  readonly #path: StreamPath;
  readonly #address: ArrayBuffer;
  #principal: Principal | undefined;
  #tier: Tier;

  /** Acquires a place for the stream. Throws `rate_limited` if the tier of the caller allows no more. */
  constructor(access: StreamCallerAccess, path: StreamPath, address: ArrayBuffer, principal: Principal | undefined) {
    const key = rateLimitKeyOf(address, principal);
    const tier = access.authenticator.tierOf(principal);
    const streamSlot = access.streamQuota.acquire(key, tier);
    if (streamSlot === undefined)
      throw new GatewayError('rate_limited', 'too many open streams: close one first', { retryAfter: 1 });
    this.name = callerNameOf(key);
    this.streamSlot = streamSlot;
    this.#access = access;
    this.#path = path;
    this.#address = address;
    this.#principal = principal;
    this.#tier = tier;
  }

  get principal(): Principal | undefined {
    return this.#principal;
  }

  get maxSubscriptions(): number {
    return this.#tier.subscriptions;
  }

  readonly admit: Admit = (work) => {
    const key = rateLimitKeyOf(this.#address, this.#principal);
    this.#access.admission.enter({ key, siteKey: siteKeyOf(key), tier: this.#tier }, work);
  };

  newCost(): RequestCost {
    return new RequestCost(this.name, this.#tier.priority);
  }

  /**
   * Consumes the units of a message in the window of the caller. In the usage of its key the message is a request. Throws
   * `rate_limited`, and consumes none, if few are left; `invalid_request` if a whole window has fewer, as waiting is no
   * remedy then.
   */
  charge(units: number): void {
    const quota = this.#access.rateLimiter.consume(this.#address, units, this.#principal);
    const [outcome, paid] = quota.allowed ? (['answered', units] as const) : (['limited', 0] as const);
    recordUsage(this.#access.usage, this.#principal, this.#path, outcome, paid);
    if (quota.allowed) return;
    if (units <= quota.limit) throw rateLimitExceeded(quota, true, 'message');
    const message = `this message costs ${units} units, and you have ${quota.limit} in a window: name fewer addresses`;
    throw new GatewayError('invalid_request', message);
  }

  giveBack(units: number): void {
    const { rateLimiter, usage } = this.#access;
    rateLimiter.giveBack(this.#address, units, this.#principal);
    if (this.#principal?.key !== undefined) usage.giveBack(this.#principal.key, this.#path, units);
  }

  /** Goes on with the tier that the credentials give by now. Returns why the stream can't go on, if it can't. */
  findFault(subscriptions: number): string | undefined {
    const { authenticator } = this.#access;
    // streams of an invalid key are closed with a code of their own
    if (this.#principal === undefined || authenticator.isKeyInvalid(this.#principal)) return undefined;
    const tier = authenticator.currentTierOf(this.#principal);
    if (tier === undefined) return 'the wallet holds less than its tier needs: connect again';
    this.#tier = tier;
    this.#principal = { ...this.#principal, tier };
    if (!this.streamSlot.changeTier(tier)) return `your tier is now one with ${tier.streams} streams: close some`;
    if (subscriptions > tier.subscriptions)
      return `your tier is now one with ${tier.subscriptions} subscriptions per stream: connect again`;
    return undefined;
  }
}
