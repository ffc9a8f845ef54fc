import { started } from './waiter.ts';

/** As `finally` does, of whose five promises it makes one. What the work throws is a rejection. */
export function runThen<T>(work: () => Promise<T>, end: () => unknown): Promise<T> {
  return started(work).then(
    (value) => {
      end();
      return value;
    },
    (thrown: unknown) => {
      end();
      throw thrown;
    },
  );
}
