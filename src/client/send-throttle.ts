import type { Clock } from '../domain/clock.ts';

/** The most messages in a second; the gateway closes a stream that sends more than ten. */
const MAX_MESSAGES = 8;
const WINDOW_MS = 1000;

/** A queue that sends messages in order, within the gateway's limit. */
export class SendThrottle {
  readonly #clock: Clock;
  readonly #send: (message: string) => void;
  readonly #queue: string[] = [];
  #sentMs: number[] = [];
  #cancelTimer: (() => void) | undefined;

  constructor(clock: Clock, send: (message: string) => void) {
    this.#clock = clock;
    this.#send = send;
  }

  /** Sends a message as soon as the limit allows. */
  enqueue(message: string): void {
    this.#queue.push(message);
    if (this.#cancelTimer === undefined) this.#flush();
  }

  /** Drops the messages that were not sent. */
  close(): void {
    this.#queue.length = 0;
    this.#cancelTimer?.();
  }

  #flush(): void {
    this.#cancelTimer = undefined;
    const nowMs = this.#clock.monotonic();
    this.#sentMs = this.#sentMs.filter((sentMs) => nowMs - sentMs < WINDOW_MS);
    for (const message of this.#queue.splice(0, MAX_MESSAGES - this.#sentMs.length)) {
      this.#sentMs.push(nowMs);
      this.#send(message);
    }
    const [oldest] = this.#sentMs;
    if (this.#queue.length === 0 || oldest === undefined) return;
    this.#cancelTimer = this.#clock.after(oldest + WINDOW_MS - nowMs, () => this.#flush());
  }
}
