import { boundOf, type NetworkRow, type Observation, type RowBound, rowBetween } from './network-row.ts';

export interface RowCollectorOptions {
  /** The length of a row; undefined for a row with each new slot. */
  readonly stepMs: number | undefined;
  /** The most rows that are kept: the oldest are dropped. */
  readonly maxRows: number;
  readonly onRow?: (row: NetworkRow) => void;
}

/** Collects observations into rows, which end at multiples of their length by the wall clock, and keeps the newest. */
export class RowCollector {
  readonly #options: RowCollectorOptions;
  rows: NetworkRow[] = [];
  #open: { readonly step: number; readonly base: RowBound; last: Observation; end: RowBound; ok: boolean } | undefined;

  constructor(options: RowCollectorOptions) {
    this.#options = options;
  }

  /** Adds rows of earlier processes. Of two that end together, the one of this process stays. */
  restore(rows: readonly NetworkRow[]): void {
    const ends = new Set(this.rows.map(({ endedAt }) => endedAt));
    const others = rows.filter(({ endedAt }) => !ends.has(endedAt));
    const all = [...others, ...this.rows].sort((a, b) => a.endedAt - b.endedAt);
    this.rows = all.slice(-this.#options.maxRows);
  }

  /** Removes the rows that ended later than this, in Unix milliseconds, and the one that is collected. */
  removeAfter(atMs: number): void {
    this.rows = this.rows.filter(({ endedAt }) => endedAt <= atMs);
    this.#open = undefined;
  }

  observe(observation: Observation): void {
    const { stepMs } = this.#options;
    const { slot, updatedAt, health } = observation.snapshot;
    const open = this.#open;
    const step = Math.max(stepMs === undefined ? slot : Math.floor(updatedAt / stepMs), open?.step ?? 0); // neither goes back
    const ok = health === 'ok';
    const end = boundOf(observation, open?.end);
    if (open === undefined) {
      this.#open = { step, base: end, last: observation, end, ok: true }; // the row is about what follows
    } else if (step === open.step) {
      Object.assign(open, { last: observation, end, ok: open.ok && ok });
    } else if (stepMs === undefined) {
      const endedAt = Math.max(updatedAt, this.rows.at(-1)?.endedAt ?? 0);
      const ended = { endedAt, health: open.ok && ok ? 'ok' : 'degraded' } as const;
      this.#add({ ...rowBetween(open.base, end, observation, ended), skippedSlots: null });
      this.#open = { step, base: end, last: observation, end, ok };
    } else {
      const ended = { endedAt: (open.step + 1) * stepMs, health: open.ok ? 'ok' : 'degraded' } as const;
      this.#add(rowBetween(open.base, open.end, open.last, ended));
      this.#open = { step, base: open.end, last: observation, end, ok };
    }
  }

  #add(row: NetworkRow): void {
    const { stepMs, maxRows, onRow } = this.#options;
    if (this.rows.at(-1)?.endedAt === row.endedAt && stepMs !== undefined) this.rows.pop(); // that of a clock which was set back
    this.rows.push(row);
    if (this.rows.length > maxRows) this.rows.shift();
    onRow?.(row);
  }
}
