import type { Clock } from '../../domain/clock.ts';
import type { RpcMethod } from '../../domain/rpc-methods.ts';
import { AdaptiveRateLimit } from './adaptive-rate-limit.ts';

/** What one node asks of us: a pace for each method, and one for all together once it refuses several. */
export class MethodRateLimits {
  readonly #clock: Clock;
  readonly #overall: AdaptiveRateLimit;
  readonly #byMethod = new Map<RpcMethod, AdaptiveRateLimit>();
  /** The method that was refused last, and until when its pause is. */
  #refused: { readonly method: RpcMethod; readonly untilMs: number } | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#overall = new AdaptiveRateLimit(clock);
  }

  /** For how long the node is to be left alone with this method. */
  waitMs(method: RpcMethod): number {
    return Math.max(this.#overall.waitMs, this.#limitOf(method).waitMs);
  }

  sent(method: RpcMethod): void {
    this.#overall.sent();
    this.#limitOf(method).sent();
  }

  /** A second method refused while the first one rests: then it is not about the method. */
  refused(method: RpcMethod, pauseMs: number): void {
    const now = this.#clock.monotonic();
    const last = this.#refused;
    if (last !== undefined && last.method !== method && now < last.untilMs) this.#overall.refused(pauseMs);
    this.#limitOf(method).refused(pauseMs);
    this.#refused = { method, untilMs: now + pauseMs };
  }

  #limitOf(method: RpcMethod): AdaptiveRateLimit {
    const known = this.#byMethod.get(method);
    if (known !== undefined) return known;
    const limit = new AdaptiveRateLimit(this.#clock);
    this.#byMethod.set(method, limit);
    return limit;
  }
}
