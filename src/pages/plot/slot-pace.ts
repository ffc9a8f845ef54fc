import { type Columns, TimeSeries } from './series.ts';

/** What the pace is made of: times are the gateway's, so the network's jitter does not show. */
export interface PaceFrame {
  readonly slot: number;
  readonly stream: string;
  /** Unix milliseconds. */
  readonly updatedAt: number;
}

const SPAN_SEC = 300;

/** The milliseconds per slot of the last five minutes, in bins of a second. */
export class SlotPace {
  readonly #series = new TimeSeries(1, SPAN_SEC);
  /** The last frame before the newest bin. */
  #base: PaceFrame | undefined;
  #last: PaceFrame | undefined;

  get columns(): Columns {
    return this.#series.columns;
  }

  add(frame: PaceFrame): void {
    const last = this.#last;
    if (last !== undefined && last.stream !== frame.stream) {
      this.#series.addGap();
      this.#base = undefined;
    } else if (last !== undefined && frame.slot <= last.slot)
      return; // repeated, since there is no new slot
    else if (last !== undefined && secondOf(last) !== secondOf(frame)) this.#base = last;
    this.#last = frame;
    const base = this.#base;
    if (base !== undefined)
      this.#series.set(secondOf(frame), [(frame.updatedAt - base.updatedAt) / (frame.slot - base.slot)]);
  }
}

const secondOf = ({ updatedAt }: PaceFrame): number => Math.floor(updatedAt / 1000);
