import type { Clock } from '../shared/domain/clock.ts';

/** The most messages in a second; the gateway refuses messages beyond ten. */
const MAX_MESSAGES = 8;
const WINDOW_MS = 1000;

export class SendThrottle {
  readonly #clock: Clock;
  readonly #sendNext: () => boolean;
  #sentMs: number[] = [];
  #cancelTimer: (() => void) | undefined;
  #isScheduled = false;
  #isClosed = false;

  /** `sendNext` makes and sends the next message; it returns false if there is none. */
  constructor(clock: Clock, sendNext: () => boolean) {
    this.#clock = clock;
    this.#sendNext = sendNext;
  }

  /** Sends what there is to send as soon as the limit allows, and not before the caller's code has run to its end. */
  schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    queueMicrotask(() => this.#flush());
  }

  close(): void {
    this.#isClosed = true;
    this.#cancelTimer?.();
  }

  #flush(): void {
    if (this.#isClosed) return;
    const nowMs = this.#clock.monotonic();
    this.#sentMs = this.#sentMs.filter((sentMs) => nowMs - sentMs < WINDOW_MS);
    while (this.#sentMs.length < MAX_MESSAGES) {
      if (!this.#sendNext()) {
        this.#isScheduled = false;
        return;
      }
      this.#sentMs.push(nowMs);
    }
    const [oldest = nowMs] = this.#sentMs;
    this.#cancelTimer = this.#clock.after(oldest + WINDOW_MS - nowMs, () => this.#flush());
  }
}
