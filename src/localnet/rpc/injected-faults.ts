/**
 * The answer to a subscription beyond the limit of a connection. `error`: agave's refusal. `close`: the connection ends
 * without a close frame, as with many providers. `late`: the acknowledgement comes {@link LATE_ACK_MS} later.
 */
export type SubscriptionRefusal = 'error' | 'close' | 'late';

/** Delay of a late acknowledgement in milliseconds: longer than a client waits. */
export const LATE_ACK_MS = 10_000;

/** The server reads them at each request and message, so a change takes effect immediately; it counts them down. */
export class InjectedFaults {
  /** Number of next HTTP requests that are answered with status 429. */
  rateLimitedRequests = 0;
  /** Seconds of the `Retry-After` header of those. */
  retryAfterSeconds: number | undefined;
  /** Number of next calls naming a slot or an account that are answered with error -32016. */
  minContextSlotFailures = 0;
  /** Number of newest confirmed blocks that are answered with error -32014: their statuses are not written yet. */
  blocksWithoutStatus = 0;
  /** Milliseconds before an HTTP request is processed. */
  delayMs = 0;
  /** Number added to every slot that the node reports, over HTTP and WebSocket. */
  slotSkew = 0;
  /** True while WebSockets stay open without any message or pong. */
  isSilent = false;
  /** Number of subscriptions that each WebSocket may have. */
  subscriptionLimit = Number.POSITIVE_INFINITY;
  /** What happens to a subscription beyond it. */
  subscriptionRefusal: SubscriptionRefusal = 'error';
}
