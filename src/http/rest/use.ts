import type { Principal } from '../../access/limits/tiers.ts';
import type { UsageCounter } from '../../access/usage/usage-counter.ts';
import type { RequestOutcome } from '../../access/usage/usage-line.ts';
import { placeName } from './places.ts';

/** Counts what an API key is used for; a wallet has none. */
export function noteUse(usage: UsageCounter, { key }: Principal, url: string, outcome: RequestOutcome): void {
  if (key !== undefined) usage.count(key, placeName(url), outcome);
}
