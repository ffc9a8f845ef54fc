/**
 * Rounds until everything is handled: after one round the gateway has read what the kernel had, after the next it has
 * answered.
 */
const ROUNDS = 3;

/**
 * Resolves when a gateway has handled everything written to its sockets before: it answers a probe after what came
 * earlier. Answers that need a node are not waited for.
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

  /** Shares one probe among all who wait at the same time; it is sent after the last of them began to wait. */
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
