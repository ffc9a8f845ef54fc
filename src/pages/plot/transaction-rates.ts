import type { Result, Snapshot } from '../../client/index.ts';
import { type Columns, TimeSeries } from './series.ts';

/** A row that is about a minute. */
type RateRow = Pick<Result<'/performance'>[number], 'slot' | 'samplePeriodSecs' | 'tps' | 'nonVoteTps'>;

/** The frames that stand in until a first row is there. */
type RateFrame = Pick<Snapshot, 'stream' | 'updatedAt' | 'transactionCount'>;

const SPAN_SEC = 3600;

/** The least time between two counts that give a rate: the count is read about once a second. */
const STEP_MS = 5000;

/** Without votes, and votes above them. Rows name slots, not times, so they are laid out backwards from now. */
export class TransactionRates {
  #series = new TimeSeries(2, SPAN_SEC);
  #hasRows = false;
  #base: (RateFrame & { readonly transactionCount: number | bigint }) | undefined;

  get columns(): Columns {
    return this.#series.columns;
  }

  /** Replaces the points by the rows of `/performance`, newest first. */
  setRows(rows: readonly RateRow[], nowSec: number): void {
    if (rows.length === 0) return;
    this.#hasRows = true;
    const series = new TimeSeries(2, SPAN_SEC);
    let timeSec = Math.floor(nowSec / 60) * 60;
    const placed = rows.map((row) => {
      const at = timeSec;
      timeSec -= row.samplePeriodSecs;
      return { at, row };
    });
    for (const { at, row } of placed.reverse()) series.set(at, [row.nonVoteTps, row.tps]);
    this.#series = series;
  }

  /** Adds a frame: until the first row it gives the rate of all transactions. */
  addFrame({ transactionCount, stream, updatedAt }: RateFrame): void {
    if (this.#hasRows || transactionCount === null) return;
    const frame = { transactionCount, stream, updatedAt };
    const base = this.#base;
    if (base === undefined || base.stream !== stream) {
      if (base !== undefined) this.#series.addGap();
      this.#base = frame;
      return;
    }
    const elapsedMs = updatedAt - base.updatedAt;
    if (elapsedMs < STEP_MS) return;
    const count = Number(BigInt(transactionCount) - BigInt(base.transactionCount));
    this.#series.set(Math.floor(updatedAt / 1000), [null, (count * 1000) / elapsedMs]);
    this.#base = frame;
  }
}
