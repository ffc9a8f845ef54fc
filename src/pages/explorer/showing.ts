/** Work that is done each `ms` milliseconds while a view is shown. */
export const each =
  (ms: number, work: () => unknown): (() => () => void) =>
  () => {
    const timer = setInterval(work, ms);
    return () => clearInterval(timer);
  };

/** What a view does while it is shown: work begins now, ends when the view is left, and begins again when Back shows it; or when nobody sees it. */
export class Showing {
  readonly #works: (() => () => void)[] = [];
  /** How to end the work under way; undefined while there is none. */
  #stops: (() => void)[] | undefined = [];
  #isShown = true;

  get isShown(): boolean {
    return this.#isShown;
  }

  /** `work` returns how to end it. */
  add(work: () => () => void): void {
    this.#works.push(work);
    this.#stops?.push(work());
  }

  start(): void {
    this.#isShown = true;
    this.#stops ??= this.#works.map((work) => work());
  }

  stop(): void {
    this.#isShown = false;
    this.pause();
  }

  /** Ends the work of a view that stays. */
  pause(): void {
    for (const stop of this.#stops ?? []) stop();
    this.#stops = undefined;
  }
}
