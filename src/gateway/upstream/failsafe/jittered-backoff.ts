import { exponentialDelayMs } from '../../../shared/runtime/exponential-backoff.ts';
import type { UpstreamDeps } from '../upstream-options.ts';

/** Random between the shortest pause and a limit that doubles with each failure in a row, up to the longest. */
export function backoffMs(failures: number, { random, settings }: Pick<UpstreamDeps, 'random' | 'settings'>): number {
  const { backoffMinMs, backoffMaxMs } = settings;
  return backoffMinMs + random() * (exponentialDelayMs(failures, backoffMinMs, backoffMaxMs) - backoffMinMs);
}
