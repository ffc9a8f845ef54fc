import { GatewayError } from '../../domain/error.ts';

/** Lets so many pieces of work run at once and so many more wait in line, first come, first served. */
export class Gate {
  readonly #queue: number;
  readonly #waiting = new Set<() => void>(); // a Set keeps its order and forgets from the middle
  #free: number;

  constructor(width: number, queue: number) {
    this.#free = width;
    this.#queue = queue;
  }

  /** Throws `overloaded` when the line is full, and the signal's reason when it comes while waiting. */
  async run<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    await this.#enter(signal);
    try {
      return await work();
    } finally {
      this.#leave();
    }
  }

  async #enter(signal: AbortSignal): Promise<void> {
    if (this.#free > 0) {
      this.#free--;
      return;
    }
    if (this.#waiting.size >= this.#queue) throw new GatewayError('overloaded', 'too many requests are waiting');
    await new Promise<void>((resolve, reject) => {
      const go = () => {
        signal.removeEventListener('abort', giveUp);
        resolve();
      };
      const giveUp = () => {
        this.#waiting.delete(go);
        reject(signal.reason);
      };
      this.#waiting.add(go);
      signal.addEventListener('abort', giveUp);
    });
  }

  /** The place goes to the next in line without ever being free, so that nobody can slip in between. */
  #leave(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#free++;
    } else {
      this.#waiting.delete(next);
      next();
    }
  }
}
