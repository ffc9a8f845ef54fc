import type { Clock } from '../domain/clock.ts';
import type { SlotgateError } from './slotgate-error.ts';

const BASE_DELAY_MS = 250;
const MAX_DELAY_MS = 8000;

/** A longer pause than this is the caller's to decide on. */
const MAX_RETRY_AFTER_MS = 30_000;

/** Faults of the moment: too much, too early, or a hop that has gone. */
const TRANSIENT_STATUSES: ReadonlySet<number | null> = new Set([429, 502, 503, 504]);

/** Whether the same request may fare better in a while. That a gateway is unhealthy is the answer that was asked for. */
export const isTransient = ({ code, status }: SlotgateError): boolean =>
  code === 'network' || code === 'timeout' || (TRANSIENT_STATUSES.has(status) && code !== 'unhealthy');

/**
 * How long to wait before try `attempt` (from 1) is made again: twice as long each time, spread so that many callers
 * don't come back at once, and never less than the gateway asked for. Undefined when that is too long.
 */
export function retryDelayMs(attempt: number, retryAfterMs: number | null, random: () => number): number | undefined {
  const backoff = Math.min(MAX_DELAY_MS, BASE_DELAY_MS * 2 ** (attempt - 1));
  const jittered = backoff * (0.5 + random() / 2);
  if (retryAfterMs === null) return jittered;
  return retryAfterMs > MAX_RETRY_AFTER_MS ? undefined : retryAfterMs + jittered;
}

/** The milliseconds of a `Retry-After` header, in seconds or as a date; null without one. */
export function parseRetryAfterMs(header: string | null, nowMs: number): number | null {
  if (header === null) return null;
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1000;
  const date = Date.parse(header);
  return Number.isNaN(date) ? null : Math.max(0, date - nowMs);
}

/** Resolves after `ms` milliseconds; rejects with the signal's reason when that comes first. */
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
