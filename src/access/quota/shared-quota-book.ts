import type { Clock } from '../../domain/clock.ts';
import { type LinkedWindow, QuotaBook, type QuotaWindow } from './quota-book.ts';
import { keyOfText, textOfKey } from './quota-key.ts';
import type { QuotaAsk, QuotaShare, QuotaState } from './quota-ledger.ts';

/** A window in which several members charge. Its `used` is the limit less what this member may still charge at once. */
interface SharedWindow extends LinkedWindow {
  limit: number;
  readonly id: string;
  /** As the ledger has named it; 0 if it has not. */
  name: number;
  /** What this member may charge in all. */
  share: number;
  /** What it had charged when `used` was set to `usedThen`. */
  ownThen: number;
  usedThen: number;
  /** What nobody holds and what others hold, as the ledger told last, and the changes of which that was the last. */
  left: number;
  held: number;
  changes: number;
  /** The units that are left beyond those that may be charged at once. */
  elsewhere: number;
  /** What it had charged when the ledger was last asked. */
  askedOwn: number;
  /** The ledger is asked once `used` is as great. */
  askAt: number;
  /** The units that a refused request needed at once. */
  missing: number;
  /** Those of the last ask: they are for the request that comes again. */
  awaited: number;
  /** Whether units that it doesn't need go back. */
  isRecalled: boolean;
  /** Grows with each window that follows under this key, so that what was told of the one before is known as such. */
  series: number;
}

/** A member spends up to one in so many parts of the limit, together with all others, before the ledger has spoken. */
const CREDIT_PARTS = 2;

/** The ledger hears of a window when a member has used this part of its credit: not of those who ask once. */
const TOLD_CREDIT_PARTS = 4;

/** When no more than this part of a limit is left, members give back what they don't need. */
const RECALLED_PARTS = 8;

/** The least that a member may charge on credit. */
const LEAST_CREDIT = 2;

/**
 * The windows of a member, as far as a ledger must hear of them. A member charges what it was granted, and some units on
 * credit, which the ledger counts when it hears of them: so nobody waits, and the sum over N members is at most the limit
 * and the credit of each.
 */
export class SharedWindows {
  readonly #clock: Clock;
  readonly #members: () => number;
  readonly #onDue: () => void;
  readonly #books = new Map<string, SharedQuotaBook>();
  readonly #due = new Map<string, SharedWindow>();
  /** The series of the windows that the last call has asked for. */
  #asked: readonly (readonly [SharedWindow, series: number])[] = [];

  constructor(clock: Clock, members: () => number, onDue: () => void) {
    this.#clock = clock;
    this.#members = members;
    this.#onDue = onDue;
  }

  get hasDue(): boolean {
    return this.#due.size > 0;
  }

  createBook(name: string, capacity: number): SharedQuotaBook {
    const book = new SharedQuotaBook(name, capacity, this);
    this.#books.set(name, book);
    return book;
  }

  /** Returns what a member may charge on credit in one window. */
  creditOf(limit: number): number {
    return Math.min(limit, Math.max(LEAST_CREDIT, Math.ceil(limit / (CREDIT_PARTS * Math.max(1, this.#members())))));
  }

  markDue(window: SharedWindow): void {
    this.#due.set(window.id, window);
    this.#onDue();
  }

  /** Marks all windows that the ledger has heard of. */
  markAll(): void {
    const nowMs = this.#clock.monotonic();
    for (const book of this.#books.values())
      for (const window of book.openWindows(nowMs)) {
        Object.assign(window, { isRecalled: true, askedOwn: ownOf(window), changes: 0 }); // others may have charged the rest
        this.#due.set(window.id, window);
      }
    if (this.hasDue) this.#onDue();
  }

  /** Marks again what was asked in vain. */
  markAgain(asks: readonly QuotaAsk[]): void {
    asks.forEach(({ id }, i) => {
      const [window, series] = this.#asked[i] ?? [];
      if (window !== undefined && window.series === series && !this.#due.has(id)) this.#due.set(id, window);
    });
  }

  /** Returns what to ask, at most so much. */
  takeDue(most: number): readonly QuotaAsk[] {
    const nowMs = this.#clock.monotonic();
    const asks: QuotaAsk[] = [];
    const asked: [SharedWindow, number][] = [];
    for (const [id, window] of this.#due) {
      if (asks.length === most) break;
      this.#due.delete(id);
      if (nowMs >= window.endsAtMs) continue;
      asks.push(this.#askOf(window, nowMs));
      asked.push([window, window.series]);
    }
    this.#asked = asked;
    return asks;
  }

  #askOf(window: SharedWindow, nowMs: number): QuotaAsk {
    const { id, limit, windowSeconds, name, endsAtMs, missing, isRecalled, askedOwn } = window;
    const windowMs = windowSeconds * 1000;
    const used = ownOf(window);
    const recently = Math.max(0, used - askedOwn);
    const kept = Math.max(recently, window.awaited);
    const ahead = isRecalled ? kept : Math.max(2 * recently, Math.ceil(this.creditOf(limit) / TOLD_CREDIT_PARTS));
    window.askedOwn = used;
    window.awaited = Math.max(window.awaited, missing);
    window.missing = 0;
    window.isRecalled = false;
    const ageMs = name === 0 ? Math.max(0, nowMs - (endsAtMs - windowMs)) : 0;
    return { id, limit, windowMs, window: name, ageMs, used, want: used + ahead, need: used + missing };
  }

  /** Takes the answers to asks. */
  apply(asks: readonly QuotaAsk[], shares: readonly QuotaShare[]): void {
    const nowMs = this.#clock.monotonic();
    shares.forEach((told, i) => {
      const [window, series] = this.#asked[i] ?? [];
      const ask = asks[i];
      if (window === undefined || ask === undefined || nowMs >= window.endsAtMs) return;
      if (window.series !== series || told.window < window.name) return;
      const own = told.isOver ? Math.max(0, ownOf(window) - ask.used) : ownOf(window);
      window.share = told.share;
      this.#update(window, told, told.held, own, nowMs);
    });
  }

  /** Takes what the ledger tells all members about a window. */
  hear(told: QuotaState): void {
    const nowMs = this.#clock.monotonic();
    if (told.endsInMs <= 0) return;
    const window = this.#bookOf(told.id)?.windowFor(told, nowMs);
    if (window === undefined || told.window < window.name) return;
    if (window.name !== 0 && told.window > window.name) restart(window);
    const own = ownOf(window);
    const mustTell = own > window.share; // charged on credit
    const spare = window.share - own;
    window.isRecalled ||=
      told.left * RECALLED_PARTS <= told.limit && spare > Math.max(own - window.askedOwn, window.awaited);
    const isAwaited = window.missing > 0 && told.left > 0;
    // those who hold more than they need are told the same
    this.#update(window, told, told.left > 0 ? 0 : window.held, own, nowMs);
    if (mustTell || isAwaited || window.isRecalled) this.markDue(window);
  }

  /** Sets what may be charged from now on. */
  #update(window: SharedWindow, told: QuotaState, held: number, own: number, nowMs: number): void {
    const { limit } = told;
    if (told.window > window.name || told.changes >= window.changes) {
      const { left, changes } = told;
      Object.assign(window, { left, held, changes });
    }
    window.limit = limit;
    window.name = told.window;
    window.endsAtMs = nowMs + told.endsInMs;
    window.reset = told.reset;
    const inShare = window.share - own;
    const credit = Math.max(0, Math.min(this.creditOf(limit), Math.floor(window.left / this.#members())));
    const remaining = window.left + window.held + inShare;
    setBalance(window, own, remaining > 0 ? Math.max(0, Math.min(inShare + credit, remaining)) : remaining, remaining);
    window.askAt = window.used + Math.max(1, Math.ceil(inShare / 2));
    if (inShare < 0 && own > window.askedOwn) this.markDue(window); // charged while the answer was on its way
  }

  #bookOf(id: string): SharedQuotaBook | undefined {
    return this.#books.get(id.slice(0, id.indexOf(' ')));
  }
}

/** The book of a member that shares its limits with others. */
export class SharedQuotaBook extends QuotaBook {
  readonly #name: string;
  readonly #shared: SharedWindows;

  constructor(name: string, capacity: number, shared: SharedWindows) {
    super(capacity);
    this.#name = name;
    this.#shared = shared;
  }

  override remainingIn(window: QuotaWindow): number {
    return this.balanceOf(window) + (window as SharedWindow).elsewhere;
  }

  override charge(window: QuotaWindow, units: number): void {
    super.charge(window, units);
    const shared = window as SharedWindow;
    if (shared.used >= shared.askAt) this.#ask(shared);
  }

  override miss(window: QuotaWindow, units: number): void {
    const shared = window as SharedWindow;
    shared.missing = Math.max(shared.missing, units);
    if (units <= this.remainingIn(window)) this.#ask(shared);
  }

  #ask(window: SharedWindow): void {
    window.askAt = Number.POSITIVE_INFINITY; // until the answer
    this.#shared.markDue(window);
  }

  /** Returns the window that a ledger speaks of; one that is unknown here is opened, if there is a place. */
  windowFor({ id, limit, windowMs, reset }: QuotaState, nowMs: number): SharedWindow | undefined {
    const key = keyOfText(id.slice(id.indexOf(' ') + 1));
    const known = this.find(key, nowMs);
    if (known !== undefined) return known as SharedWindow;
    if (this.isFull(nowMs)) return undefined;
    return this.open(key, { requests: limit, windowSeconds: windowMs / 1000 }, nowMs, reset) as SharedWindow;
  }

  /** Returns the open windows that the ledger has heard of, or would have if it had answered. */
  *openWindows(nowMs: number): Iterable<SharedWindow> {
    for (const window of this.windows as Iterable<SharedWindow>)
      if (nowMs < window.endsAtMs && (window.name !== 0 || window.share > 0)) yield window;
  }

  protected override prepared(window: LinkedWindow): LinkedWindow {
    const shared: SharedWindow = {
      ...window,
      id: `${this.#name} ${textOfKey(window.key)}`,
      ...{ name: 0, share: 0, ownThen: 0, usedThen: 0, left: 0, held: 0, changes: 0, elsewhere: 0 },
      ...{ askedOwn: 0, askAt: 0, awaited: 0, missing: 0, isRecalled: false, series: 0 },
    };
    this.#begin(shared, 0);
    return shared;
  }

  protected override isContinued(window: LinkedWindow, nowMs: number): boolean {
    const endedMs = window.endsAtMs;
    const isContinued = super.isContinued(window, nowMs);
    if (isContinued && window.endsAtMs !== endedMs) {
      const debt = window.used;
      restart(window as SharedWindow);
      this.#begin(window as SharedWindow, debt);
    }
    return isContinued;
  }

  /** Begins a window of which the ledger has not spoken. */
  #begin(window: SharedWindow, debt: number): void {
    const { limit } = window;
    const credit = this.#shared.creditOf(limit);
    setBalance(window, 0, Math.min(credit, limit - debt), limit - debt);
    window.askAt = window.used + Math.ceil(credit / TOLD_CREDIT_PARTS);
  }
}

/** What a member has charged in a window. */
const ownOf = ({ ownThen, used, usedThen }: SharedWindow): number => Math.max(0, ownThen + used - usedThen);

function setBalance(window: SharedWindow, own: number, balance: number, remaining: number): void {
  window.used = window.limit - balance;
  window.usedThen = window.used;
  window.ownThen = own;
  window.elsewhere = Math.max(0, remaining - balance);
}

/** Forgets what was charged in a window that is over. */
function restart(window: SharedWindow): void {
  window.series++;
  window.ownThen = 0;
  window.usedThen = window.used;
  Object.assign(window, { name: 0, share: 0, changes: 0, askedOwn: 0, awaited: 0, missing: 0, isRecalled: false });
}
