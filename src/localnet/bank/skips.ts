import type { Slot } from '../../domain/slot.ts';

/** Which slots have no block: one in every `every` slots, at a place that varies. Known from the slot alone. */
export interface Skips {
  has(slot: Slot): boolean;
  /** How many slots below `slot` are skipped. */
  before(slot: Slot): number;
}

/** `every` 0 skips none. */
export function skips(every: number): Skips {
  if (every === 0) return { has: () => false, before: () => 0 };
  const place = (window: number): number => ((window % 1_000_003) * 7919) % every;
  return {
    has: (slot) => slot % every === place(Math.floor(slot / every)),
    before(slot) {
      const window = Math.floor(slot / every);
      return window + (slot % every > place(window) ? 1 : 0);
    },
  };
}
