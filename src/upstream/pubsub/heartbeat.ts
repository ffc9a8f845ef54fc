import type { Clock } from '../../domain/clock.ts';

export interface HeartbeatOptions {
  readonly clock: Clock;
  readonly pingMs: number;
  readonly silenceMs: number;
  /** Sends a ping. */
  ping(): void;
  /** The other end is as good as gone. */
  lost(reason: string): void;
}

/** Watches that the other end of a connection lives: answers each ping before the next, and doesn't fall silent. */
export class Heartbeat {
  readonly #options: HeartbeatOptions;
  #cancelPing = (): void => {};
  #cancelSilence: (() => void) | undefined;
  #answered = false;
  #heardAt = 0;
  #deaf = false;

  constructor(options: HeartbeatOptions) {
    this.#options = options;
  }

  /** Begins to send pings. */
  start(): void {
    const { clock, pingMs, ping, lost } = this.#options;
    this.#answered = false;
    ping();
    this.#cancelPing = clock.after(pingMs, () => {
      if (this.#answered || this.#deaf) this.start();
      else lost('left a ping unanswered');
    });
  }

  /** From now on something is always to be heard. */
  expectWords(): void {
    if (this.#cancelSilence !== undefined) return;
    this.heard();
    this.#watch();
  }

  heard(): void {
    this.#heardAt = this.#options.clock.monotonic();
  }

  answered(): void {
    this.#answered = true;
  }

  /** While we don't listen ourselves, nothing can be heard. */
  setDeaf(deaf: boolean): void {
    this.#deaf = deaf;
    this.heard();
  }

  stop(): void {
    this.#cancelPing();
    this.#cancelSilence?.();
  }

  #watch(): void {
    const { clock, silenceMs, lost } = this.#options;
    const quietMs = this.#deaf ? 0 : clock.monotonic() - this.#heardAt;
    if (quietMs >= silenceMs) lost('fell silent');
    else this.#cancelSilence = clock.after(silenceMs - quietMs, () => this.#watch());
  }
}
