import type { Clock } from '../shared/domain/clock.ts';
import type { Chain } from './bank/chain.ts';

/** Slots that are caught up with at most; beyond (a machine that slept), the missed slots stay empty. */
const MAX_CATCH_UP_SLOTS = 128;

/** Produces blocks on a chain as time passes. */
export class SlotTicker {
  readonly #clock: Clock;
  readonly #chain: Chain;
  #lagSlots = 0;
  #isRunning = false;
  #cancelTimer: (() => void) | undefined;

  constructor(clock: Clock, chain: Chain) {
    this.#clock = clock;
    this.#chain = chain;
  }

  /** Follows the clock until {@link stop}. */
  start(): void {
    this.stop();
    this.#isRunning = true;
    this.#catchUp();
  }

  stop(): void {
    this.#isRunning = false;
    this.#cancelTimer?.();
  }

  pause(): void {
    this.#chain.slotClock.pause();
  }

  /** Continues where {@link pause} stopped, without the slots between. */
  resume(): void {
    this.#chain.slotClock.resume();
    if (this.#isRunning) this.start();
  }

  /** Lags the clock by `slots`, as a slow node does; 0 catches up immediately. */
  lagBehind(slots: number): void {
    this.#lagSlots = slots;
    if (this.#isRunning) this.start();
  }

  #catchUp(): void {
    const { slotClock } = this.#chain;
    if (slotClock.isPaused) return;
    const now = slotClock.currentSlot();
    const dueSlot = now - this.#lagSlots;
    if (dueSlot - this.#chain.workingSlot > MAX_CATCH_UP_SLOTS) this.#chain.warpTo(dueSlot);
    while (this.#chain.workingSlot < dueSlot) this.#chain.produceBlock();
    this.#cancelTimer = this.#clock.after(slotClock.msUntil(now + 1), () => this.#catchUp());
  }
}
