import type { LimitsSettings } from '../../../config/limits-schema.ts';
import type { RateLimit } from '../quota/quota-window.ts';

export type TierLimits = LimitsSettings['staked'];

export const TIER_NAMES = ['free', 'build', 'scale', 'staked'] as const;

export type TierName = (typeof TIER_NAMES)[number];

export interface Tier extends TierLimits, RateLimit {
  readonly name: TierName;
  readonly priority: boolean;
}

export type Tiers = ReturnType<typeof tiersOf>;

export function tiersOf({ free, build, scale, staked }: Pick<LimitsSettings, TierName>) {
  return {
    free: { ...free, name: 'free', priority: false } satisfies Tier,
    build: { ...build, name: 'build', priority: false } satisfies Tier,
    scale: { ...scale, name: 'scale', priority: true } satisfies Tier,
    /** The free tier once more for each of at least one step, up to the configured limits. */
    staked(steps: bigint): Tier {
      const multiple = Number(steps < MAX_STEPS ? steps : MAX_STEPS) + 1;
      const scaledLimit = (name: keyof TierLimits): number => Math.min(staked[name], free[name] * multiple);
      return {
        name: 'staked',
        units: scaledLimit('units'),
        windowSeconds: free.windowSeconds,
        streams: scaledLimit('streams'),
        subscriptions: scaledLimit('subscriptions'),
        messages: scaledLimit('messages'),
        inFlight: scaledLimit('inFlight'),
        rpcBytes: scaledLimit('rpcBytes'),
        priority: true,
      };
    },
  };
}

/** A number of steps beyond every configured limit. */
const MAX_STEPS = 10_000_000n;

/** A proven identity, counted as such from every address. Their number is bounded, so each always has a window. */
export interface Principal {
  readonly id: string;
  readonly tier: Tier;
  readonly key: string | undefined;
  /** The wallet whose stake it has the tier of; undefined if it has that of its key. */
  readonly wallet?: string;
  readonly perIpLimit: number | undefined;
}
