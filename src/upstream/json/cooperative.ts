/** Work that yields about every {@link YIELD_EVERY_BYTES} bytes that it has scanned. */
export type YieldingWork<T> = Generator<void, T>;

/** Bytes scanned in one turn of the event loop: about a millisecond's work. */
export const YIELD_EVERY_BYTES = 256 * 1024;

/** Resolves in a later turn of the event loop, after everything that waits for it. */
export const yieldToEventLoop = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Runs short work in one go. */
export function runSync<T>(work: YieldingWork<T>): T {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
  }
}

/** Runs long work and yields to the event loop between its steps. */
export async function runYielding<T>(work: YieldingWork<T>, yieldTurn = yieldToEventLoop): Promise<T> {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
    await yieldTurn();
  }
}
