import type { Snapshot } from '../../client/index.ts';
import type { HistoryRow } from './history-columns.ts';
import { type Columns, TimeSeries } from './series.ts';

/** The levels of priority fees, in micro-lamports for a compute unit. */
type Levels = Pick<NonNullable<Snapshot['priorityFeeLevels']>, 'low' | 'medium' | 'high'>;

/** What the plot of fees is made of. */
interface FeeFrame extends Pick<Snapshot, 'slot' | 'stream' | 'updatedAt'> {
  readonly priorityFeeLevels: Levels | null;
}

const SPAN_SEC = 300;

/** Seconds of one point. */
const STEP_SEC = 2;

/** After so long without a new slot, in seconds, no line is drawn. */
const GAP_SEC = 10;

/** The levels of priority fees of the last five minutes: low, medium and high. */
export class FeeLevels {
  readonly #series = new TimeSeries(3, SPAN_SEC);
  #last: Pick<FeeFrame, 'slot' | 'stream'> | undefined;

  get columns(): Columns {
    return this.#series.columns;
  }

  add({ slot, stream, updatedAt, priorityFeeLevels }: FeeFrame): void {
    const last = this.#last;
    const isOther = last !== undefined && last.stream !== stream;
    if (last !== undefined && !isOther && slot <= last.slot) return; // the fees are those of a slot before
    this.#last = { slot, stream };
    const timeSec = timeOf(updatedAt);
    if (isOther || timeSec - (this.#series.columns[0]?.at(-1) ?? timeSec) > GAP_SEC) this.#series.addGap();
    if (priorityFeeLevels !== null) this.#series.set(timeSec, valuesOf(priorityFeeLevels));
  }

  /** Puts what the gateway saw before the page was opened in front. */
  prepend(rows: readonly Pick<HistoryRow, 'endedAt' | 'priorityFee'>[]): void {
    let lastSec = Number.POSITIVE_INFINITY;
    this.#series.prepend(
      rows.flatMap(({ endedAt, priorityFee }) => {
        if (priorityFee === null) return [];
        const timeSec = timeOf(endedAt);
        const point: [number, ...number[]] = [timeSec, ...valuesOf(priorityFee)];
        const points: (typeof point)[] = timeSec - lastSec > GAP_SEC ? [[lastSec + 1], point] : [point];
        lastSec = timeSec;
        return points;
      }),
    );
  }
}

const timeOf = (ms: number): number => Math.floor(ms / 1000 / STEP_SEC) * STEP_SEC;

/** A picture needs no digit beyond a double. */
const valuesOf = ({ low, medium, high }: Levels): number[] => [Number(low), Number(medium), Number(high)];
