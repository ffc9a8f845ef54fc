/** The slots of the strip. */
export const STRIP_SLOTS = 64;

/** Where a slot is read from: a frame, which has the gateway's clock. */
export interface StripFrame {
  readonly slot: number;
  readonly stream: string;
  /** Unix milliseconds. */
  readonly updatedAt: number;
}

/** A row of the network's history that is one slot, or some of which only the last one was seen. */
export interface StripRow {
  readonly slot: number;
  readonly slots: number;
  readonly slotTimeMs: number | null;
}

export interface StripCell {
  readonly slot: number;
  /** The time since the slot before it, in milliseconds; null if no block of it was seen. */
  readonly ms: number | null;
}

/** The newest slots, the oldest first: how long each took, and of which no block was seen. */
export class SlotStrip {
  #cells: readonly StripCell[] = [];
  #last: StripFrame | undefined;

  get cells(): readonly StripCell[] {
    return this.#cells;
  }

  add(frame: StripFrame): void {
    const last = this.#last;
    if (last !== undefined && last.stream === frame.stream && frame.slot <= last.slot) return;
    this.#last = frame;
    if (last === undefined || last.stream !== frame.stream) return;
    this.#append(frame.slot, frame.slot - last.slot, frame.updatedAt - last.updatedAt);
  }

  /** Puts what the gateway saw before the page was opened in front. */
  prepend(rows: readonly StripRow[]): void {
    const later = this.#cells;
    this.#cells = [];
    for (const { slot, slots, slotTimeMs } of rows)
      if (slots > 0 && slotTimeMs !== null && slot < (later[0]?.slot ?? Number.POSITIVE_INFINITY))
        this.#append(slot, slots, slotTimeMs * slots);
    this.#cells = [...this.#cells, ...later].slice(-STRIP_SLOTS);
  }

  #append(slot: number, slots: number, ms: number): void {
    const unseen = Math.min(slots - 1, STRIP_SLOTS);
    const cells = Array.from({ length: unseen }, (_, at): StripCell => ({ slot: slot - unseen + at, ms: null }));
    this.#cells = [...this.#cells, ...cells, { slot, ms }].slice(-STRIP_SLOTS);
  }
}
