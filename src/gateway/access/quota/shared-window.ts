import type { CountAnswer, CountReport, CountTotal } from './counter-store.ts';
import type { QuotaWindow, WindowShare } from './quota-window.ts';

/**
 * Returns what one of `members` may spend before it has reported again. With C counted, all caps together are at most
 * (limit - C) / 2, or 2 for each member: so the sum stays below one and a half limits and 2 for each member.
 */
export const capOf = (limit: number, total: number, members: number): number =>
  Math.max(0, Math.min(limit - total, Math.max(LEAST_CAP, (limit - total) / (2 * members))));

const LEAST_CAP = 2;
const REPORTED_PART = 1 / 2;

/** The most milliseconds by which a store's end of a window may be later than it should, or an answer late. */
const SLACK_MS = 1000;
/** By how much the name of a window may change where a store has lost its memory, in milliseconds. */
const ROUNDING_MS = 1;
/** The least part of its length for which a window lasts behind the one before, whenever the store ends it. */
const LEAST_PART = 9 / 10;

export interface Counted {
  readonly id: string;
  /** Whether it will be reported, or is. */
  isDue: boolean;
  /** Returns undefined if it has ended. */
  report(nowMs: number): CountReport | undefined;
  /** Applies the answer; undefined if the store has no room. Returns why the answer is impossible; undefined if it is not. */
  apply(answer: CountAnswer | undefined, report: CountReport, nowMs: number): string | undefined;
}

export interface Reporting {
  /** Infinite until the store has answered for the first time. */
  readonly members: number;
  readonly isStandalone: boolean;
  markDue(count: Counted): void;
}

/**
 * A caller's units in one window that several members spend. Units of its window beyond `total` are not reported yet; if it
 * is greater than what the window says to be used, the difference is prepaid: counted for a request that comes again.
 */
export class SharedWindow implements WindowShare, Counted {
  readonly id: string;
  isDue = false;
  readonly #window: QuotaWindow;
  readonly #reporting: Reporting;
  #total = 0;
  /** The units of this member in the total that was answered last. */
  #counted = 0;
  #answeredTotal = 0;
  /** As the store has named it; 0 if it has not. */
  #name = 0;
  #prepay = 0;
  /** Whether it has begun without the store: this member then has its part of the limit. */
  #isStandalone: boolean;
  /** The earliest end that the store may give it. */
  #earliestEndMs: number;
  /** Whether the report that is under way is about this window, not the one before. */
  #isCurrent = false;

  constructor(id: string, window: QuotaWindow, endBeforeMs: number, reporting: Reporting) {
    this.id = id;
    this.#window = window;
    this.#reporting = reporting;
    this.#isStandalone = reporting.isStandalone;
    // else a false store could let windows follow each other without end
    this.#earliestEndMs = endBeforeMs + LEAST_PART * window.windowSeconds * 1000;
  }

  get spendable(): number {
    return Math.floor(Math.min(this.#window.balance, this.#cap - this.#unreported));
  }

  onSpent(): void {
    if (!this.isDue && this.#unreported >= REPORTED_PART * this.#cap) this.#reporting.markDue(this);
  }

  onRefused(units: number): void {
    this.#prepay = Math.max(this.#prepay, units);
    this.#reporting.markDue(this);
  }

  onContinued(): void {
    this.#total = this.#window.used;
    this.#answeredTotal = this.#total;
    this.#counted = 0;
    this.#name = 0;
    this.#prepay = 0;
    this.#isStandalone = this.#reporting.isStandalone;
    this.#earliestEndMs = Number.POSITIVE_INFINITY;
    this.#isCurrent = false;
  }

  /** Whether the store knows of it, or would if it were there. */
  get isReported(): boolean {
    return this.#name > 0 || this.#isStandalone;
  }

  report(nowMs: number): CountReport | undefined {
    const { limit, windowSeconds, endsAtMs } = this.#window;
    if (nowMs >= endsAtMs) {
      this.isDue = false;
      return undefined;
    }
    const windowMs = windowSeconds * 1000;
    const ageMs = this.#name === 0 ? Math.max(0, Math.round(nowMs - (endsAtMs - windowMs))) : 0;
    const [total, counted, prepay] = [this.#total, this.#counted, this.#prepay];
    this.#isCurrent = true;
    return { id: this.id, limit, windowMs, window: this.#name, ageMs, total, counted, spent: this.#spent, prepay };
  }

  apply(answer: CountAnswer | undefined, report: CountReport, nowMs: number): string | undefined {
    this.isDue = false;
    if (!this.#isCurrent) return undefined;
    if (this.#prepay <= report.prepay) this.#prepay = 0; // until then the store may have counted it, and answered too late
    if (answer === undefined) {
      this.#isStandalone = true;
      return undefined;
    }
    const problem = this.#faultIn(answer);
    if (problem !== undefined || this.#isOther(answer, report)) return problem;
    // An announcement since the last answer may include units of a report whose answer was lost.
    const least = Math.max(report.total, this.#answeredTotal + Math.max(0, report.spent - report.counted));
    if (answer.total < Math.min(least, 2 * report.limit)) return `a total of ${answer.total} after ${least}`;
    const most = Math.max(report.counted, report.spent + report.prepay);
    const unreported = this.#spent - Math.max(0, Math.min(answer.counted, most));
    // It is more than was spent here if a report of the window before was late.
    this.#counted = Math.max(0, Math.min(answer.counted, answer.total));
    this.#answeredTotal = answer.total;
    this.#setTotal(answer, unreported, nowMs);
    return undefined;
  }

  /** Applies a total that was announced. Returns why it is impossible; undefined if it is not. */
  onTotal(ofAll: CountTotal, nowMs: number): string | undefined {
    const announced = { ...ofAll, total: Math.min(ofAll.total, 2 * this.#window.limit) }; // others may have a higher limit
    const problem = this.#faultIn(announced);
    if (problem !== undefined) return problem;
    const isLate = nowMs + announced.endsInMs < this.#earliest - SLACK_MS; // it is about the window before
    const isOther = this.#name === 0 ? isLate : announced.window !== this.#name;
    if (isOther || announced.total <= this.#total) return undefined; // an older one
    this.#setTotal(announced, this.#unreported, nowMs);
    return undefined;
  }

  get #unreported(): number {
    return this.#window.used - this.#total;
  }

  get #spent(): number {
    return this.#counted + this.#unreported;
  }

  get #cap(): number {
    const { limit } = this.#window;
    const { members } = this.#reporting;
    if (!this.#isStandalone) return capOf(limit, this.#total, members);
    return Math.max(0, Math.min(limit - this.#total, Math.max(1, limit / members)));
  }

  #setTotal({ window, endsInMs, total }: CountTotal, unreported: number, nowMs: number): void {
    const own = this.#window;
    const endsAtMs = nowMs + endsInMs;
    if (this.#name === 0) {
      this.#name = window;
      if (endsAtMs >= this.#earliest) own.endsAtMs = endsAtMs;
    }
    this.#isStandalone = false;
    this.#total = Math.max(this.#total, total);
    own.used = this.#total + unreported;
    if (this.#prepay > 0) this.#reporting.markDue(this);
    else if (this.#unreported > 0) this.onSpent();
  }

  get #earliest(): number {
    return Math.min(this.#earliestEndMs, this.#window.endsAtMs);
  }

  /** Whether an answer is about the window that follows, or about the one before that which an announcement has named. */
  #isOther({ window }: CountTotal, report: CountReport): boolean {
    return this.#name !== 0 && (window > this.#name + ROUNDING_MS || (window < this.#name && report.window === 0));
  }

  #faultIn({ total, window, endsInMs }: CountTotal): string | undefined {
    const { limit, windowSeconds } = this.#window;
    if (!Number.isSafeInteger(total) || total < 0 || total > 2 * limit) return `a total of ${total} of ${limit}`;
    if (!(window > 0 && endsInMs >= 0 && endsInMs <= windowSeconds * 1000 + SLACK_MS))
      return `a window of ${windowSeconds} s that ends in ${endsInMs} ms`;
    return undefined;
  }
}
