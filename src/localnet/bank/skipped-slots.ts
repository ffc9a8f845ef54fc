import type { Slot } from '../../domain/slot.ts';

/** Which slots have no block: one in every `every` slots, at a place that varies. Known from the slot alone. */
export interface SkippedSlots {
  has(slot: Slot): boolean;
  /** How many slots below `slot` are skipped. */
  countBefore(slot: Slot): number;
}

/** `every` 0 skips none. */
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
