import type { Clock } from '../../domain/clock.ts';
import type { Chain } from '../bank/chain.ts';

/** Behind by more slots than this (a machine that slept), the missed slots stay empty. */
const MAX_CATCH_UP = 128;

/** Makes slots pass on a chain as time does. */
export class Pacer {
  readonly #clock: Clock;
  readonly #chain: Chain;
  #lag = 0;
  #running = false;
  #cancelTimer: (() => void) | undefined;

  constructor(clock: Clock, chain: Chain) {
    this.#clock = clock;
    this.#chain = chain;
  }

  /** Follows the clock until {@link stop}. */
  start(): void {
    this.stop();
    this.#running = true;
    this.#follow();
  }

  stop(): void {
    this.#running = false;
    this.#cancelTimer?.();
  }

  /** Makes no more blocks. */
  pause(): void {
    this.#chain.time.pause();
  }

  /** Goes on where {@link pause} stopped: the slots between are not made up for. */
  resume(): void {
    this.#chain.time.resume();
    if (this.#running) this.start();
  }

  /** Falls `slots` behind the clock by standing still, as a node that lags; 0 catches up at once. */
  lag(slots: number): void {
    this.#lag = slots;
    if (this.#running) this.start();
  }

  #follow(): void {
    const { time } = this.#chain;
    if (time.paused) return;
    const now = time.now();
    const due = now - this.#lag;
    if (due - this.#chain.making > MAX_CATCH_UP) this.#chain.leap(due);
    while (this.#chain.making < due) this.#chain.tick();
    this.#cancelTimer = this.#clock.after(time.until(now + 1), () => this.#follow());
  }
}
