import { exponentialDelayMs } from '../shared/runtime/exponential-backoff.ts';
import type { SlotgateError } from './slotgate-error.ts';

const BASE_DELAY_MS = 250;
const MAX_DELAY_MS = 8000;

/** The longest `Retry-After` that is waited for; the caller decides about longer ones. */
const MAX_RETRY_AFTER_MS = 30_000;

/** The statuses of temporary errors: rate limited, not ready, or a proxy without its backend. */
const TRANSIENT_STATUSES: ReadonlySet<number | null> = new Set([429, 502, 503, 504]);

/** Returns true if a retry may succeed. `unhealthy` is no error to retry: it is the answer of `/health`. */
export const isTransient = ({ code, status }: SlotgateError): boolean =>
  code === 'network' || code === 'timeout' || (TRANSIENT_STATUSES.has(status) && code !== 'unhealthy');

/** Exponential backoff with jitter, never less than `Retry-After`. Undefined if `Retry-After` is too long. */
export function retryDelayMs(attempt: number, retryAfterMs: number | null, random: () => number): number | undefined {
  const backoff = exponentialDelayMs(attempt - 1, BASE_DELAY_MS, MAX_DELAY_MS);
  const jittered = backoff * (0.5 + random() / 2);
  if (retryAfterMs === null) return jittered;
  return retryAfterMs > MAX_RETRY_AFTER_MS ? undefined : retryAfterMs + jittered;
}
