export interface AlertOptions {
  onFiring(reason: string): void;
  onResolved(): void;
}

/** Checks in a row that must find a problem until it fires, and that must find none until it is resolved. */
const CHECKS_TO_FIRE = 2;
const CHECKS_TO_RESOLVE = 3;

/** Several checks in a row count, so that what comes and goes fills no log (Prometheus: `for`, `keep_firing_for`). */
export class Alert {
  readonly #options: AlertOptions;
  #isFiring = false;
  /** Checks in a row whose result differs from {@link #isFiring}. */
  #differing = 0;

  constructor(options: AlertOptions) {
    this.#options = options;
  }

  check(reason: string | undefined): void {
    if ((reason !== undefined) === this.#isFiring) this.#differing = 0;
    else if (++this.#differing < (this.#isFiring ? CHECKS_TO_RESOLVE : CHECKS_TO_FIRE)) return;
    else if (reason !== undefined) this.fire(reason);
    else {
      this.#differing = 0;
      this.#isFiring = false;
      this.#options.onResolved();
    }
  }

  /** Fires without further checks, unless it fires already. */
  fire(reason: string): void {
    if (!this.#isFiring) this.escalate(reason);
  }

  /** Fires without further checks, also in place of another problem. */
  escalate(reason: string): void {
    this.#differing = 0;
    this.#isFiring = true;
    this.#options.onFiring(reason);
  }
}
