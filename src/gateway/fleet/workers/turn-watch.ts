import type { Clock } from '../../../shared/domain/clock.ts';

/** The most requests of one turn of the event loop between two catch-ups. */
const MAX_REQUESTS = 32;

/** In milliseconds, less than a client's round trip: a request may arrive, or the process be stopped, in a turn. */
const MAX_AGE_MS = 0.1;

/**
 * Returns what is called with each request. It catches up with the log before the first request of each turn of the event
 * loop, and again as the turn goes on. So whatever the sender of a request had seen from another worker is seen here, too.
 */
export function createTurnWatch(catchUp: () => void, clock: Pick<Clock, 'monotonic'>): () => void {
  let requests = 0;
  let caughtUpMs = 0;
  const endTurn = (): void => {
    requests = 0;
  };
  return () => {
    const nowMs = clock.monotonic();
    if (requests > 0 && requests++ < MAX_REQUESTS && nowMs - caughtUpMs <= MAX_AGE_MS) return;
    if (requests === 0) setImmediate(endTurn);
    requests = 1;
    caughtUpMs = nowMs;
    catchUp();
  };
}
