import type { Clock } from '../domain/clock.ts';
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

/**
 * Returns the delay after attempt `attempt` (from 1): exponential backoff with jitter, so that many callers don't retry
 * at once, and never less than `Retry-After`. Undefined if `Retry-After` is too long.
 */
export function retryDelayMs(attempt: number, retryAfterMs: number | null, random: () => number): number | undefined {
  const backoff = Math.min(MAX_DELAY_MS, BASE_DELAY_MS * 2 ** (attempt - 1));
  const jittered = backoff * (0.5 + random() / 2);
  if (retryAfterMs === null) return jittered;
  return retryAfterMs > MAX_RETRY_AFTER_MS ? undefined : retryAfterMs + jittered;
}

/** Parses a `Retry-After` header (RFC 9110 10.2.3), in seconds or as a date, to milliseconds; null without one. */
export function parseRetryAfterMs(header: string | null, nowMs: number): number | null {
  if (header === null) return null;
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1000;
  const date = Date.parse(header);
  return Number.isNaN(date) ? null : Math.max(0, date - nowMs);
}

/** Resolves after `ms` milliseconds; rejects with the signal's reason if it is aborted before. */
export function sleep(ms: number, clock: Clock, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      cancel();
      reject(signal?.reason);
    };
    const cancel = clock.after(ms, () => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    });
    if (signal?.aborted) onAbort();
    else signal?.addEventListener('abort', onAbort, { once: true });
  });
}
