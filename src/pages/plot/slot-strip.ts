import type { Snapshot } from '../../client/index.ts';
import type { HistoryRow } from './history-columns.ts';

/** The slots of the strip. */
export const STRIP_SLOTS = 64;

/** Where a slot is read from: a frame, which has the gateway's clock. */
type StripFrame = Pick<Snapshot, 'slot' | 'stream' | 'seq' | 'updatedAt'>;

/** A row that is one slot, or some of which only the last one was seen. */
type StripRow = Pick<HistoryRow, 'slot' | 'endedAt' | 'slots' | 'slotTimeMs'>;

export interface StripCell {
  readonly slot: number;
  /** The time since the slot before it, in milliseconds; null if no block of it was seen, undefined if that is not known. */
  readonly ms: number | null | undefined;
}

/** The newest slots, the oldest first, without a gap: how long each took, and of which no block was seen. */
export class SlotStrip {
  #cells: StripCell[] = [];
  #first: StripFrame | undefined;
  #last: StripFrame | undefined;

  get cells(): readonly StripCell[] {
    return this.#cells;
  }

  add(frame: StripFrame): void {
    const last = this.#last?.stream === frame.stream ? this.#last : undefined;
    const isRepeated = last !== undefined && frame.slot <= last.slot;
    this.#first ??= frame;
    this.#last = isRepeated ? { ...last, seq: Math.max(last.seq, frame.seq) } : frame;
    if (last === undefined || isRepeated) return;
    if (frame.seq === last.seq + 1) this.#append(frame.slot, frame.slot - last.slot, frame.updatedAt - last.updatedAt);
    else this.#append(frame.slot, 1, undefined); // between them are frames that this page has not seen
  }

  /** Puts what the gateway saw before the page was opened in front. */
  prepend(rows: readonly StripRow[]): void {
    const later = this.#cells;
    const first = this.#first;
    this.#cells = [];
    for (const { slot, slots, slotTimeMs } of rows)
      if (slots > 0 && slotTimeMs !== null && slot < (later[0]?.slot ?? Number.POSITIVE_INFINITY))
        this.#append(slot, slots, slotTimeMs * slots);
    const before = rows.findLast(({ slot, slots }) => slots > 0 && slot + 1 === first?.slot);
    if (before !== undefined && first !== undefined && this.#cells.at(-1)?.slot === before.slot)
      this.#append(first.slot, 1, first.updatedAt - before.endedAt);
    for (const { slot, ms } of later) this.#append(slot, 1, ms);
  }

  /** Appends a slot, before it those of `slots` that had no block, and before them those of which nothing is known. */
  #append(slot: number, slots: number, ms: StripCell['ms']): void {
    const first = slot - slots + 1;
    const newest = this.#cells.at(-1)?.slot ?? first - 1;
    if (newest >= slot)
      this.#cells = []; // another cluster
    else
      for (let before = Math.max(newest + 1, slot - STRIP_SLOTS); before < slot; before++)
        this.#cells.push({ slot: before, ms: before < first ? undefined : null });
    this.#cells.push({ slot, ms });
    this.#cells = this.#cells.slice(-STRIP_SLOTS);
  }
}
