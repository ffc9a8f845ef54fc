import type { PubsubSession } from '../upstream/pubsub/pubsub-session.ts';

/** What is watched, by what it takes of a connection. */
export interface Passenger {
  /** How many subscriptions it takes, as far as is known. */
  readonly places: number;
}

/** A connection that things of a kind are watched over. */
export interface Carrier<T> {
  readonly room: number;
  /** How many things it carries. */
  readonly size: number;
  add(passenger: T): void;
  remove(passenger: T): void;
}

/** The connections that things are watched over: as many as it takes, each opened when the others are full. */
export class Lines<T extends Passenger, L extends Carrier<T>> {
  readonly #open: () => Promise<PubsubSession>;
  readonly #watchOver: (line: PubsubSession) => L;
  readonly #lines = new Set<L>();
  readonly #waiting = new Set<T>();
  #isOpening = false;

  constructor(open: () => Promise<PubsubSession>, watchOver: (line: PubsubSession) => L) {
    this.#open = open;
    this.#watchOver = watchOver;
  }

  get all(): Iterable<L> {
    return this.#lines;
  }

  /** Finds a connection, now or as soon as there is one. No other has more room than an empty one. */
  add(passenger: T): void {
    for (const line of this.#lines) {
      if (line.room === 0 || (line.room < passenger.places && line.size > 0)) continue;
      line.add(passenger);
      return;
    }
    this.#waiting.add(passenger);
    void this.#openOne();
  }

  remove(passenger: T): void {
    this.#waiting.delete(passenger);
    for (const line of this.#lines) line.remove(passenger);
  }

  /** A connection is lost. What was watched over it looks for another. */
  lose(line: L, passengers: Iterable<T>): void {
    this.#lines.delete(line);
    for (const passenger of passengers) this.add(passenger);
  }

  async #openOne(): Promise<void> {
    if (this.#isOpening) return;
    this.#isOpening = true;
    const opened = await this.#open().catch(() => undefined); // only when the mesh is closed
    this.#isOpening = false;
    if (opened === undefined) return;
    this.#lines.add(this.#watchOver(opened));
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const passenger of waiting) this.add(passenger);
  }
}
