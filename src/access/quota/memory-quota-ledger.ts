import type { Clock } from '../../domain/clock.ts';
import type { JoinedQuotaLedger, QuotaAsk, QuotaLedgers, QuotaShare, QuotaState } from './quota-ledger.ts';

/** The shares of one member in a window. */
interface MemberShare {
  share: number;
  used: number;
}

/** The window of one identity. */
interface LedgerWindow {
  readonly id: string;
  readonly limit: number;
  readonly windowMs: number;
  end: number;
  readonly reset: number;
  readonly shares: Map<string, MemberShare>;
  /** The sum of the shares, and the debt of the window before. */
  granted: number;
  /** What was left when members last heard of it. */
  told: number;
  changes: number;
}

/** Ended windows dropped per ask: more than one, so that they run out; few, so that no ask waits for it. */
const DROPS_PER_ASK = 4;

/** The ledger of one process, for the members that talk to it. */
export class MemoryQuotaLedger implements QuotaLedgers {
  readonly #clock: Clock;
  readonly #capacity: number;
  readonly #windows = new Map<string, LedgerWindow>();
  /** Ids in the order in which their windows were opened, by length of the window. */
  readonly #openedByLength = new Map<number, Map<string, LedgerWindow>>();
  readonly #hearers = new Map<string, (left: QuotaState) => void>();

  /** Keeps at most `capacity` windows. For an identity beyond, each member may use its part of the limit. */
  constructor(capacity: number, clock: Clock) {
    this.#capacity = capacity;
    this.#clock = clock;
  }

  /** The number of windows in memory. */
  get size(): number {
    return this.#windows.size;
  }

  /** Adds a member and returns its view of the ledger. */
  join(member: string): JoinedQuotaLedger {
    const members = (): number => this.#hearers.size;
    let hear: (left: QuotaState) => void = () => {};
    this.#hearers.set(member, (left) => hear(left));
    return {
      get members() {
        return members();
      },
      settle: async (asks) => asks.map((ask) => this.settle(member, ask)),
      onLeft(hearer) {
        hear = hearer;
        return () => {
          hear = () => {};
        };
      },
      leave: () => this.#hearers.delete(member),
    };
  }

  /** Settles one ask of a member. What a member that left had not told stays in its share until the window ends. */
  settle(member: string, ask: QuotaAsk): QuotaShare {
    const nowMs = this.#clock.monotonic();
    this.#dropEnded(nowMs);
    const window = this.#currentOf(ask.id, nowMs) ?? this.#open(ask, nowMs);
    if (window === undefined) return this.#partOf(ask, nowMs);
    const isOver = ask.window !== 0 && ask.window < window.end;
    const used = isOver ? 0 : ask.used;
    const wanted = Math.max(isOver ? 1 : 0, ask.want - ask.used);
    const needed = Math.max(0, ask.need - ask.used);
    const before = window.shares.get(member)?.share ?? 0;
    const members = window.shares.size + (window.shares.has(member) ? 0 : 1);
    const free = Math.max(0, window.limit - (window.granted - before));
    const most = Math.max(1, Math.ceil(Math.max(0, free - used) / (2 * members))); // less as it runs out
    const granted = Math.min(used + Math.min(wanted, most), free);
    const share = Math.max(used, needed <= free - used ? Math.max(granted, used + needed) : granted);
    window.shares.set(member, { share, used });
    window.granted += share - before;
    window.changes++;
    this.#tellLeft(window, nowMs);
    let held = 0;
    for (const [other, theirs] of window.shares) if (other !== member) held += theirs.share - theirs.used;
    return { ...stateOf(window, nowMs), share, held, isOver };
  }

  /** Returns the open window. One that ended in debt is followed at once by another, which pays. */
  #currentOf(id: string, nowMs: number): LedgerWindow | undefined {
    const window = this.#windows.get(id);
    if (window === undefined || nowMs < window.end) return window;
    const { limit, windowMs, granted, end, reset } = window;
    const debt = Math.min(limit, granted - limit);
    if (debt <= 0 || nowMs >= end + windowMs) return undefined;
    return this.#add({
      ...{ id, limit, windowMs, end: end + windowMs, reset: reset + Math.round(windowMs / 1000) },
      ...{ shares: new Map(), granted: debt, told: limit - debt, changes: 0 },
    });
  }

  /** Opens a window; one that the member still has goes on, after a ledger has lost its memory. */
  #open({ id, limit, windowMs, window, ageMs }: QuotaAsk, nowMs: number): LedgerWindow | undefined {
    if (!this.#windows.has(id) && this.#windows.size >= this.#capacity) return undefined;
    const end = endOf(windowMs, window, ageMs, nowMs);
    const reset = this.#unixSecondsOf(end, nowMs);
    return this.#add({ id, limit, windowMs, end, reset, shares: new Map(), granted: 0, told: limit, changes: 0 });
  }

  #add(window: LedgerWindow): LedgerWindow {
    const { id, windowMs } = window;
    this.#windows.set(id, window);
    const opened = this.#openedByLength.get(windowMs) ?? new Map<string, LedgerWindow>();
    opened.delete(id); // it goes to the end
    this.#openedByLength.set(windowMs, opened.set(id, window));
    return window;
  }

  /** Returns the answer where no window can be kept: the same for every member, so together they keep the limit. */
  #partOf({ id, limit, windowMs, window, ageMs, used, want, need }: QuotaAsk, nowMs: number): QuotaShare {
    const end = endOf(windowMs, window, ageMs, nowMs);
    const share = Math.max(used, Math.min(Math.max(want, need), Math.floor(limit / Math.max(1, this.#hearers.size))));
    const reset = this.#unixSecondsOf(end, nowMs);
    return {
      id,
      limit,
      windowMs,
      window: end,
      endsInMs: end - nowMs,
      reset,
      changes: 0,
      left: 0,
      share,
      held: 0,
      isOver: false,
    };
  }

  #unixSecondsOf(end: number, nowMs: number): number {
    return Math.ceil((this.#clock.now() + end - nowMs) / 1000);
  }

  #tellLeft(window: LedgerWindow, nowMs: number): void {
    const left = window.limit - window.granted;
    const { told } = window;
    const isHalved = told > 0 && left * 2 <= told;
    const isDoubledDebt = told <= 0 && left < told && left <= 2 * told;
    const isFreeAgain = told <= 0 && left > 0;
    if (isHalved || isDoubledDebt || isFreeAgain) {
      window.told = left;
      for (const hear of this.#hearers.values()) hear(stateOf(window, nowMs));
    } else if (left > told) window.told = left;
  }

  /** Drops ended windows. One that ended in debt is kept until it is paid. */
  #dropEnded(nowMs: number): void {
    for (const opened of this.#openedByLength.values()) {
      let dropped = 0;
      for (const [id, window] of opened) {
        const { end, windowMs, granted, limit } = window;
        if (nowMs < end || dropped++ === DROPS_PER_ASK) break;
        opened.delete(id);
        if (granted > limit && nowMs < end + windowMs) this.#currentOf(id, nowMs);
        else if (this.#windows.get(id) === window) this.#windows.delete(id);
      }
    }
  }
}

function stateOf(window: LedgerWindow, nowMs: number): QuotaState {
  const { id, end, reset, limit, windowMs, granted, changes } = window;
  return { id, limit, windowMs, window: end, endsInMs: end - nowMs, reset, changes, left: limit - granted };
}

/** Returns the end of a window that a ledger doesn't know: as the member knows it, if that is possible. */
function endOf(windowMs: number, window: number, ageMs: number, nowMs: number): number {
  if (window > nowMs) return Math.min(window, nowMs + windowMs);
  return nowMs + windowMs - (window === 0 ? Math.min(ageMs, windowMs - 1) : 0);
}
