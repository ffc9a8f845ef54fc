import { LRUCache } from 'lru-cache';
import type { Clock } from '../../../shared/domain/clock.ts';
import { atMost } from '../../../shared/runtime/at-most.ts';
import { Deferred } from '../../../shared/runtime/deferred.ts';
import type {
  CountAnswer,
  CounterConnection,
  CounterListener,
  CounterStore,
  CountReport,
  CountTotal,
} from './counter-store.ts';
import { QuotaBook } from './quota-book.ts';
import { keyOfText, textOfKey } from './rate-limit-key.ts';
import { SharedStreams } from './shared-streams.ts';
import { type Counted, type Reporting, SharedWindow } from './shared-window.ts';

export interface CounterMemberOptions {
  readonly store: CounterStore;
  readonly member: string;
  readonly clock: Clock;
  /** Does work at the end of this turn of the event loop, or a little later. */
  readonly afterTurn: (work: () => void) => void;
}

/** The most reports of one call: a store that serves others, too, counts them in one turn. */
const MAX_REPORTS = 500;
const RETRY_MS = 50;

/** The most totals that are remembered of windows that are not open here, at about 200 B each. */
const MAX_ANNOUNCED = 20_000;

/** Reports what this member has spent at the end of the turns in which that is due. No request waits for it. */
export class CounterMember implements Reporting, CounterListener {
  readonly streams: SharedStreams;
  readonly #options: CounterMemberOptions;
  readonly #connection: CounterConnection;
  readonly #books = new Map<string, QuotaBook>();
  readonly #announced = new LRUCache<string, CountTotal & { readonly endsAtMs: number }>(atMost(MAX_ANNOUNCED));
  readonly #due = new Map<string, Counted>();
  #state: 'joining' | 'shared' | 'standalone' = 'joining';
  /** Why the store is not believed; undefined if it is. */
  problem: string | undefined;
  /** Whether the store is to be called even if nothing is due. */
  #mustCall = false;
  #isScheduled = false;
  #isReporting = false;
  #isClosed = false;
  #cancelRetry = (): void => {};
  readonly #joined = new Deferred();

  constructor(options: CounterMemberOptions) {
    this.#options = options;
    this.streams = new SharedStreams(this);
    this.#connection = options.store.join(options.member, this);
  }

  get members(): number {
    return this.#state === 'joining' ? Number.POSITIVE_INFINITY : this.#connection.members();
  }

  get isStandalone(): boolean {
    return this.#state === 'standalone';
  }

  /** Calls the store once before the first caller comes, which may spend 2 until then. Resolves also if it is lost. */
  join(): Promise<void> {
    this.#mustCall = true;
    this.#schedule();
    return this.#joined.promise;
  }

  readonly createBook = (name: string, capacity: number): QuotaBook => {
    const book = new QuotaBook(capacity, this.#options.clock, (window, endBeforeMs) => {
      const { key, windowSeconds } = window;
      const id = `${name} ${windowSeconds} ${textOfKey(key)}`; // members may see other tiers of a caller
      const shared = new SharedWindow(id, window, endBeforeMs, this);
      const announced = this.#announced.get(shared.id);
      const nowMs = this.#options.clock.monotonic();
      if (announced !== undefined && nowMs < announced.endsAtMs)
        shared.onTotal({ ...announced, endsInMs: announced.endsAtMs - nowMs }, nowMs);
      return shared;
    });
    this.#books.set(name, book);
    return book;
  };

  markDue(count: Counted): void {
    count.isDue = true;
    this.#due.set(count.id, count);
    this.#schedule();
  }

  onTotal(total: CountTotal): void {
    const nowMs = this.#options.clock.monotonic();
    if (total.windowMs === 0) {
      this.streams.onTotal(total);
      return;
    }
    const { id, endsInMs } = total;
    const [, name = '', key = ''] = /^(\S+) \S+ (.*)$/s.exec(id) ?? [];
    const share = this.#books.get(name)?.findOpen(keyOfText(key), nowMs)?.share;
    if (share instanceof SharedWindow && share.id === id) this.problem = share.onTotal(total, nowMs) ?? this.problem;
    else if (endsInMs > 0) this.#announced.set(id, { ...total, endsAtMs: nowMs + endsInMs });
  }

  onStale(id?: string): void {
    if (id !== undefined) {
      this.streams.reportAgain(id);
      return;
    }
    this.#mustCall = true;
    const nowMs = this.#options.clock.monotonic();
    for (const book of this.#books.values())
      for (const { share, endsAtMs } of book.windows)
        if (share instanceof SharedWindow && share.isReported && nowMs < endsAtMs) this.markDue(share);
    this.streams.reportAgain();
    this.#schedule();
  }

  close(): void {
    this.#isClosed = true;
    this.#cancelRetry();
    this.#connection.leave();
  }

  readonly #schedule = (): void => {
    if (this.#isScheduled || this.#isReporting || this.#isClosed) return;
    this.#isScheduled = true;
    this.#options.afterTurn(() => {
      this.#isScheduled = false;
      void this.#report();
    });
  };

  async #report(): Promise<void> {
    if (this.#isReporting || this.#isClosed) return;
    const sent = this.#reportsDue();
    if (sent.length === 0 && !this.#mustCall) return;
    this.#mustCall = false;
    this.#isReporting = true;
    const reports = sent.map(([, report]) => report);
    const answers = await this.#connection.report(reports).catch(() => undefined);
    if (this.#isClosed) return;
    this.#joined.resolve();
    if (answers === undefined) {
      this.#state = 'standalone';
      for (const [count] of sent) this.#due.set(count.id, count);
      this.#cancelRetry = this.#options.clock.after(RETRY_MS, this.#goOn);
    } else {
      this.#apply(sent, answers);
      this.#goOn();
    }
  }

  readonly #goOn = (): void => {
    this.#isReporting = false;
    if (this.#due.size > 0 || this.#mustCall) this.#schedule();
  };

  #reportsDue(): readonly (readonly [Counted, CountReport])[] {
    const nowMs = this.#options.clock.monotonic();
    const sent: [Counted, CountReport][] = [];
    for (const [id, count] of this.#due) {
      if (sent.length === MAX_REPORTS) break;
      this.#due.delete(id);
      const report = count.report(nowMs);
      if (report !== undefined) sent.push([count, report]);
    }
    return sent;
  }

  #apply(sent: readonly (readonly [Counted, CountReport])[], answers: readonly (CountAnswer | undefined)[]): void {
    const nowMs = this.#options.clock.monotonic();
    let problem: string | undefined;
    sent.forEach(([count, report], i) => {
      problem = count.apply(answers[i], report, nowMs) ?? problem;
    });
    if (sent.length > 0) this.problem = problem;
    this.#state = problem === undefined ? 'shared' : 'standalone';
  }
}
