import type { Clock } from '../../../shared/domain/clock.ts';
import type { RpcMethod } from '../../../shared/domain/rpc-methods.ts';
import { AdaptiveRateLimit } from './adaptive-rate-limit.ts';

/** Limits the requests to one node: per method, and over all methods once the node refuses several. */
export class MethodRateLimits {
  readonly #clock: Clock;
  readonly #overall: AdaptiveRateLimit;
  readonly #byMethod = new Map<RpcMethod, AdaptiveRateLimit>();
  #lastRejection: { readonly method: RpcMethod; readonly untilMs: number } | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#overall = new AdaptiveRateLimit(clock);
  }

  waitMs(method: RpcMethod): number {
    return Math.max(this.#overall.waitMs, this.#limitOf(method).waitMs);
  }

  recordRequest(method: RpcMethod): void {
    this.#overall.recordRequest();
    this.#limitOf(method).recordRequest();
  }

  /** Records a refusal. A second method refused during the first one's pause means that the limit is not per method. */
  recordRejection(method: RpcMethod, pauseMs: number): void {
    const now = this.#clock.monotonic();
    const last = this.#lastRejection;
    if (last !== undefined && last.method !== method && now < last.untilMs) this.#overall.recordRejection(pauseMs);
    this.#limitOf(method).recordRejection(pauseMs);
    this.#lastRejection = { method, untilMs: now + pauseMs };
  }

  #limitOf(method: RpcMethod): AdaptiveRateLimit {
    const known = this.#byMethod.get(method);
    if (known !== undefined) return known;
    const limit = new AdaptiveRateLimit(this.#clock);
    this.#byMethod.set(method, limit);
    return limit;
  }
}
