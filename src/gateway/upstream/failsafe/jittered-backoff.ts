import { exponentialDelayMs } from '../../../shared/runtime/exponential-backoff.ts';
import type { UpstreamDeps } from '../upstream-options.ts';

/**
 * Returns the pause after a number of failures in a row: random between the shortest and a limit that doubles with each
 * failure, up to the longest.
 */
export function backoffMs(failures: number, { random, settings }: Pick<UpstreamDeps, 'random' | 'settings'>): number {
  const { backoffMinMs, backoffMaxMs } = settings;
  return backoffMinMs + random() * (exponentialDelayMs(failures, backoffMinMs, backoffMaxMs) - backoffMinMs);
}
