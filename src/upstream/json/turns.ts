/** Work that can be put aside: it yields about every {@link STRIDE} bytes that it has gone through. */
export type Steps<T> = Generator<void, T>;

/** So much of a text is gone through at a time: about a millisecond's work. */
export const STRIDE = 256 * 1024;

/** Lets everything else that waits for the event loop go first. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Does the work without a rest: for what is known to be short. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** Does the work with a turn for everybody else between any two steps. */
export async function inTurns<T>(steps: Steps<T>, turn = nextTurn): Promise<T> {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    await turn();
  }
}
