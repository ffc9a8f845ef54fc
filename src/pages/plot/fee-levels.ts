import { type Columns, TimeSeries } from './series.ts';

/** The levels of priority fees, in micro-lamports for a compute unit. */
interface Levels {
  readonly low: number | bigint;
  readonly medium: number | bigint;
  readonly high: number | bigint;
}

/** What the plot of fees is made of. */
export interface FeeFrame {
  readonly stream: string;
  readonly updatedAt: number;
  readonly priorityFeeLevels: Levels | null;
}

/** A row of the network's history. */
export interface FeeRow {
  /** Unix milliseconds. */
  readonly endedAt: number;
  readonly priorityFee: Levels | null;
}

const SPAN_SEC = 300;

/** Seconds of one point. */
const STEP_SEC = 2;

/** The levels of priority fees of the last five minutes: low, medium and high. */
export class FeeLevels {
  readonly #series = new TimeSeries(3, SPAN_SEC);
  #stream: string | undefined;

  get columns(): Columns {
    return this.#series.columns;
  }

  add({ stream, updatedAt, priorityFeeLevels }: FeeFrame): void {
    if (this.#stream !== undefined && this.#stream !== stream) this.#series.addGap();
    this.#stream = stream;
    if (priorityFeeLevels !== null) this.#series.set(timeOf(updatedAt), valuesOf(priorityFeeLevels));
  }

  /** Puts what the gateway saw before the page was opened in front. */
  prepend(rows: readonly FeeRow[]): void {
    this.#series.prepend(
      rows.flatMap(({ endedAt, priorityFee }) =>
        priorityFee === null ? [] : [[timeOf(endedAt), ...valuesOf(priorityFee)]],
      ),
    );
  }
}

const timeOf = (ms: number): number => Math.floor(ms / 1000 / STEP_SEC) * STEP_SEC;

/** A picture needs no digit beyond a double. */
const valuesOf = ({ low, medium, high }: Levels): number[] => [Number(low), Number(medium), Number(high)];
