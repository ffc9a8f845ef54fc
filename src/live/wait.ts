import type { Clock } from '../domain/clock.ts';

/** What others wait for while something is under way: until it is done or given up, and never longer than it is worth. */
export class Wait {
  /** Never rejects. */
  readonly over: Promise<void>;
  #end = (): void => {};

  constructor(clock: Clock, mostMs: number) {
    this.over = new Promise((resolve) => {
      const cancel = clock.after(mostMs, resolve);
      this.#end = () => {
        cancel();
        resolve();
      };
    });
  }

  end(): void {
    this.#end();
  }
}
