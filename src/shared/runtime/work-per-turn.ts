/** Work that many may have in one call, such as the answers to all that wait for a slot: a turn of the event loop holds some. */
export class WorkPerTurn {
  readonly #most: number;
  readonly #queue: (() => void)[] = [];
  #done = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** Runs work, which throws nothing: in this call, if the turn has room. */
  run(work: () => void): void {
    if (this.#done === this.#most) {
      this.#queue.push(work);
      return;
    }
    if (this.#done++ === 0) setImmediate(this.#nextTurn);
    work();
  }

  readonly #nextTurn = (): void => {
    this.#done = 0;
    for (const work of this.#queue.splice(0, this.#most)) this.run(work);
  };
}
