/**
 * Returns the number of I/O events that the event loop has handled. Those of the turn under way count from its end: a turn
 * has one for each socket that had something to read.
 */
export const polledEvents = (): number => performance.nodeTiming.uvMetricsInfo.events;
