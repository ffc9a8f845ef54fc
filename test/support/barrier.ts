import { get, type IncomingMessage } from 'node:http';

/**
 * Rounds until everything is handled: after one round the gateway has read what the kernel had, after the next it has
 * answered.
 */
const ROUNDS = 3;

/** The loopback addresses that probes come from, in turn. */
const ADDRESSES = 250;

/**
 * Resolves when a gateway has handled everything written to its sockets before: it answers a probe after what came
 * earlier. Answers that need a node are not waited for.
 */
export class ReadBarrier {
  readonly #url: string;
  #lastProbe: Promise<void> = Promise.resolve();
  #nextRound: Promise<void> | undefined;
  #probes = 0;

  constructor(url: string) {
    this.#url = new URL('/api/v1/health', url).href;
  }

  async wait(): Promise<void> {
    for (let round = 0; round < ROUNDS; round++) await this.#round();
  }

  /** Shares one probe among all that wait at the same time; it is sent after the last of them began to wait. */
  #round(): Promise<void> {
    this.#nextRound ??= this.#lastProbe.then(() => {
      this.#nextRound = undefined;
      this.#lastProbe = this.#probe();
      return this.#lastProbe;
    });
    return this.#nextRound;
  }

  /**
   * Sends a probe over a new connection: libuv accepts one a turn of the event loop, in their order, so all older ones
   * were accepted before. It comes from one of many addresses, since each may open few connections a second.
   */
  #probe(): Promise<void> {
    this.#probes++;
    const options = { agent: false, localAddress: `127.255.0.${1 + (this.#probes % ADDRESSES)}` };
    return new Promise((resolve, reject) => {
      const onResponse = (response: IncomingMessage): void =>
        void response.on('end', resolve).on('error', reject).resume();
      get(this.#url, options, onResponse).on('error', reject);
    });
  }
}
