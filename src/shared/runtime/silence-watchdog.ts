import type { Clock } from '../domain/clock.ts';
import { afterReading } from './after-reading.ts';

export interface SilenceWatchdogOptions {
  readonly clock: Clock;
  readonly silenceMs: number;
  /** Called once, when nothing has arrived for `silenceMs`. */
  onSilence(): void;
}

/** Reports a peer's silence, measured from its last message. */
export class SilenceWatchdog {
  readonly #options: SilenceWatchdogOptions;
  #lastMessageMs = 0;
  #isPaused = false;
  #cancel: (() => void) | undefined;

  constructor(options: SilenceWatchdogOptions) {
    this.#options = options;
  }

  /** Starts to count silence from now on. Does nothing after the first call. */
  start(): void {
    if (this.#cancel !== undefined) return;
    this.onMessage();
    this.#check();
  }

  onMessage(): void {
    this.#lastMessageMs = this.#options.clock.monotonic();
  }

  /** Stops and resumes counting: while the receiver itself reads nothing, there is no silence. */
  setPaused(isPaused: boolean): void {
    this.#isPaused = isPaused;
    this.onMessage();
  }

  stop(): void {
    this.#cancel?.();
  }

  #check(): void {
    const { clock, silenceMs, onSilence } = this.#options;
    const silentMs = this.#isPaused ? 0 : clock.monotonic() - this.#lastMessageMs;
    if (silentMs >= silenceMs) onSilence();
    else this.#cancel = afterReading(clock, silenceMs - silentMs, () => this.#check());
  }
}
