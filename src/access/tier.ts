/** How much an identity may do. */
export interface Tier {
  readonly requests: number;
  /** For so many requests. */
  readonly windowSeconds: number;
  /** WebSocket connections at one time. */
  readonly streams: number;
  /** Account subscriptions on each of them. */
  readonly subscriptions: number;
  /** Messages a second that it may send, over all of them. */
  readonly messages: number;
  /** Requests that may be bound for the upstream at one time. */
  readonly inFlight: number;
  /** Whether its requests go before those of others where there is a line. */
  readonly priority: boolean;
}

/**
 * One who proved who it is, by a key or a wallet: it is counted as itself wherever it comes from. There are only as
 * many as keys were issued and holdings are known, so none of them is ever without a place.
 */
export interface Account {
  /** Differs from every {@link Identity} that is an address. */
  readonly id: string;
  readonly tier: Tier;
  /** The id of its API key, if that is how it came. */
  readonly key: string | undefined;
  /** How many of its requests in a window may come from one address. */
  readonly perIpLimit: number | undefined;
}
