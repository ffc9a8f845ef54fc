import type { CountAnswer, CountReport, CountTotal } from './counter-store.ts';
import { keyOfText, type RateLimitKey, textOfKey } from './rate-limit-key.ts';
import type { Counted, Reporting } from './shared-window.ts';

const PREFIX = 'streams ';

export const streamsReport = (report: Pick<CountReport, 'id'> & Partial<CountReport>): CountReport => ({
  ...{ limit: 0, windowMs: 0, window: 0, ageMs: 0, total: 0, counted: 0, spent: 0, prepay: 0 },
  ...report,
});

class CallerStreams implements Counted {
  readonly id: string;
  isDue = false;
  count = 0;
  limit = 0;
  elsewhere = 0;
  #counted = 0;
  readonly #onAnswered: (excess: number) => void;

  constructor(id: string, onAnswered: (excess: number) => void) {
    this.id = id;
    this.#onAnswered = onAnswered;
  }

  get isUnused(): boolean {
    return this.count === 0 && this.#counted === 0 && this.elsewhere === 0;
  }

  report(): CountReport {
    const { id, limit, count: spent } = this;
    return streamsReport({ id, limit, spent, counted: this.#counted });
  }

  apply(answer: CountAnswer | undefined, { counted, spent, limit }: CountReport): string | undefined {
    this.isDue = false;
    if (answer === undefined) return undefined;
    const { total } = answer;
    if (!Number.isSafeInteger(total) || total < spent) return `a total of ${total} streams, of which ${spent} are here`;
    this.elsewhere = total - spent;
    this.#counted = spent;
    this.#onAnswered(Math.min(spent - counted, total - limit));
    return undefined;
  }

  onTotal({ total }: CountTotal): void {
    this.elsewhere = Math.max(0, total - this.#counted);
  }
}

/** What others open is known a message later: streams that are too many are closed where they were reported last. */
export class SharedStreams {
  readonly #reporting: Reporting;
  readonly #byKey = new Map<RateLimitKey, CallerStreams>();
  /** Closes that many of the newest streams of a caller. Is set by their owner. */
  onExcess: (key: RateLimitKey, excess: number) => void = () => {};

  constructor(reporting: Reporting) {
    this.#reporting = reporting;
  }

  /** Returns the streams that a caller has at other members; 0 as long as the store is lost. */
  elsewhere(key: RateLimitKey): number {
    return this.#reporting.isStandalone ? 0 : (this.#byKey.get(key)?.elsewhere ?? 0);
  }

  /** Returns the part of a limit that a caller has here: all of it, or an equal part as long as the store is lost. */
  partOf(limit: number): number {
    const { isStandalone, members } = this.#reporting;
    return isStandalone ? Math.ceil(limit / members) : limit;
  }

  set(key: RateLimitKey, count: number, limit: number): void {
    const streams = this.#streamsOf(key);
    streams.count = count;
    streams.limit = limit;
    this.#reporting.markDue(streams);
  }

  onTotal(total: CountTotal): void {
    const key = keyOfText(total.id.slice(PREFIX.length));
    const streams = this.#streamsOf(key);
    streams.onTotal(total);
    if (streams.isUnused) this.#byKey.delete(key);
  }

  /** Reports one count, or all of them, again. */
  reportAgain(id?: string): void {
    const due = id === undefined ? this.#byKey.values() : [this.#byKey.get(keyOfText(id.slice(PREFIX.length)))];
    for (const streams of due) if (streams !== undefined) this.#reporting.markDue(streams);
  }

  #streamsOf(key: RateLimitKey): CallerStreams {
    const known = this.#byKey.get(key);
    if (known !== undefined) return known;
    const streams: CallerStreams = new CallerStreams(PREFIX + textOfKey(key), (excess) => {
      if (excess > 0) this.onExcess(key, excess);
      if (streams.isUnused) this.#byKey.delete(key);
    });
    this.#byKey.set(key, streams);
    return streams;
  }
}
