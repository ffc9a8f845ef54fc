/**
 * What a request gets: `serve`, now; `refuse`, since more are pipelined before it than a turn has room for; `defer`, an
 * answer that costs this turn nothing, or the last one of its connection: nothing behind it is served.
 */
export type Verdict = 'serve' | 'refuse' | 'defer';

/** The requests before the first of a turn that is looked at: to look at each turn would cost each request. */
const UNWATCHED = 64;

/** The requests that each connection may have behind its first one in a turn. */
const MAX_PIPELINED = 64;

/** The hits of a turn that are served however long they take: 64 connections with 16 each send 1,024. */
const SPARED_HITS = 1088;

/** The requests that callers may have in flight on a connection: only where there are more is a turn cut short. */
const USUAL_DEPTH = 4;

/**
 * The CPU time of a turn, in milliseconds, behind which nothing else is served where connections have more than that each. To
 * close a hundred connections, of each of which 512 KiB were read, takes as long again.
 */
const TURN_MS = 4;

/** The same where they have no more, or where idle connections hide that they have. */
const LONG_TURN_MS = 16;

/** The number of requests of which one has the CPU time looked at, which takes a system call. */
const REQUESTS_PER_LOOK = 8;

/** The first requests of a turn that is looked at, whose time isn't counted: most turns have no more, and need no look. */
const UNTIMED = 32;

/**
 * Bounds the time that pipelined requests occupy the event loop. An engine answers all requests that it has read of a
 * connection, up to half a MiB of them, before any other event; and uWebSockets.js does not show which connection a request
 * came by. But in a turn each connection has one request that is not pipelined: what goes beyond the number of connections
 * is pipelined for certain. Once the budget of a turn is spent, each further request of it is deferred, so one without any
 * behind it is answered.
 */
export class PipeliningBudget {
  readonly #startStopwatch: () => () => number;
  #unwatched = 0;
  #isWatching = false;
  #isSpent = false;
  #requests = 0;
  #others = 0;
  #turnMs: (() => number) | undefined;

  /** `startStopwatch` returns the CPU time since its call, in milliseconds. */
  constructor(startStopwatch: () => () => number) {
    this.#startStopwatch = startStopwatch;
  }

  /** Counts a request, and decides on it; `connections` are open. */
  admit(connections: number): Verdict {
    if (!this.#isWatching) {
      if (++this.#unwatched >= UNWATCHED) this.#watch();
      return 'serve';
    }
    if (this.#isSpent) return 'defer';
    const pipelined = ++this.#requests - connections;
    const isTooDeep = pipelined > MAX_PIPELINED * connections;
    if (!isTooDeep && !this.#isLate(pipelined > USUAL_DEPTH * connections)) return 'serve';
    this.#isSpent = true;
    return pipelined > 0 ? 'refuse' : 'defer';
  }

  /** Counts the request that was served last as one that is no hit. */
  countOther(): void {
    if (this.#isWatching) this.#others++;
  }

  #isLate(isDeep: boolean): boolean {
    if (this.#requests < UNTIMED || this.#requests % REQUESTS_PER_LOOK !== 0) return false;
    this.#turnMs ??= this.#startStopwatch();
    const isSpared = this.#requests <= SPARED_HITS && this.#others === 0;
    return !isSpared && this.#turnMs() > (isDeep ? TURN_MS : LONG_TURN_MS);
  }

  #watch(): void {
    this.#isWatching = true;
    setImmediate(() => {
      this.#turnMs = undefined;
      this.#isWatching = false;
      this.#isSpent = false;
      this.#requests = 0;
      this.#others = 0;
      this.#unwatched = 0;
    });
  }
}
