/** The most requests of one turn of the event loop between two looks. */
const MAX_REQUESTS = 32;

/**
 * Looks for news before the first request of each turn of the event loop, and again after some more of it. A request that
 * is handled in a turn was sent before it: so whatever its sender had seen by then is seen here, too.
 */
export class TurnWatch {
  readonly #look: () => void;
  #requests = 0;

  constructor(look: () => void) {
    this.#look = look;
  }

  /** Called with each request. */
  readonly check = (): void => {
    if (this.#requests > 0 && this.#requests < MAX_REQUESTS) {
      this.#requests++;
      return;
    }
    if (this.#requests === 0) setImmediate(this.#endTurn);
    this.#requests = 1;
    this.#look();
  };

  readonly #endTurn = (): void => {
    this.#requests = 0;
  };
}
