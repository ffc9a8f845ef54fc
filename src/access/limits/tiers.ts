import type { RateLimit } from './fixed-windows.ts';

/** What an identity may do at most. */
export interface TierLimits {
  /** In one window. */
  readonly requests: number;
  /** WebSocket connections at one time. */
  readonly streams: number;
  /** Account subscriptions on each of them. */
  readonly subscriptions: number;
  /** Messages a second that it may send, over all of them. */
  readonly messages: number;
  /** Requests that may be bound for the upstream at one time. */
  readonly inFlight: number;
}

/** How much an identity may do. */
export interface Tier extends TierLimits, RateLimit {
  /** Its requests go before those of others where there is a line. */
  readonly priority: boolean;
}

/** The tiers, as a configuration has them. */
export interface TierSettings {
  readonly free: TierLimits & RateLimit;
  readonly build: TierLimits & RateLimit;
  readonly scale: TierLimits & RateLimit;
  /** The bound of what a wallet gets for its steps. */
  readonly staked: TierLimits;
}

export interface Tiers {
  readonly free: Tier;
  readonly build: Tier;
  readonly scale: Tier;
  /** The tier of a wallet that holds so many steps, at least one: the free tier once more for each, up to a bound. */
  staked(steps: bigint): Tier;
}

export function tiersOf({ free, build, scale, staked }: TierSettings): Tiers {
  return {
    free: { ...free, priority: false },
    build: { ...build, priority: false },
    scale: { ...scale, priority: true },
    staked(steps) {
      const multiple = Number(steps < MAX_STEPS ? steps : MAX_STEPS) + 1;
      const scaledLimit = (name: keyof TierLimits): number => Math.min(staked[name], free[name] * multiple);
      return {
        requests: scaledLimit('requests'),
        windowSeconds: free.windowSeconds,
        streams: scaledLimit('streams'),
        subscriptions: scaledLimit('subscriptions'),
        messages: scaledLimit('messages'),
        inFlight: scaledLimit('inFlight'),
        priority: true,
      };
    },
  };
}

/** More steps than any bound can tell apart. */
const MAX_STEPS = 10_000_000n;

/**
 * One who proved who it is, by a key or a wallet: it is counted as itself wherever it comes from. There are only as
 * many as keys were issued and holdings are known, so none of them is ever without a place.
 */
export interface Principal {
  /** Differs from every identity that is an address. */
  readonly id: string;
  readonly tier: Tier;
  /** The id of its API key, if that is how it came. */
  readonly key: string | undefined;
  /** How many of its requests in a window may come from one address. */
  readonly perIpLimit: number | undefined;
}
