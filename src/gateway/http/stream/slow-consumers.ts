import type { Clock } from '../../../shared/domain/clock.ts';

/** The time after which a connection that still can't receive frames is closed. */
const MAX_SLOW_MS = 3000;

/** The time that a slow connection has to drain and receive its close frame. */
const CLOSE_TIMEOUT_MS = 1000;

/**
 * The connections for which frames are dropped. One that is slow for too long gets a close frame once its buffer is
 * empty, since the engine would drop a close frame behind unsent data or keep the connection open. If the buffer does
 * not drain in time the connection is cut.
 */
export class SlowConsumers<Consumer extends { close(): void }> {
  readonly #clock: Clock;
  readonly #slowSinceMs = new Map<Consumer, number>();
  readonly #closing = new Set<Consumer>();
  dropped = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  recordDrop(consumer: Consumer): void {
    this.dropped++;
    if (this.#closing.has(consumer) || this.#slowSinceMs.has(consumer)) return;
    this.#slowSinceMs.set(consumer, this.#clock.monotonic());
  }

  /** Records that a connection has received all that was buffered. Returns false if it must be closed now. */
  recordDrain(consumer: Consumer): boolean {
    this.#slowSinceMs.delete(consumer);
    return !this.#closing.has(consumer);
  }

  closeExpired(): void {
    const nowMs = this.#clock.monotonic();
    for (const [consumer, sinceMs] of this.#slowSinceMs) {
      if (nowMs - sinceMs < MAX_SLOW_MS) continue;
      this.beginClose(consumer);
    }
  }

  /** Gives a connection the time to drain and to receive its close frame, then cuts it. */
  beginClose(consumer: Consumer): void {
    this.#slowSinceMs.delete(consumer);
    this.#closing.add(consumer);
    this.#clock.after(CLOSE_TIMEOUT_MS, () => this.#closing.has(consumer) && consumer.close());
  }

  remove(consumer: Consumer): void {
    this.#slowSinceMs.delete(consumer);
    this.#closing.delete(consumer);
  }
}
