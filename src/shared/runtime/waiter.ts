/** What waits for a value. It gets one outcome, in the call in which that is known. Neither function throws. */
export interface Waiter<T> {
  resolve(value: T): void;
  reject(reason: unknown): void;
}

/** Gives the outcome of work to its waiter. */
export function settle<T>(work: () => Promise<T>, waiter: Waiter<T>): void {
  started(work)
    .then((value) => waiter.resolve(value))
    .catch((thrown: unknown) => waiter.reject(thrown));
}

/** Returns a waiter that gives another one what `make` makes of its value: in the same call, unless that is a promise. */
export const making = <T, V>(make: (value: V) => T | Promise<T>, waiter: Waiter<T>): Waiter<V> => ({
  resolve(value) {
    let made: T | Promise<T>;
    try {
      made = make(value);
    } catch (thrown) {
      waiter.reject(thrown);
      return;
    }
    if (made instanceof Promise) settle(() => made, waiter);
    else waiter.resolve(made);
  },
  reject: (reason) => waiter.reject(reason),
});

/** Starts work. What it throws is a rejection. */
export function started<T>(work: () => Promise<T>): Promise<T> {
  try {
    return work();
  } catch (thrown) {
    return Promise.reject(thrown);
  }
}

/** Returns the promise of what `begin` returns, or gives to a waiter. */
export const promised = <T>(begin: (waiter: Waiter<T>) => T | undefined): Promise<T> =>
  new Promise((resolve, reject) => {
    const value = begin({ resolve, reject });
    if (value !== undefined) resolve(value);
  });

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
