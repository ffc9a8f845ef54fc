import type { Clock } from '../../../shared/domain/clock.ts';
import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import { FairSemaphore, type PlaceClaim, type PlacedWork, type Share } from '../../../shared/runtime/fair-semaphore.ts';
import { type RateLimitKey, SITE_FACTOR } from '../quota/rate-limit-key.ts';
import type { Tier } from './tiers.ts';

export interface AdmissionOptions {
  readonly maxInFlight: number;
  readonly maxQueued: number;
  readonly maxWaitMs: number;
  readonly clock: Clock;
  /** Whether the event loop lags so much that no work may be added. */
  readonly isOverloaded: () => boolean;
}

export interface AdmittedCaller extends Pick<PlaceClaim<RateLimitKey>, 'reserve' | 'onEnd'> {
  readonly key: RateLimitKey;
  readonly siteKey?: RateLimitKey | undefined;
  readonly tier: Tier;
}

/** The part of the places, and of the queue, that one site may have. */
const SITE_SHARE = 1 / 2;

/**
 * Admission control for upstream work: limits concurrency per caller, per site and overall, queues the same amount again
 * with priority tiers first, and rejects the rest as `overloaded`. Work of the gateway itself (renewals, the stream,
 * balances of wallets) has places of its own: callers and the gateway never use each other's.
 */
export class Admission {
  readonly #options: AdmissionOptions;
  readonly ofCallers: FairSemaphore<RateLimitKey>;
  readonly own: Pick<FairSemaphore<never>, 'enter' | 'running' | 'waiting'>;
  refused = 0;

  constructor(options: AdmissionOptions) {
    const { maxInFlight: maxRunning, maxQueued: maxWaiting, maxWaitMs, clock } = options;
    const bounds = { maxRunning, maxWaiting, clock, overloaded: (why: string) => this.#overloadedError(why) };
    this.#options = options;
    this.ofCallers = new FairSemaphore({ ...bounds, maxWaitMs });
    this.own = new FairSemaphore(bounds);
  }

  /** Starts the work, in the same call if nothing waits ahead of it; or refuses it as `overloaded`. */
  enter(caller: AdmittedCaller, work: PlacedWork): void {
    if (this.#options.isOverloaded()) work.refuse(this.#overloadedError('the gateway is overloaded'));
    else this.ofCallers.enter(this.#claimOf(caller), work);
  }

  enterOwn(work: PlacedWork): void {
    this.own.enter({ shares: [] }, work);
  }

  #claimOf({ key, siteKey, tier, reserve, onEnd }: AdmittedCaller): PlaceClaim<RateLimitKey> {
    const { inFlight, priority: hasPriority } = tier;
    const { maxInFlight, maxQueued } = this.#options;
    const ofCaller: Share<RateLimitKey> = {
      key,
      maxRunning: inFlight,
      maxTotal: 2 * inFlight,
      refusal: 'too many of your requests wait for answers: send fewer at a time',
    };
    if (siteKey === undefined) return { shares: [ofCaller], hasPriority, reserve, onEnd };
    const ofSite: Share<RateLimitKey> = {
      key: siteKey,
      maxRunning: Math.min(SITE_FACTOR * inFlight, shareOf(maxInFlight)),
      maxWaiting: shareOf(maxQueued),
      refusal: 'too many requests of your network are waiting',
    };
    return { shares: [ofCaller, ofSite], hasPriority, reserve, onEnd };
  }

  #overloadedError(message: string): GatewayError {
    this.refused++;
    return new GatewayError('overloaded', `${message}; retry in a moment`);
  }
}

const shareOf = (places: number): number => Math.ceil(places * SITE_SHARE);
