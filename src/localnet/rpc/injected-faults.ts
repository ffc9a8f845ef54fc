/**
 * Faults that a test injects. A plain object that the server reads at each request and each message, so that a change
 * takes effect at once; the server decrements the counters.
 */
export interface InjectedFaults {
  /** Number of next HTTP requests that are answered with status 429. */
  rateLimitedRequests: number;
  /** Seconds of the `Retry-After` header of those. */
  retryAfterSeconds: number | undefined;
  /** Number of next calls naming a slot or an account that are answered with error -32016. */
  minContextSlotFailures: number;
  /** Number of newest confirmed blocks that are answered with error -32014: their statuses are not written yet. */
  blocksWithoutStatus: number;
  /** Milliseconds before an HTTP request is processed. */
  delayMs: number;
  /** Number added to every slot that the node reports, over HTTP and WebSocket. */
  slotSkew: number;
  /** True while WebSockets stay open without any message or pong. */
  isSilent: boolean;
}

/** Creates the state without faults. */
export const noFaults = (): InjectedFaults => ({
  rateLimitedRequests: 0,
  retryAfterSeconds: undefined,
  minContextSlotFailures: 0,
  blocksWithoutStatus: 0,
  delayMs: 0,
  slotSkew: 0,
  isSilent: false,
});
