/** As `finally` does, of whose five promises it makes one. What the work throws is a rejection. */
export function runThen<T>(work: () => Promise<T>, end: () => unknown): Promise<T> {
  return startOf(work).then(
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

function startOf<T>(work: () => Promise<T>): Promise<T> {
  try {
    return work();
  } catch (thrown) {
    return Promise.reject(thrown);
  }
}
