import type { Clock } from '../domain/clock.ts';

/** The gateway closes a stream on which more than ten messages come in a second. */
const MOST = 8;
const WINDOW_MS = 1000;

/** Sends messages in order, no faster than the gateway takes them. */
export class Outbox {
  readonly #clock: Clock;
  readonly #send: (message: string) => void;
  readonly #waiting: string[] = [];
  #sentMs: number[] = [];
  #cancel: (() => void) | undefined;

  constructor(clock: Clock, send: (message: string) => void) {
    this.#clock = clock;
    this.#send = send;
  }

  put(message: string): void {
    this.#waiting.push(message);
    if (this.#cancel === undefined) this.#flush();
  }

  /** Forgets what was not sent. */
  close(): void {
    this.#waiting.length = 0;
    this.#cancel?.();
  }

  #flush(): void {
    this.#cancel = undefined;
    const nowMs = this.#clock.monotonic();
    this.#sentMs = this.#sentMs.filter((sentMs) => nowMs - sentMs < WINDOW_MS);
    for (const message of this.#waiting.splice(0, MOST - this.#sentMs.length)) {
      this.#sentMs.push(nowMs);
      this.#send(message);
    }
    const [oldest] = this.#sentMs;
    if (this.#waiting.length === 0 || oldest === undefined) return;
    this.#cancel = this.#clock.after(oldest + WINDOW_MS - nowMs, () => this.#flush());
  }
}
