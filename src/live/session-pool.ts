import type { PubsubSession } from '../upstream/pubsub/pubsub-session.ts';

/** An item that needs subscriptions on a session. */
export interface PoolItem {
  /** The number of subscriptions that it needs, as far as is known. */
  readonly subscriptionCount: number;
}

/** A session that serves several items. */
export interface PooledSession<T> {
  /** The number of subscriptions that it can still make. */
  readonly capacity: number;
  /** The number of items on it. */
  readonly size: number;
  add(item: T): void;
  remove(item: T): void;
}

/** Assigns items to sessions, and opens another session when all are full. */
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

  /** Assigns an item to a session, or to the next that opens. An empty session takes any item: no other has more capacity. */
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

  /** Forgets a lost session and assigns its items to others. */
  dropSession(session: L, items: Iterable<T>): void {
    this.#sessions.delete(session);
    for (const item of items) this.add(item);
  }

  async #openSession(): Promise<void> {
    if (this.#isOpening) return;
    this.#isOpening = true;
    const pubsub = await this.#openPubsub().catch(() => undefined); // rejects only when the mesh is closed
    this.#isOpening = false;
    if (pubsub === undefined) return;
    this.#sessions.add(this.#createSession(pubsub));
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const item of waiting) this.add(item);
  }
}
