import type { Slot } from '../../domain/slot.ts';

/** Slots without a block: one in every `every` slots, at a varying position that follows from the slot alone. */
export interface SkippedSlots {
  has(slot: Slot): boolean;
  /** Returns the number of skipped slots below `slot`. */
  countBefore(slot: Slot): number;
}

/** Creates the set of skipped slots; with `every` 0 it is empty. */
export function createSkippedSlots(every: number): SkippedSlots {
  if (every === 0) return { has: () => false, countBefore: () => 0 };
  const skippedIndexOf = (window: number): number => ((window % 1_000_003) * 7919) % every;
  return {
    has: (slot) => slot % every === skippedIndexOf(Math.floor(slot / every)),
    countBefore(slot) {
      const window = Math.floor(slot / every);
      return window + (slot % every > skippedIndexOf(window) ? 1 : 0);
    },
  };
}
