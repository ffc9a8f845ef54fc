import type { Clock } from '../../domain/clock.ts';

/** Who can't take a frame for this long is let go. */
const MAX_SLOW_MS = 3000;

/** How long a slow reader may take to hear why it is let go. */
const CLOSE_TIMEOUT_MS = 1000;

/**
 * The readers that frames are dropped for. One that is slow for too long is let go: told why as soon as it has taken
 * all that waits, since behind anything else the engine would drop the goodbye, or keep the connection for as long as
 * it likes, and closed after a while if that doesn't come.
 */
export class SlowConsumers<Reader extends { close(): void }> {
  readonly #clock: Clock;
  readonly #slowSinceMs = new Map<Reader, number>();
  readonly #letGo = new Set<Reader>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** A frame was dropped for it. */
  recordDrop(consumer: Reader): void {
    if (this.#letGo.has(consumer) || this.#slowSinceMs.has(consumer)) return;
    this.#slowSinceMs.set(consumer, this.#clock.monotonic());
  }

  /** It has taken all that waited. False when it is let go: what is left to say is goodbye. */
  recordDrain(consumer: Reader): boolean {
    this.#slowSinceMs.delete(consumer);
    return !this.#letGo.has(consumer);
  }

  /** Lets go of those that were slow for too long. */
  letGo(): void {
    const nowMs = this.#clock.monotonic();
    for (const [consumer, sinceMs] of this.#slowSinceMs) {
      if (nowMs - sinceMs < MAX_SLOW_MS) continue;
      this.#slowSinceMs.delete(consumer);
      this.#letGo.add(consumer);
      this.#clock.after(CLOSE_TIMEOUT_MS, () => this.#letGo.has(consumer) && consumer.close());
    }
  }

  /** It is closed. */
  remove(consumer: Reader): void {
    this.#slowSinceMs.delete(consumer);
    this.#letGo.delete(consumer);
  }
}
