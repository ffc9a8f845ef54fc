import { exponentialDelayMs } from '../../../shared/runtime/exponential-backoff.ts';
import type { UpstreamSettings } from '../upstream-options.ts';

/** What spreads reconnects. */
export interface BackoffOptions {
  /** Random number from 0 up to, but not including, 1. */
  readonly random: () => number;
  readonly settings: Pick<UpstreamSettings, 'backoffMinMs' | 'backoffMaxMs'>;
}

/** Random between the shortest pause and a limit that doubles with each failure in a row, up to the longest. */
export function backoffMs(failures: number, { random, settings }: BackoffOptions): number {
  const { backoffMinMs, backoffMaxMs } = settings;
  return backoffMinMs + random() * (exponentialDelayMs(failures, backoffMinMs, backoffMaxMs) - backoffMinMs);
}
