import type { Clock } from '../../../shared/domain/clock.ts';
import type { CountAnswer, CounterListener, CounterStore, CountReport } from '../../access/quota/counter-store.ts';

interface Counter {
  readonly id: string;
  limit: number;
  readonly windowMs: number;
  readonly window: number;
  /** Its end on the monotonic clock. */
  readonly endsAtMs: number;
  total: number;
  /** What was left when members were last informed. */
  announcedLeft: number;
  readonly byMember: Map<string, number>;
}

/** Windows checked per report, and dropped if they have ended: more than one, so that they run out. */
const CHECKS_PER_REPORT = 4;

/** Adds up what the members of one machine count, in the process that they are connected to. */
export class MemoryStore implements CounterStore {
  readonly #clock: Clock;
  readonly #capacity: number;
  readonly #windows = new Map<string, Counter>();
  /** Where the check for ended windows goes on: a new iterator would skip what others have dropped at the start of the map. */
  #checked = this.#windows.values();
  readonly #streams = new Map<string, Counter>();
  readonly #listeners = new Map<string, CounterListener>();

  /** Counts in at most `capacity` windows: of the callers beyond, each member may use its part of the limit. */
  constructor(capacity: number, clock: Clock) {
    this.#capacity = capacity;
    this.#clock = clock;
  }

  get size(): number {
    return this.#windows.size + this.#streams.size;
  }

  join(member: string, listener: CounterListener) {
    this.#listeners.set(member, listener);
    for (const streams of this.#streams.values()) listener.onTotal(this.#totalOf(streams));
    return {
      members: () => this.#listeners.size,
      report: async (reports: readonly CountReport[]) => reports.map((report) => this.#count(member, report)),
      leave: () => this.#leave(member),
    };
  }

  #leave(member: string): void {
    this.#listeners.delete(member);
    for (const streams of this.#streams.values()) this.#setStreams(streams, member, 0);
  }

  #count(member: string, report: CountReport): CountAnswer | undefined {
    if (report.windowMs === 0) {
      const streams = this.#streams.get(report.id) ?? newCounter(report, 0, 0);
      this.#streams.set(report.id, streams);
      this.#setStreams(streams, member, report.spent);
      return { ...this.#totalOf(streams), counted: report.spent };
    }
    this.#dropEnded();
    const counter = this.#openWindow(report);
    if (counter === undefined) return undefined;
    const { limit, window, total, spent, prepay } = report;
    counter.limit = Math.max(counter.limit, limit); // what is beyond the highest one that members see is a debt
    const isLate = window !== 0 && window < counter.window && window <= this.#clock.now();
    let counted = Math.max(counter.byMember.get(member) ?? 0, report.counted);
    if (!isLate) {
      let sum = Math.max(counter.total, total) + Math.max(0, spent - counted);
      counted = Math.max(counted, spent);
      const more = spent + prepay - counted;
      if (more > 0 && sum + more <= limit) {
        sum += more;
        counted += more;
      }
      counter.total = Math.max(counter.total, Math.min(sum, 2 * limit)); // others may have a higher limit
      counter.byMember.set(member, counted);
    }
    const left = Math.max(0, limit - counter.total);
    if (counter.announcedLeft > 0 && 2 * left <= counter.announcedLeft) {
      counter.announcedLeft = left;
      this.#announce(counter, member);
    }
    return { ...this.#totalOf(counter), total: Math.min(counter.total, 2 * limit), counted };
  }

  #setStreams(streams: Counter, member: string, count: number): void {
    const before = streams.byMember.get(member) ?? 0;
    if (count > 0) streams.byMember.set(member, count);
    else streams.byMember.delete(member);
    streams.total += count - before;
    if (streams.byMember.size === 0) this.#streams.delete(streams.id);
    if (count !== before) this.#announce(streams, member);
  }

  /** Returns the open window. One that has ended in debt is followed immediately by another, which pays. */
  #openWindow(report: CountReport): Counter | undefined {
    const { id, windowMs, window, ageMs } = report;
    const nowMs = this.#clock.monotonic();
    const known = this.#windows.get(id);
    if (known !== undefined && nowMs < known.endsAtMs) return known;
    if (known === undefined && this.#windows.size >= this.#capacity) return undefined;
    const leftMs = window - this.#clock.now();
    const endsInMs = leftMs > 0 ? Math.min(leftMs, windowMs) : windowMs - Math.min(ageMs, windowMs - 1);
    let opened = newCounter(report, nowMs + endsInMs, Math.round(this.#clock.now() + endsInMs));
    const debt = known === undefined ? 0 : Math.min(known.limit, known.total - known.limit);
    if (known !== undefined && debt > 0 && nowMs < known.endsAtMs + windowMs) {
      opened = newCounter(report, known.endsAtMs + windowMs, known.window + windowMs);
      opened.total = debt;
    }
    this.#windows.set(id, opened);
    return opened;
  }

  #announce(counter: Counter, member: string): void {
    const total = this.#totalOf(counter);
    for (const [other, listener] of this.#listeners) if (other !== member) listener.onTotal(total);
  }

  #totalOf({ id, windowMs, window, endsAtMs, total }: Counter) {
    const endsInMs = windowMs === 0 ? 0 : endsAtMs - this.#clock.monotonic();
    return { id, windowMs, window, endsInMs, total };
  }

  /** Checks some windows in turn, and drops those that have ended, once a debt is paid. */
  #dropEnded(): void {
    const nowMs = this.#clock.monotonic();
    for (let i = 0; i < CHECKS_PER_REPORT; i++) {
      const { value: counter } = this.#checked.next();
      if (counter === undefined) {
        this.#checked = this.#windows.values();
        continue;
      }
      const owedMs = counter.total > counter.limit ? counter.windowMs : 0;
      if (nowMs >= counter.endsAtMs + owedMs) this.#windows.delete(counter.id);
    }
  }
}

const newCounter = ({ id, limit, windowMs }: CountReport, endsAtMs: number, window: number): Counter => ({
  ...{ id, limit, windowMs, window, endsAtMs },
  ...{ total: 0, announcedLeft: limit, byMember: new Map() },
});
