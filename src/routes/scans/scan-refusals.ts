import { LRUCache } from 'lru-cache';
import type { Clock } from '../../domain/clock.ts';
import type { GatewayError } from '../../domain/gateway-error.ts';

/** Life of a refusal: a mint doesn't lose most of its holders in minutes, nor does a node gain an index. */
const REFUSAL_TTL_MS = 5 * 60_000;

/** Maximum refusals that are remembered: a few MB. */
const MAX_REFUSALS = 10_000;

interface CachedRefusal {
  readonly refusal: GatewayError;
  readonly expiresMs: number;
}

/** Caches the refusals of scans, by what was scanned for: to find one out again is as dear as a scan. */
export class ScanRefusals {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #refusals = new LRUCache<string, CachedRefusal>({ max: MAX_REFUSALS });

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  get(key: string): GatewayError | undefined {
    const cached = this.#refusals.get(key);
    return cached !== undefined && this.#clock.monotonic() < cached.expiresMs ? cached.refusal : undefined;
  }

  set(key: string, refusal: GatewayError): void {
    this.#refusals.set(key, { refusal, expiresMs: this.#clock.monotonic() + REFUSAL_TTL_MS });
  }
}

/** Tells that no node answers a scan, for good: it finds too many accounts, or the nodes have no index of them. */
export const isScanRefused = ({ code, status }: GatewayError): boolean =>
  code === 'result_too_large' || (code === 'rpc_error' && status !== 503);
