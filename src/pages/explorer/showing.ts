/** What a view does while it is shown: work begins now, ends when the view is left, and begins again when Back shows it. */
export class Showing {
  readonly #works: (() => () => void)[] = [];
  /** How to end the work under way; undefined while the view is left. */
  #stops: (() => void)[] | undefined = [];

  get isShown(): boolean {
    return this.#stops !== undefined;
  }

  /** `work` returns how to end it. */
  add(work: () => () => void): void {
    this.#works.push(work);
    this.#stops?.push(work());
  }

  start(): void {
    this.#stops = this.#works.map((work) => work());
  }

  stop(): void {
    for (const stop of this.#stops ?? []) stop();
    this.#stops = undefined;
  }
}
