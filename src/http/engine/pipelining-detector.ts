import type { CallerKey } from './owed-bytes.ts';

/** The turns without pipelining, one after the other, after which a caller may be answered later. */
const CLEAN_TURNS = 16;

/** The clean turns that a caller lacks after one of its connections was cut off. */
const TURNS_AFTER_CUT = 1000;

/** The most callers that are remembered. */
const MAX_CALLERS = 10_000;

/** One turn of the event loop in which somebody could be answered later. */
interface Turn {
  readonly requestsBefore: number;
  readonly eventsBefore: number;
  readonly callers: Set<CallerKey>;
}

/**
 * Tells which callers may have more requests in flight on a connection, behind one that they send now (RFC 9112 9.3.2). The
 * engine closes a connection whose next request comes while an answer is pending, and shows neither connections nor what
 * is behind a request. But a turn of the event loop reads a socket once: where it has more requests than it had events,
 * somebody pipelines. So callers count as pipelining until some turns of theirs have shown that nobody does.
 */
export class PipeliningDetector {
  readonly #polledEvents: () => number;
  /** The clean turns of each caller in a row; negative after one that was not. */
  readonly #cleanTurns = new Map<CallerKey, number>();
  #requests = 0;
  #turn: Turn | undefined;

  /** `polledEvents` counts the events of the loop up to this turn. */
  constructor(polledEvents: () => number) {
    this.#polledEvents = polledEvents;
  }

  /** Counts a request. Must be called for each, before any question about it. */
  countRequest(): void {
    this.#requests++;
  }

  /** Tells whether the caller may have more requests behind this one: a turn or more without pipelining are lacking. */
  mayPipeline(caller: CallerKey): boolean {
    return this.#cleanTurnsOf(caller) < CLEAN_TURNS;
  }

  /** Tells whether the caller was seen pipelining lately, or while others did. */
  hasPipelined(caller: CallerKey): boolean {
    return this.#cleanTurnsOf(caller) < 0;
  }

  /** Records that a caller's connection was closed in the turn in which its answer became pending: more was behind it. */
  recordCutOff(caller: CallerKey): void {
    this.#remember(caller, -TURNS_AFTER_CUT);
  }

  /** Returns the clean turns of a caller, and observes this turn. */
  #cleanTurnsOf(caller: CallerKey): number {
    this.#turn ??= this.#beginTurn();
    this.#turn.callers.add(caller);
    return this.#cleanTurns.get(caller) ?? 0;
  }

  #beginTurn(): Turn {
    setImmediate(() => this.#endTurn());
    return { requestsBefore: this.#requests - 1, eventsBefore: this.#polledEvents(), callers: new Set() };
  }

  #endTurn(): void {
    if (this.#turn === undefined) return;
    const { requestsBefore, eventsBefore, callers } = this.#turn;
    this.#turn = undefined;
    const isClean = this.#requests - requestsBefore <= this.#polledEvents() - eventsBefore;
    for (const caller of callers) {
      const cleanTurns = this.#cleanTurns.get(caller) ?? 0;
      this.#remember(caller, isClean ? Math.min(cleanTurns + 1, CLEAN_TURNS) : Math.min(cleanTurns, -CLEAN_TURNS));
    }
  }

  #remember(caller: CallerKey, cleanTurns: number): void {
    if (this.#cleanTurns.size >= MAX_CALLERS && !this.#cleanTurns.has(caller)) this.#cleanTurns.clear();
    this.#cleanTurns.set(caller, cleanTurns);
  }
}
