/** Settings under which one machine may open very many connections and subscriptions, and be slow to serve them. */
export const MANY_SUBSCRIPTIONS: readonly string[] = [
  'limits.free.streams=100000',
  'limits.free.subscriptions=100000',
  'limits.free.messages=100000',
  'limits.free.inFlight=10000',
  'limits.inFlight=10000',
  'limits.loopDelayMs=60000',
];
