import type { Principal } from '../../access/limits/tiers.ts';
import type { UsageCounter } from '../../access/usage/usage-counter.ts';
import type { RequestOutcome } from '../../access/usage/usage-line.ts';
import { pathLabel } from './path-kinds.ts';

/** Counts a request and its units in the usage of its API key; a wallet has no usage record. */
export function recordUsage(
  usage: UsageCounter,
  { key }: Principal,
  url: string,
  outcome: RequestOutcome,
  units: number,
): void {
  if (key !== undefined) usage.count(key, pathLabel(url), outcome, units);
}
