/** What a gateway has got from the kernel it has read after one round, and answered after the next. */
const ROUNDS = 3;

/**
 * Tells when a gateway has dealt with all that had been written to its sockets, however long that takes it: it answers
 * a probe after what came before. What an answer needs from a node is not waited for.
 */
export class Fence {
  readonly #url: string;
  #asked: Promise<void> = Promise.resolve();
  #next: Promise<void> | undefined;

  constructor(url: string) {
    this.#url = new URL('/api/v1/health', url).href;
  }

  async pass(): Promise<void> {
    for (let round = 0; round < ROUNDS; round++) await this.#round();
  }

  /** Those who wait at the same time share a probe, which is sent after all of them began to wait. */
  #round(): Promise<void> {
    this.#next ??= this.#asked.then(() => {
      this.#next = undefined;
      this.#asked = this.#probe();
      return this.#asked;
    });
    return this.#next;
  }

  async #probe(): Promise<void> {
    const response = await fetch(this.#url);
    await response.arrayBuffer();
  }
}
