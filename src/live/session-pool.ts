import type { PubsubSession } from '../upstream/pubsub/pubsub-session.ts';

/** What is watched, by what it takes of a connection. */
export interface PoolItem {
  /** How many subscriptions it takes, as far as is known. */
  readonly subscriptionCount: number;
}

/** A connection that things of a kind are watched over. */
export interface PooledSession<T> {
  readonly capacity: number;
  /** How many things it carries. */
  readonly size: number;
  add(item: T): void;
  remove(item: T): void;
}

/** The connections that things are watched over: as many as it takes, each opened when the others are full. */
export class SessionPool<T extends PoolItem, L extends PooledSession<T>> {
  readonly #openPubsub: () => Promise<PubsubSession>;
  readonly #createSession: (pubsub: PubsubSession) => L;
  readonly #sessions = new Set<L>();
  readonly #waiting = new Set<T>();
  #isOpening = false;

  constructor(openPubsub: () => Promise<PubsubSession>, createSession: (pubsub: PubsubSession) => L) {
    this.#openPubsub = openPubsub;
    this.#createSession = createSession;
  }

  get sessions(): Iterable<L> {
    return this.#sessions;
  }

  /** Finds a connection, now or as soon as there is one. No other has more room than an empty one. */
  add(item: T): void {
    for (const session of this.#sessions) {
      if (session.capacity === 0 || (session.capacity < item.subscriptionCount && session.size > 0)) continue;
      session.add(item);
      return;
    }
    this.#waiting.add(item);
    void this.#openSession();
  }

  remove(item: T): void {
    this.#waiting.delete(item);
    for (const session of this.#sessions) session.remove(item);
  }

  /** A connection is lost. What was watched over it looks for another. */
  dropSession(session: L, items: Iterable<T>): void {
    this.#sessions.delete(session);
    for (const item of items) this.add(item);
  }

  async #openSession(): Promise<void> {
    if (this.#isOpening) return;
    this.#isOpening = true;
    const pubsub = await this.#openPubsub().catch(() => undefined); // only when the mesh is closed
    this.#isOpening = false;
    if (pubsub === undefined) return;
    this.#sessions.add(this.#createSession(pubsub));
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const item of waiting) this.add(item);
  }
}
