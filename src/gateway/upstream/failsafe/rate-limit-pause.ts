import { parseRetryAfterMs } from '../../../shared/runtime/retry-after.ts';

const DEFAULT_SECONDS = 1;
/** Longest pause that is obeyed. A node may name hours for a limit that is over in a minute; one request then probes it. */
export const MAX_PAUSE_SECONDS = 30;

export function rateLimitPauseSeconds(retryAfter: string | undefined, nowMs: number): number {
  const ms = parseRetryAfterMs(retryAfter ?? null, nowMs) ?? 0;
  return Math.min(Math.max(Math.ceil(ms / 1000), DEFAULT_SECONDS), MAX_PAUSE_SECONDS);
}
