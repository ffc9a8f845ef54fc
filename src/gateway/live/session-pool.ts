import type { Clock } from '../../shared/domain/clock.ts';
import type { PubsubSession } from '../upstream/pubsub/pubsub-session.ts';
import { HottestFirst, type Ranked } from './hottest-first.ts';

export interface PoolItem {
  /** The number of subscriptions that it needs, as far as is known. */
  readonly subscriptionCount: number;
}

export interface PooledSession<T> {
  readonly connection: Pick<PubsubSession, 'capacity' | 'mayGrow' | 'maxSubscriptions' | 'close'> & {
    /** The node that it is with; undefined for another gateway. */
    readonly nodeId?: string;
    /** Whether it comes before others that have room. */
    readonly isPreferred?: boolean;
  };
  readonly size: number;
  readonly syncing: number;
  /** Returns false for an item that only another session can have. Default: it accepts all. */
  accepts?(item: T): boolean;
  /** Returns true for an item that is on it. */
  has?(item: T): boolean;
  add(item: T): void;
  remove(item: T): void;
}

export interface SessionPoolOptions<T, L> {
  readonly clock: Clock;
  /** The subscriptions that there are sessions for, and one session more; items beyond wait until others leave. */
  readonly maxSubscriptions: number;
  /** The most items whose initial sync is under way; the others wait, those first that are read most. Default: all. */
  readonly maxSyncing?: number;
  rankOf(item: T): number;
  /**
   * Opens what a session needs for an item; for any one where it names none. Resolves to what then makes the session, or returns
   * undefined where that can't be used any more.
   */
  open(item?: T): Promise<() => L | undefined>;
}

/** The time for which a session without items stays open, in milliseconds: other items may come. */
const IDLE_MS = 30_000;

/** The time until a session is opened in place of one that could not be used, in milliseconds. */
const RETRY_MS = 400;

/** The most sessions, whatever else is configured: what the larger plans of providers allow (Helius: 250 connections). */
const MAX_SESSIONS = 250;

const ITEMS_PER_TURN = 500;

/** The items that wait no longer of which the queue may have more than of the others. */
const MAX_GONE = 1000;

/** Items that are read most come first. Another session is opened only when no other can accept more. */
export class SessionPool<T extends PoolItem, L extends PooledSession<T>> {
  readonly #options: SessionPoolOptions<T, L>;
  readonly #sessions = new Set<L>();
  readonly #waiting = new Set<T>();
  /** The items that wait, and some that do no longer. */
  #queue = new HottestFirst<T>();
  /** Those of them that a session with room which comes before others does not accept: they hold up none that it does. */
  #refused = new HottestFirst<T>();
  readonly #closing = new Map<L, () => void>();
  #isOpening = false;
  #isAnotherDue = false;
  #isStuck = false;
  #scheduled: NodeJS.Immediate | undefined;
  #sessionCapacity = 1;

  constructor(options: SessionPoolOptions<T, L>) {
    this.#options = options;
  }

  get sessions(): ReadonlySet<L> {
    return this.#sessions;
  }

  /** True while items that wait will be live soon: there is a session, and room on it. */
  get isAssigning(): boolean {
    return this.#sessions.size > 0 && !this.#isStuck;
  }

  /** To the fullest session with room, or the next that opens. An empty one accepts any: none has more capacity. */
  add(item: T): void {
    this.#wait(item);
    if (this.#scheduled === undefined) this.assignWaiting();
  }

  /** Removes an item. What it leaves goes to an item that waits; a session that stays empty is closed. */
  remove(item: T): void {
    if (this.#waiting.delete(item)) this.#forgetGone();
    for (const session of this.#sessions) {
      const { size } = session;
      session.remove(item);
      if (session.size === 0 && size > 0) this.#closeWhenIdle(session);
    }
    this.assignWaiting();
  }

  dropSession(session: L, items: Iterable<T>): void {
    this.#closing.get(session)?.();
    this.#sessions.delete(session);
    for (const item of items) this.#wait(item);
    this.assignWaiting();
  }

  /** Assigns items that wait for as long as there is room; called when a session may have more. */
  assignWaiting(): void {
    if (this.#waiting.size === 0) return;
    const turn = { left: ITEMS_PER_TURN, syncing: this.#countSyncing() };
    const refused = this.#assignFrom(this.#refused, turn);
    const stuck = this.#assignFrom(this.#queue, turn) ?? refused;
    this.#isStuck = stuck !== undefined && ![...this.#sessions].some(({ connection }) => connection.mayGrow);
    if (this.#isStuck && this.#mayOpen) void this.#openSession(stuck);
  }

  /** Returns the first item that finds no room. */
  #assignFrom(queue: HottestFirst<T>, turn: { left: number; syncing: number }): T | undefined {
    const { maxSyncing = Number.POSITIVE_INFINITY } = this.#options;
    const tooLarge: Ranked<T>[] = [];
    let smallest = Number.POSITIVE_INFINITY; // of the items that find no room
    let refused: T | undefined;
    for (; turn.syncing < maxSyncing && smallest > 1; turn.left--) {
      if (turn.left <= 0) {
        this.#scheduled ??= setImmediate(() => {
          this.#scheduled = undefined;
          this.assignWaiting();
        });
        break;
      }
      const next = queue.pop();
      if (next === undefined) break;
      if (!this.#waiting.has(next.item)) continue;
      const session = next.item.subscriptionCount < smallest ? this.#sessionFor(next.item) : undefined;
      if (session !== undefined) {
        this.#waiting.delete(next.item);
        session.add(next.item);
        this.#closing.get(session)?.();
        turn.syncing++;
      } else if (queue !== this.#refused && this.preferredRoom > 0) {
        this.#refused.putBack(next);
        refused ??= next.item;
      } else {
        tooLarge.push(next);
        smallest = Math.min(smallest, next.item.subscriptionCount);
      }
    }
    for (const waiting of tooLarge) queue.putBack(waiting);
    return tooLarge[0]?.item ?? refused;
  }

  /** The items that sessions have room for which come before others. */
  get preferredRoom(): number {
    let room = 0;
    for (const { connection } of this.#sessions) if (connection.isPreferred === true) room += connection.capacity;
    return room;
  }

  /** Opens a session, also where others have room and where no more may be. */
  openAnother(): void {
    if (this.#isOpening) this.#isAnotherDue = true;
    else void this.#openSession();
  }

  /** Returns true for an item that waits for nothing better: a session that comes before others has it. */
  isPreferred(item: T): boolean {
    for (const session of this.#sessions)
      if (session.connection.isPreferred === true && session.has?.(item)) return true;
    return false;
  }

  closeAll(except?: PooledSession<T>): void {
    for (const session of [...this.#sessions]) if (session !== except) session.connection.close();
  }

  close(): void {
    clearImmediate(this.#scheduled);
    for (const stop of this.#closing.values()) stop();
  }

  #wait(item: T): void {
    if (this.#waiting.has(item)) return;
    this.#waiting.add(item);
    this.#queue.push(item, this.#options.rankOf(item));
  }

  /** Makes the queue again of the items that wait, once most of it is of others. */
  #forgetGone(): void {
    if (this.#queue.size + this.#refused.size <= 2 * this.#waiting.size + MAX_GONE) return;
    this.#queue = new HottestFirst();
    this.#refused = new HottestFirst();
    for (const item of this.#waiting) this.#queue.push(item, this.#options.rankOf(item));
  }

  #sessionFor(item: T): L | undefined {
    const { subscriptionCount } = item;
    let chosen: L | undefined;
    for (const session of this.#sessions) {
      const { capacity, isPreferred = false } = session.connection;
      if (capacity === 0 || (capacity < subscriptionCount && session.size > 0)) continue;
      if (session.accepts?.(item) === false) continue;
      if (isPreferred) return session;
      if (chosen === undefined || capacity < chosen.connection.capacity) chosen = session;
    }
    return chosen;
  }

  #countSyncing(): number {
    let count = 0;
    for (const { syncing } of this.#sessions) count += syncing;
    return count;
  }

  get #mayOpen(): boolean {
    let [sessions, sessionCapacity] = [0, 1];
    for (const { size, connection } of this.#sessions) {
      if (size === 0 && connection.capacity === 0) return false;
      if (connection.isPreferred === true) continue; // it may not accept what waits
      sessions++;
      sessionCapacity = Math.max(sessionCapacity, connection.maxSubscriptions);
    }
    if (sessions === 0) sessionCapacity = this.#sessionCapacity;
    const mostSessions = Math.min(MAX_SESSIONS, Math.ceil(this.#options.maxSubscriptions / sessionCapacity) + 1);
    return !this.#isOpening && sessions < mostSessions;
  }

  async #openSession(item?: T): Promise<void> {
    this.#isOpening = true;
    const createSession = await this.#options.open(item).catch(() => undefined); // rejects only when the mesh is closed
    this.#isOpening = false;
    const isAnotherDue = this.#isAnotherDue;
    this.#isAnotherDue = false;
    if (createSession === undefined) return;
    const session = createSession();
    if (isAnotherDue && session?.connection.isPreferred !== true) void this.#openSession();
    if (session === undefined) {
      this.#options.clock.after(RETRY_MS, () => this.assignWaiting());
      return;
    }
    this.#sessions.add(session);
    if (session.connection.isPreferred !== true)
      this.#sessionCapacity = Math.max(1, session.connection.maxSubscriptions);
    this.assignWaiting();
    if (session.size === 0) this.#closeWhenIdle(session);
  }

  #closeWhenIdle(session: L): void {
    this.#closing.get(session)?.();
    const cancel = this.#options.clock.after(IDLE_MS, () => {
      stop();
      this.#sessions.delete(session); // before it is closed: it isn't lost
      session.connection.close();
      this.assignWaiting();
    });
    const stop = (): void => {
      cancel();
      this.#closing.delete(session);
    };
    this.#closing.set(session, stop);
  }
}
