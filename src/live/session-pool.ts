import type { Clock } from '../domain/clock.ts';
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

export interface SessionPoolOptions<L> {
  readonly clock: Clock;
  /** The subscriptions that there are sessions for, and one session more; items beyond wait until others leave. */
  readonly maxSubscriptions: number;
  openPubsub(): Promise<PubsubSession>;
  createSession(pubsub: PubsubSession): L;
}

/** The time for which a session without items stays open, in milliseconds: other items may come. */
const IDLE_MS = 30_000;

/** Assigns items to sessions, opens another when all are full, and closes one that has been empty for a while. */
export class SessionPool<T extends PoolItem, L extends PooledSession<T>> {
  readonly #options: SessionPoolOptions<L>;
  readonly #pubsubs = new Map<L, PubsubSession>();
  readonly #waiting = new Set<T>();
  /** The functions that stop the closing of empty sessions. */
  readonly #closing = new Map<L, () => void>();
  #isOpening = false;
  /** The subscriptions that a new session can make. */
  #sessionCapacity = 1;

  constructor(options: SessionPoolOptions<L>) {
    this.#options = options;
  }

  get sessions(): Iterable<L> {
    return this.#pubsubs.keys();
  }

  /**
   * Assigns an item to a session, the fullest that has room, or to the next that opens. An empty session takes any item:
   * no other has more capacity.
   */
  add(item: T): void {
    let chosen: L | undefined;
    for (const session of this.#pubsubs.keys()) {
      if (session.capacity === 0 || (session.capacity < item.subscriptionCount && session.size > 0)) continue;
      if (chosen === undefined || session.capacity < chosen.capacity) chosen = session;
    }
    if (chosen === undefined) {
      this.#waiting.add(item);
      void this.#openSession();
      return;
    }
    chosen.add(item);
    this.#closing.get(chosen)?.();
  }

  /** Removes an item. What it leaves goes to an item that waits; a session that stays empty is closed. */
  remove(item: T): void {
    this.#waiting.delete(item);
    for (const session of this.#pubsubs.keys()) {
      const { size } = session;
      session.remove(item);
      if (session.size === 0 && size > 0) this.#closeWhenIdle(session);
    }
    this.#assignWaiting();
  }

  /** Returns false for a session that the pool has closed. */
  has(session: L): boolean {
    return this.#pubsubs.has(session);
  }

  /** Forgets a lost session and assigns its items to others. */
  dropSession(session: L, items: Iterable<T>): void {
    this.#closing.get(session)?.();
    this.#pubsubs.delete(session);
    for (const item of items) this.add(item);
  }

  /** Stops the closing of empty sessions. */
  close(): void {
    for (const stop of this.#closing.values()) stop();
  }

  #assignWaiting(): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const item of waiting) this.add(item);
  }

  async #openSession(): Promise<void> {
    const mostSessions = Math.ceil(this.#options.maxSubscriptions / this.#sessionCapacity) + 1;
    if (this.#isOpening || this.#pubsubs.size >= mostSessions) return;
    this.#isOpening = true;
    const pubsub = await this.#options.openPubsub().catch(() => undefined); // rejects only when the mesh is closed
    this.#isOpening = false;
    if (pubsub === undefined) return;
    const session = this.#options.createSession(pubsub);
    this.#pubsubs.set(session, pubsub);
    this.#sessionCapacity = Math.max(1, session.capacity);
    if (session.capacity > 0) this.#assignWaiting(); // without any, the next would have none, either
    if (session.size === 0) this.#closeWhenIdle(session);
  }

  #closeWhenIdle(session: L): void {
    this.#closing.get(session)?.();
    const cancel = this.#options.clock.after(IDLE_MS, () => {
      stop();
      const pubsub = this.#pubsubs.get(session);
      this.#pubsubs.delete(session); // before it is closed: it isn't lost
      pubsub?.close();
    });
    const stop = (): void => {
      cancel();
      this.#closing.delete(session);
    };
    this.#closing.set(session, stop);
  }
}
