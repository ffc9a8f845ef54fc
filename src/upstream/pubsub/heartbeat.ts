import type { Clock } from '../../domain/clock.ts';

export interface HeartbeatOptions {
  readonly clock: Clock;
  readonly pingMs: number;
  readonly silenceMs: number;
  /** Sends a ping. */
  sendPing(): void;
  /** The other end is as good as gone. */
  onDead(reason: string): void;
}

/** Watches that the other end of a connection lives: answers each ping before the next, and doesn't fall silent. */
export class Heartbeat {
  readonly #options: HeartbeatOptions;
  #cancelPing = (): void => {};
  #cancelSilence: (() => void) | undefined;
  #answered = false;
  #lastTrafficMs = 0;
  #isPaused = false;

  constructor(options: HeartbeatOptions) {
    this.#options = options;
  }

  /** Begins to send pings. */
  start(): void {
    const { clock, pingMs, sendPing, onDead } = this.#options;
    this.#answered = false;
    sendPing();
    this.#cancelPing = clock.after(pingMs, () => {
      if (this.#answered || this.#isPaused) this.start();
      else onDead('left a ping unanswered');
    });
  }

  /** From now on something is always to be heard. */
  expectTraffic(): void {
    if (this.#cancelSilence !== undefined) return;
    this.onTraffic();
    this.#watchSilence();
  }

  onTraffic(): void {
    this.#lastTrafficMs = this.#options.clock.monotonic();
  }

  answered(): void {
    this.#answered = true;
  }

  /** While we don't listen ourselves, nothing can be heard. */
  setPaused(isPaused: boolean): void {
    this.#isPaused = isPaused;
    this.onTraffic();
  }

  stop(): void {
    this.#cancelPing();
    this.#cancelSilence?.();
  }

  #watchSilence(): void {
    const { clock, silenceMs, onDead } = this.#options;
    const silentMs = this.#isPaused ? 0 : clock.monotonic() - this.#lastTrafficMs;
    if (silentMs >= silenceMs) onDead('fell silent');
    else this.#cancelSilence = clock.after(silenceMs - silentMs, () => this.#watchSilence());
  }
}
