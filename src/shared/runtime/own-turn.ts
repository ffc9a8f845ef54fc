/** The last turn that was reserved. */
let last: Promise<void> = Promise.resolve();

/**
 * Resolves in a later turn of the event loop, of which nothing else that waits here has a part: however many callers have
 * long work done in slices, a turn holds one slice.
 */
export function ownTurn(): Promise<void> {
  last = last.then(() => new Promise((resolve) => setImmediate(resolve)));
  return last;
}
