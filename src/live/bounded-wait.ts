import type { Clock } from '../domain/clock.ts';

/** What others wait for while something is under way: until it is done or given up, and never longer than it is worth. */
export class BoundedWait {
  /** Never rejects. */
  readonly done: Promise<void>;
  #finish = (): void => {};

  constructor(clock: Clock, maxMs: number) {
    this.done = new Promise((resolve) => {
      const cancel = clock.after(maxMs, resolve);
      this.#finish = () => {
        cancel();
        resolve();
      };
    });
  }

  finish(): void {
    this.#finish();
  }
}
