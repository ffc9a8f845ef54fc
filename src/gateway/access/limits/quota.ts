/** The quota left to a caller. The limiter's next call overwrites it: read it in the same turn, keep nothing. */
export interface Quota {
  readonly allowed: boolean;
  /** What the request costs. */
  readonly units: number;
  /** Whether the caller's address is counted, and not its key or wallet. */
  readonly isByAddress: boolean;
  readonly limit: number;
  /** The units that are left; 0 in debt. */
  readonly remaining: number;
  /**
   * Unix time in whole seconds at which units are available again: the full limit where there is no debt, else what the
   * request costs.
   */
  readonly reset: number;
  /** Whole seconds until then, at least 1. */
  readonly retryAfter: number;
}

/** The figures of a quota in each response. */
export type QuotaFigures = Pick<Quota, 'limit' | 'remaining' | 'reset'>;
