/** The quota left to a caller. The limiter's next call overwrites it: read it in the same turn, keep nothing. */
export interface Quota {
  readonly allowed: boolean;
  readonly units: number;
  /** Whether the caller's address is counted, and not its key or wallet. */
  readonly isByAddress: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** Unix time in whole seconds at which the full limit, or in debt what the request costs, is available again. */
  readonly reset: number;
  /** Whole seconds until then, at least 1. */
  readonly retryAfter: number;
}

export type QuotaFigures = Pick<Quota, 'limit' | 'remaining' | 'reset'>;
