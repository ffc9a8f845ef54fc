import type { Account } from '../../access/limits/tier.ts';
import type { Usage } from '../../access/usage/usage.ts';
import type { Outcome } from '../../access/usage/usage-line.ts';
import { placeName } from './places.ts';

/** Counts what an API key is used for; a wallet has none. */
export function noteUse(usage: Usage, { key }: Account, url: string, outcome: Outcome): void {
  if (key !== undefined) usage.count(key, placeName(url), outcome);
}
