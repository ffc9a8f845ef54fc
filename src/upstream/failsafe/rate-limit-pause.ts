import { parseRetryAfterMs } from '../../runtime/retry-after.ts';

const DEFAULT_SECONDS = 1;
/** Longest pause that is obeyed: with a longer one the node would be out of use until the next start. */
const MAX_SECONDS = 3600;

/** Returns the pause after a rate limit in whole seconds, as the `Retry-After` header says. */
export function rateLimitPauseSeconds(retryAfter: string | undefined, nowMs: number): number {
  const ms = parseRetryAfterMs(retryAfter ?? null, nowMs) ?? 0;
  return Math.min(Math.max(Math.ceil(ms / 1000), DEFAULT_SECONDS), MAX_SECONDS);
}
