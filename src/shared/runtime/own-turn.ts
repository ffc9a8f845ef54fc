/** The last turn that was reserved. */
let last: Promise<void> = Promise.resolve();

/** However many callers have long work done in slices, a turn of the event loop holds one slice. */
export function ownTurn(): Promise<void> {
  last = last.then(() => new Promise((resolve) => setImmediate(resolve)));
  return last;
}
