/** Work that can be put aside: it yields about every {@link YIELD_EVERY_BYTES} bytes that it has gone through. */
export type YieldingWork<T> = Generator<void, T>;

/** So much of a text is gone through at a time: about a millisecond's work. */
export const YIELD_EVERY_BYTES = 256 * 1024;

/** Lets everything else that waits for the event loop go first. */
export const yieldToEventLoop = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Does the work without a rest: for what is known to be short. */
export function runSync<T>(work: YieldingWork<T>): T {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
  }
}

/** Does the work with a turn for everybody else between any two steps. */
export async function runYielding<T>(work: YieldingWork<T>, yieldTurn = yieldToEventLoop): Promise<T> {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
    await yieldTurn();
  }
}
