import type { Clock } from '../../domain/clock.ts';

/** Who can't take a frame for this long is let go. */
const SLOW_MS = 3000;

/** How long a slow reader may take to hear why it is let go. */
const LINGER_MS = 1000;

/**
 * The readers that frames are dropped for. One that is slow for too long is let go: told why as soon as it has taken
 * all that waits, since behind anything else the engine would drop the goodbye, or keep the connection for as long as
 * it likes, and closed after a while if that doesn't come.
 */
export class SlowReaders<Reader extends { close(): void }> {
  readonly #clock: Clock;
  readonly #sinceMs = new Map<Reader, number>();
  readonly #letGo = new Set<Reader>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** A frame was dropped for it. */
  mark(reader: Reader): void {
    if (this.#letGo.has(reader) || this.#sinceMs.has(reader)) return;
    this.#sinceMs.set(reader, this.#clock.monotonic());
  }

  /** It has taken all that waited. False when it is let go: what is left to say is goodbye. */
  drained(reader: Reader): boolean {
    this.#sinceMs.delete(reader);
    return !this.#letGo.has(reader);
  }

  /** Lets go of those that were slow for too long. */
  letGo(): void {
    const nowMs = this.#clock.monotonic();
    for (const [reader, sinceMs] of this.#sinceMs) {
      if (nowMs - sinceMs < SLOW_MS) continue;
      this.#sinceMs.delete(reader);
      this.#letGo.add(reader);
      this.#clock.after(LINGER_MS, () => this.#letGo.has(reader) && reader.close());
    }
  }

  /** It is closed. */
  forget(reader: Reader): void {
    this.#sinceMs.delete(reader);
    this.#letGo.delete(reader);
  }
}
