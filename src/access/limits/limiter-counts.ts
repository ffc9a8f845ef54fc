import { TIER_NAMES, type TierName } from './tiers.ts';

/** What a rate limiter has decided for the callers of one tier. */
export interface TierDecisions {
  allowed: number;
  refused: number;
}

/** What a rate limiter has decided and charged. */
export class LimiterCounts {
  /** The decisions by tier. */
  readonly decisions = Object.fromEntries(
    TIER_NAMES.map((name): [TierName, TierDecisions] => [name, { allowed: 0, refused: 0 }]),
  ) as Readonly<Record<TierName, TierDecisions>>;
  /** The units that were charged. */
  charged = 0;
  /** Those of them that were given back. */
  givenBack = 0;
  /** The units that were charged beyond what was left in the caller's window: the next one pays them. */
  debt = 0;
}
