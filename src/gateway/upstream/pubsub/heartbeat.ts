import type { Clock } from '../../../shared/domain/clock.ts';
import { afterReading } from '../../../shared/runtime/after-reading.ts';
import { SilenceWatchdog } from '../../../shared/runtime/silence-watchdog.ts';

export interface HeartbeatOptions {
  readonly clock: Clock;
  readonly pingMs: number;
  readonly silenceMs: number;
  sendPing(): void;
  onDead(reason: string): void;
}

/** Checks that the peer of a connection is alive: that it answers each ping before the next, and doesn't fall silent. */
export class Heartbeat {
  readonly #options: HeartbeatOptions;
  readonly #watchdog: SilenceWatchdog;
  #cancelPing = (): void => {};
  #isPongReceived = false;
  #isPaused = false;

  constructor(options: HeartbeatOptions) {
    const { clock, silenceMs, onDead } = options;
    this.#options = options;
    this.#watchdog = new SilenceWatchdog({ clock, silenceMs, onSilence: () => onDead('fell silent') });
  }

  start(): void {
    const { clock, pingMs, sendPing, onDead } = this.#options;
    this.#isPongReceived = false;
    sendPing();
    this.#cancelPing = afterReading(clock, pingMs, () => {
      if (this.#isPongReceived || this.#isPaused) this.start();
      else onDead('left a ping unanswered');
    });
  }

  /** Counts silence from now on. */
  expectTraffic(): void {
    this.#watchdog.start();
  }

  onTraffic(): void {
    this.#watchdog.onMessage();
  }

  onPong(): void {
    this.#isPongReceived = true;
  }

  /** Stops and resumes counting silence: while reading is paused, no traffic can arrive. */
  setPaused(isPaused: boolean): void {
    this.#isPaused = isPaused;
    this.#watchdog.setPaused(isPaused);
  }

  stop(): void {
    this.#cancelPing();
    this.#watchdog.stop();
  }
}
