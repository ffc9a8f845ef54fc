import { channel } from 'node:diagnostics_channel';
import type { Clock } from '../../../shared/domain/clock.ts';
import { ERRORS, type ErrorCode } from '../../../shared/domain/gateway-error.ts';
import { DURATION_BOUNDS, Tally } from '../../../shared/runtime/tally.ts';

/** What was answered on one route. */
export class RouteCounts {
  hits = 0;
  readonly byStatus = new Map<number, number>();
  /** The seconds from request to answer where the cache had none. */
  readonly uncachedSeconds = new Tally(DURATION_BOUNDS);
}

/** A request that the hit path didn't answer, once it is answered. */
export interface AnsweredRequest {
  readonly route: string;
  readonly method: string;
  readonly path: string;
  readonly requestId: string;
  readonly status: number;
  /** Milliseconds from the request to its answer. */
  readonly ms: number;
  readonly upstreamCalls: number;
}

export interface AnswerCountsOptions {
  readonly clock: Clock;
  /** The milliseconds above which an answer is slow; null for never. */
  readonly slowMs: number | null;
  /** Called with a slow request, and the number of those before it that were left out. */
  readonly onSlow: (request: AnsweredRequest, omitted: number) => void;
  /** Called with the address, of 4 or 16 bytes, of the first peer that was refused although it named another caller. */
  readonly onUntrustedProxy: (address: ArrayBuffer) => void;
}

const MAX_SLOW_PER_SECOND = 10;

/** Publishes each {@link AnsweredRequest} that the cache had no answer for. */
const missChannel = channel('slotgate:miss');

export class AnswerCounts {
  readonly errors = new Map((Object.keys(ERRORS) as ErrorCode[]).map((code) => [code, 0]));
  /** The 429 answers to peers that name other callers and are no trusted proxies: all of those count as one. */
  untrustedForwarded = 0;
  readonly #options: AnswerCountsOptions;
  readonly routes = new Map<string, RouteCounts>();
  #slowSecondMs = Number.NEGATIVE_INFINITY;
  #slowInSecond = 0;
  #slowOmitted = 0;

  constructor(options: AnswerCountsOptions) {
    this.#options = options;
  }

  countUntrustedForwarded(address: ArrayBuffer): void {
    this.untrustedForwarded++;
    if (this.untrustedForwarded === 1) this.#options.onUntrustedProxy(address);
  }

  get hits(): number {
    let sum = 0;
    for (const { hits } of this.routes.values()) sum += hits;
    return sum;
  }

  countHit(route: string): void {
    this.#countsOf(route).hits++;
  }

  countStatus(route: string, status: number): void {
    const { byStatus } = this.#countsOf(route);
    byStatus.set(status, (byStatus.get(status) ?? 0) + 1);
  }

  countError(code: ErrorCode): void {
    this.errors.set(code, (this.errors.get(code) ?? 0) + 1);
  }

  /** Counts an answer outside the hit path; `isUncached` if the cache had none. Few are described. */
  countAnswered(
    { route, status, ms }: Pick<AnsweredRequest, 'route' | 'status' | 'ms'>,
    isUncached: boolean,
    describe: () => AnsweredRequest,
  ): void {
    this.countStatus(route, status);
    if (isUncached) {
      this.#countsOf(route).uncachedSeconds.record(ms / 1000);
      if (missChannel.hasSubscribers) missChannel.publish(describe());
    }
    const { slowMs } = this.#options;
    if (slowMs !== null && ms > slowMs) this.#reportSlow(describe());
  }

  #countsOf(route: string): RouteCounts {
    const known = this.routes.get(route);
    if (known !== undefined) return known;
    const counts = new RouteCounts();
    this.routes.set(route, counts);
    return counts;
  }

  /** Reports a slow request, unless this second has many: a slow cluster must not fill the log. */
  #reportSlow(request: AnsweredRequest): void {
    const { clock, onSlow } = this.#options;
    const nowMs = clock.monotonic();
    if (nowMs - this.#slowSecondMs >= 1000) {
      this.#slowSecondMs = nowMs;
      this.#slowInSecond = 0;
    }
    if (++this.#slowInSecond > MAX_SLOW_PER_SECOND) {
      this.#slowOmitted++;
      return;
    }
    const omitted = this.#slowOmitted;
    this.#slowOmitted = 0;
    onSlow(request, omitted);
  }
}
