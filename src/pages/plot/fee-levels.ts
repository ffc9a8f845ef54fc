import { type Columns, TimeSeries } from './series.ts';

/** What the plot of fees is made of. */
export interface FeeFrame {
  readonly stream: string;
  /** Unix milliseconds. */
  readonly updatedAt: number;
  readonly priorityFeeLevels: {
    readonly low: number | bigint;
    readonly medium: number | bigint;
    readonly high: number | bigint;
  } | null;
}

const SPAN_SEC = 300;

/** Seconds of one point: five minutes of them stay far below the quota of `sessionStorage`. */
const STEP_SEC = 2;

/** The levels of priority fees of the last five minutes: low, medium and high. They outlive a reload of the page. */
export class FeeLevels {
  readonly #series = new TimeSeries(3, SPAN_SEC);
  #stream: string | undefined;

  get columns(): Columns {
    return this.#series.columns;
  }

  add({ stream, updatedAt, priorityFeeLevels }: FeeFrame): void {
    if (this.#stream !== undefined && this.#stream !== stream) this.#series.addGap();
    this.#stream = stream;
    if (priorityFeeLevels === null) return;
    const { low, medium, high } = priorityFeeLevels;
    const timeSec = Math.floor(updatedAt / 1000 / STEP_SEC) * STEP_SEC;
    this.#series.set(timeSec, [Number(low), Number(medium), Number(high)]); // a picture needs no digit beyond a double
  }

  /** Returns the points as text. */
  save(): string {
    return JSON.stringify({ stream: this.#stream, columns: this.#series.columns });
  }

  /** Restores the saved points of this stream. Does nothing if the text is of another stream, or was not saved here. */
  restore(saved: string | null, stream: string): void {
    try {
      const { stream: savedStream, columns } = JSON.parse(saved ?? '{}');
      if (savedStream !== stream || this.#series.length > 0) return;
      const [times = [], ...lines] = columns as number[][]; // as `save` wrote them
      for (const [at, time] of times.entries())
        this.#series.set(
          time,
          lines.map((line) => line[at] ?? null),
        );
      this.#stream = stream;
    } catch {
      // another page wrote it
    }
  }
}
