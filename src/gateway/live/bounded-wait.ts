import type { Clock } from '../../shared/domain/clock.ts';

/** A promise that resolves when {@link finish} is called, at the latest after `maxMs` milliseconds. */
export class BoundedWait {
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
