/** What a gateway has got from the kernel it has read after one round, and answered after the next. */
const ROUNDS = 3;

/**
 * Tells when a gateway has dealt with all that had been written to its sockets, however long that takes it: it answers
 * a probe after what came before. What an answer needs from a node is not waited for.
 */
export class ReadBarrier {
  readonly #url: string;
  #lastProbe: Promise<void> = Promise.resolve();
  #nextRound: Promise<void> | undefined;

  constructor(url: string) {
    this.#url = new URL('/api/v1/health', url).href;
  }

  async wait(): Promise<void> {
    for (let round = 0; round < ROUNDS; round++) await this.#round();
  }

  /** Those who wait at the same time share a probe, which is sent after all of them began to wait. */
  #round(): Promise<void> {
    this.#nextRound ??= this.#lastProbe.then(() => {
      this.#nextRound = undefined;
      this.#lastProbe = this.#probe();
      return this.#lastProbe;
    });
    return this.#nextRound;
  }

  async #probe(): Promise<void> {
    const response = await fetch(this.#url);
    await response.arrayBuffer();
  }
}
