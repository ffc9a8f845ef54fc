import type { Snapshot } from '../../client/index.ts';
import type { HistoryRow } from './history-columns.ts';
import { type Columns, TimeSeries } from './series.ts';

/** What the pace is made of: times are the gateway's, so the network's jitter does not show. */
type PaceFrame = Pick<Snapshot, 'slot' | 'stream' | 'updatedAt'>;

/** A row that is one slot or a few. */
type PaceRow = Pick<HistoryRow, 'endedAt' | 'slots' | 'slotTimeMs'>;

const SPAN_SEC = 300;

/** The time without a slot over which no line is drawn, and which is no pace: it would be higher than all others. */
const GAP_MS = 3000;

/** The milliseconds per slot of the last five minutes, in bins of a second. */
export class SlotPace {
  readonly #series = new TimeSeries(1, SPAN_SEC);
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
    else if (last !== undefined && secondOf(last) !== secondOf(frame)) {
      const isGap = frame.updatedAt - last.updatedAt > GAP_MS;
      if (isGap) this.#series.addGap();
      this.#base = isGap ? undefined : last;
    }
    this.#last = frame;
    const base = this.#base;
    if (base !== undefined)
      this.#series.set(secondOf(frame), [(frame.updatedAt - base.updatedAt) / (frame.slot - base.slot)]);
  }

  /** Puts what the gateway saw before the page was opened in front. */
  prepend(rows: readonly PaceRow[]): void {
    this.#series.prepend(
      rows.flatMap(({ endedAt, slots, slotTimeMs }): [number, number | null][] => {
        if (slotTimeMs === null) return [];
        const ms = slotTimeMs * slots;
        return [ms > GAP_MS ? [Math.floor((endedAt - ms) / 1000) + 1, null] : [Math.floor(endedAt / 1000), slotTimeMs]];
      }),
    );
  }
}

const secondOf = ({ updatedAt }: PaceFrame): number => Math.floor(updatedAt / 1000);
