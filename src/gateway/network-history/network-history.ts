import type { Clock } from '../../shared/domain/clock.ts';
import type { Slot } from '../../shared/domain/slot.ts';
import { joinRows, type NetworkRow, type Observation } from './network-row.ts';
import { RowCollector } from './row-collector.ts';

/** Milliseconds of the spans that can be requested. */
export const SPANS = { '5m': 300_000, '1h': 3_600_000, '24h': 86_400_000, '7d': 604_800_000 } as const;

export type Span = keyof typeof SPANS;

/** The lengths of rows that can be requested: one slot, or seconds. */
export const REQUESTED_STEPS = ['slot', '10', '60'] as const;

export type RequestedStep = (typeof REQUESTED_STEPS)[number];

/** The most rows of an answer, and of each step in memory but minutes. */
export const MAX_ROWS = 1500;

const MINUTE_MS = 60_000;

/** The length of a row where a row a minute would be too many: ten minutes, in seconds. */
const LONGEST_STEP = 600;

/** The time over which a node that lies may have given figures before it is found, in milliseconds. */
const UNAGREED_MS = 3_600_000;

/** The wall clock may be set back by as much, in milliseconds: rows then wait. By more, rows of the future leave memory. */
const MAX_SET_BACK_MS = MINUTE_MS;

/** Minutes that are kept: so that the oldest of the longest rows is whole, too. */
export const MAX_MINUTES = SPANS['7d'] / MINUTE_MS + LONGEST_STEP / 60;

export interface NetworkHistoryRead {
  /** The length of a row in seconds, or one slot: longer than requested where the span needs too many rows. */
  readonly step: 'slot' | 10 | 60 | 600;
  readonly span: Span;
  /** The oldest first. A time without the gateway has none. */
  readonly rows: readonly NetworkRow[];
}

/** Where the minutes of earlier processes are. */
export interface MinuteStore {
  read(): Promise<readonly NetworkRow[]>;
  append(row: NetworkRow): void;
  /** Removes the rows that ended in this time, in Unix milliseconds. */
  removeBetween(afterMs: number, latestMs: number): void;
}

/** The state of the network over time: five minutes by slot, an hour by ten seconds, seven days by minute. */
export class NetworkHistory {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #slots = new RowCollector({ stepMs: undefined, maxRows: MAX_ROWS });
  readonly #tens = new RowCollector({ stepMs: 10_000, maxRows: MAX_ROWS });
  readonly #minutes = new RowCollector({
    stepMs: MINUTE_MS,
    maxRows: MAX_MINUTES,
    onRow: (row) => this.#store?.append(row),
  });
  readonly #collectors = [this.#slots, this.#tens, this.#minutes];
  #store: MinuteStore | undefined;
  /** Rows of the store that end in the future by this clock, which may be behind. */
  #later: readonly NetworkRow[] = [];
  #drops = 0;
  /** The latest observation, in Unix milliseconds. */
  #observedMs = 0;

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  /** Continues the minutes of a store, to which new ones are appended. Rows of the future wait until the clock is set ahead. */
  async continueFrom(store: MinuteStore): Promise<void> {
    const drops = this.#drops;
    this.#later = await store.read();
    this.#restore();
    this.#store = store;
    if (this.#drops > drops) this.dropUnagreed();
  }

  observe(observation: Observation): void {
    const { updatedAt } = observation.snapshot;
    const isSetAhead = updatedAt > this.#observedMs + MAX_SET_BACK_MS;
    if (updatedAt < this.#observedMs - MAX_SET_BACK_MS) {
      this.#forgetAfter(updatedAt); // the clock was wrong until now, or is wrong now: the store keeps its rows
      this.#observedMs = updatedAt;
    }
    this.#observedMs = Math.max(this.#observedMs, updatedAt);
    for (const collector of this.#collectors) collector.observe(observation);
    if (isSetAhead) this.#restore(); // after the row that ended by the clock as it was
  }

  /** Drops the rows of the last hour: a node that may have given some of their figures has lied. */
  dropUnagreed(): void {
    this.#drops++;
    const atMs = this.#clock.now() - UNAGREED_MS;
    this.#forgetAfter(atMs);
    const latestMs = this.#latestMs;
    this.#later = this.#later.filter(({ endedAt }) => endedAt <= atMs || endedAt > latestMs);
    this.#store?.removeBetween(atMs, latestMs);
  }

  #restore(): void {
    const latestMs = this.#latestMs;
    this.#minutes.restore(this.#later.filter(({ endedAt }) => endedAt <= latestMs));
    this.#later = this.#later.filter(({ endedAt }) => endedAt > latestMs);
  }

  #forgetAfter(atMs: number): void {
    for (const collector of this.#collectors) collector.removeAfter(atMs);
  }

  get #latestMs(): number {
    return this.#clock.now() + MAX_SET_BACK_MS;
  }

  /** Reads the rows of a span that ended at this slot or before. */
  read(requested: RequestedStep, span: Span, atSlot: Slot): NetworkHistoryRead {
    const spanMs = SPANS[span];
    const sinceMs = this.#clock.now() - spanMs;
    const latestMs = this.#latestMs;
    const within = ({ rows }: RowCollector, afterMs = sinceMs): readonly NetworkRow[] =>
      rows.filter(({ endedAt, slot }) => endedAt > afterMs && endedAt <= latestMs && slot <= atSlot);
    if (requested === 'slot' && spanMs <= SPANS['5m']) return { step: 'slot', span, rows: within(this.#slots) };
    if (requested !== '60' && spanMs <= SPANS['1h']) return { step: 10, span, rows: within(this.#tens) };
    if (spanMs <= SPANS['24h']) return { step: 60, span, rows: within(this.#minutes) };
    const stepMs = LONGEST_STEP * 1000;
    const whole = within(this.#minutes, Math.floor(sinceMs / stepMs) * stepMs);
    return { step: LONGEST_STEP, span, rows: joinRows(whole, stepMs) };
  }
}
