import type { Clock } from '../../../shared/domain/clock.ts';
import type { DurableWrites } from '../../../shared/runtime/durable-writes.ts';
import { fileSizeOf } from '../../../shared/runtime/files/append-whole.ts';
import { withPidLock } from '../../../shared/runtime/files/pid-lock.ts';
import { repeat } from '../../../shared/runtime/repeat.ts';
import { appendUsage } from './usage-file.ts';
import { DAY_MS, dayOf, REQUEST_OUTCOMES, type RequestOutcome, type UsageRow } from './usage-line.ts';
import { prepareCompaction } from './usage-tail.ts';

export interface UsageCounterOptions {
  readonly path: string;
  readonly clock: Clock;
  /** Counts that could not be written are kept, and written with the next second's. */
  readonly writes: Pick<DurableWrites, 'attempt'>;
}

const FLUSH_MS = 1000;

/** The growth after which a file that has also doubled is compacted. */
const COMPACT_BYTES = 1024 * 1024;

type CountedRow = UsageRow & { readonly counts: number[]; units: number; givenBack: number };

/** The attempts to lock the file: at the start and at the end the process may stand still for a moment. */
const ATTEMPTS = { patient: 20, brief: 2 };

/** Counts the requests of API keys by route and outcome, and their units. A kill loses the last second. */
export class UsageCounter {
  readonly #options: UsageCounterOptions;
  #rows: CountedRow[] = [];
  #rowsOfDay = new Map<string, Map<string, CountedRow>>();
  #dayStartsMs = Number.NEGATIVE_INFINITY;
  failures = 0;
  #bytes = 0;
  #compactAtBytes = COMPACT_BYTES;
  #stopFlushing = (): void => {};
  #isClosed = false;

  /** Compacts a large file. One that can't be used does not prevent the start. */
  constructor(options: UsageCounterOptions) {
    this.#options = options;
    this.#change(ATTEMPTS.patient, () => {});
  }

  count(key: string, route: string, outcome: RequestOutcome, units: number): void {
    const row = this.#rowOf(key, route);
    const at = REQUEST_OUTCOMES.indexOf(outcome);
    row.counts[at] = (row.counts[at] ?? 0) + 1;
    row.units += units;
  }

  /** Subtracts units that a counted request paid and got back. */
  giveBack(key: string, route: string, units: number): void {
    this.#rowOf(key, route).givenBack += units;
  }

  #rowOf(key: string, route: string): CountedRow {
    this.#checkDay(this.#options.clock.now());
    const rowsOfKey = this.#rowsOfDay.get(key) ?? new Map<string, CountedRow>();
    const known = rowsOfKey.get(route);
    if (known !== undefined) return known;
    const nothing = { counts: REQUEST_OUTCOMES.map(() => 0), units: 0, givenBack: 0 };
    const row = { day: dayOf(this.#dayStartsMs), key, route, ...nothing };
    this.#rowsOfDay.set(key, rowsOfKey.set(route, row));
    if (this.#rows.push(row) === 1)
      this.#stopFlushing = repeat(this.#options.clock, FLUSH_MS, () => this.flush(ATTEMPTS.brief)); // the rest is with the next second's
    return row;
  }

  #checkDay(nowMs: number): void {
    if (nowMs >= this.#dayStartsMs && nowMs < this.#dayStartsMs + DAY_MS) return;
    this.#dayStartsMs = Math.floor(nowMs / DAY_MS) * DAY_MS;
    this.#rowsOfDay = new Map();
  }

  flush(attempts = ATTEMPTS.patient): void {
    if (this.#rows.length > 0)
      this.#change(attempts, () => {
        appendUsage(this.#options.path, this.#rows);
        this.#rows = [];
        this.#rowsOfDay = new Map();
      });
    if (this.#rows.length === 0) this.#stopFlushing();
  }

  close(): void {
    this.#isClosed = true;
    this.flush();
    this.#stopFlushing();
  }

  /** A gateway with the same state folder may replace the file, which loses what is appended to the old one. */
  #change(attempts: number, change: () => void): void {
    const { path, writes } = this.#options;
    const work = (): void => {
      change();
      this.#bytes = fileSizeOf(path);
    };
    if (!writes.attempt('usage', () => withPidLock(path, attempts, work))) this.failures++;
    if (this.#bytes >= this.#compactAtBytes && !this.#isClosed) void this.#compact();
  }

  async #compact(): Promise<void> {
    const { path, clock } = this.#options;
    this.#compactAtBytes = Number.POSITIVE_INFINITY; // one at a time
    const compact = await prepareCompaction(path, dayOf(clock.now())).catch((thrown: unknown) => () => {
      throw thrown;
    });
    if (this.#isClosed) return; // the folder may belong to another process by now
    this.#change(ATTEMPTS.brief, compact);
    this.#compactAtBytes = Math.max(COMPACT_BYTES, this.#bytes * 2);
  }
}
