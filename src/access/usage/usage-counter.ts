import type { Clock } from '../../domain/clock.ts';
import { repeat } from '../../runtime/repeat.ts';
import { appendUsage, compactUsage, fileSizeOf, truncateTornLine, withUsageLock } from './usage-file.ts';
import { REQUEST_OUTCOMES, type RequestOutcome, type UsageRow } from './usage-line.ts';

export interface UsageCounterOptions {
  readonly path: string;
  readonly clock: Clock;
  /** Receives the first error of a series. Counts that could not be written are kept. */
  readonly onProblem: (problem: unknown) => void;
  /** Called when the first write after such a series has worked. */
  readonly onRecovery: () => void;
}

/** The interval of writes, in milliseconds. */
const FLUSH_MS = 1000;

/** The growth after which a file that has also doubled is compacted. */
const COMPACT_BYTES = 1024 * 1024;

const DAY_MS = 86_400_000;

/** One line of usage while it is counted. */
type CountedRow = UsageRow & { readonly counts: number[]; units: number };

/** The attempts to lock the file at the start and at the end, where the process may stand still for a moment. */
const PATIENT_ATTEMPTS = 20;

/** Counts the requests of API keys by route and outcome, and their units. A kill loses the last second. */
export class UsageCounter {
  readonly #options: UsageCounterOptions;
  #rows: CountedRow[] = [];
  /** The rows of the day, by key and route. */
  #rowsOfDay = new Map<string, Map<string, CountedRow>>();
  #day = '';
  #dayStartsMs = Number.NEGATIVE_INFINITY;
  #isFailing = false;
  #failures = 0;
  #compactAtBytes: number;
  #stopFlushing = (): void => {};

  /** Truncates a line that a kill left unfinished. A file that can't be used does not prevent the start. */
  constructor(options: UsageCounterOptions) {
    this.#options = options;
    this.#compactAtBytes = COMPACT_BYTES;
    this.#tryDisk(() => {
      withUsageLock(options.path, PATIENT_ATTEMPTS, () => {
        truncateTornLine(options.path);
        this.#compactIfLarge();
      });
    });
  }

  /** The number of failed writes. */
  get failures(): number {
    return this.#failures;
  }

  count(key: string, route: string, outcome: RequestOutcome, units: number): void {
    this.#checkDay(this.#options.clock.now());
    const row = this.#rowsOfDay.get(key)?.get(route) ?? this.#addRow(key, route);
    const at = REQUEST_OUTCOMES.indexOf(outcome);
    row.counts[at] = (row.counts[at] ?? 0) + 1;
    row.units += units;
  }

  /** Begins other rows on another day. */
  #checkDay(nowMs: number): void {
    if (nowMs >= this.#dayStartsMs && nowMs < this.#dayStartsMs + DAY_MS) return;
    this.#dayStartsMs = Math.floor(nowMs / DAY_MS) * DAY_MS;
    this.#day = new Date(nowMs).toISOString().slice(0, 10);
    this.#rowsOfDay = new Map();
  }

  #addRow(key: string, route: string): CountedRow {
    const row = { day: this.#day, key, route, counts: REQUEST_OUTCOMES.map(() => 0), units: 0 };
    if (this.#rows.push(row) === 1)
      this.#stopFlushing = repeat(this.#options.clock, FLUSH_MS, () => this.#flushEachSecond());
    const rowsOfKey = this.#rowsOfDay.get(key) ?? new Map<string, CountedRow>();
    this.#rowsOfDay.set(key, rowsOfKey.set(route, row));
    return row;
  }

  /** Writes the counts. */
  flush(): void {
    if (this.#rows.length > 0) this.#write(PATIENT_ATTEMPTS);
  }

  close(): void {
    this.#stopFlushing();
    this.flush();
  }

  #flushEachSecond(): void {
    this.#write(2); // what can't be written now is with the next second's
    if (this.#rows.length === 0) this.#stopFlushing();
  }

  #write(attempts: number): void {
    this.#tryDisk(() => {
      withUsageLock(this.#options.path, attempts, () => {
        appendUsage(this.#options.path, this.#rows);
        this.#rows = [];
        this.#rowsOfDay = new Map();
        this.#compactIfLarge();
      });
    });
  }

  #compactIfLarge(): void {
    const { path, clock } = this.#options;
    if (fileSizeOf(path) < this.#compactAtBytes) return;
    compactUsage(path, new Date(clock.now()).toISOString().slice(0, 10));
    this.#compactAtBytes = Math.max(COMPACT_BYTES, fileSizeOf(path) * 2);
  }

  #tryDisk(work: () => void): void {
    try {
      work();
      if (this.#isFailing) this.#options.onRecovery();
      this.#isFailing = false;
    } catch (thrown) {
      this.#failures++;
      if (!this.#isFailing) this.#options.onProblem(thrown);
      this.#isFailing = true;
    }
  }
}
