/**
 * What a test makes the node do wrong. A plain object that the server reads at each request and each message, so that
 * a change takes effect at once; the server counts the counters down.
 */
export interface InjectedFaults {
  /** So many more HTTP requests are answered with status 429. */
  rateLimitedRequests: number;
  /** Seconds for the `Retry-After` header of those. */
  retryAfterSeconds: number | undefined;
  /** So many more calls that name a slot or an account are answered with error -32016. */
  minContextSlotFailures: number;
  /** So many of the newest confirmed blocks are answered with error -32014: not all about them is written down yet. */
  blocksWithoutStatus: number;
  /** Milliseconds before an HTTP request is looked at. */
  delayMs: number;
  /** Added to every slot that the node tells of, over HTTP and WebSocket. */
  slotSkew: number;
  /** WebSockets stay open, but nothing is sent and no ping is answered. */
  isSilent: boolean;
}

/** A node that does all right. */
export const noFaults = (): InjectedFaults => ({
  rateLimitedRequests: 0,
  retryAfterSeconds: undefined,
  minContextSlotFailures: 0,
  blocksWithoutStatus: 0,
  delayMs: 0,
  slotSkew: 0,
  isSilent: false,
});
