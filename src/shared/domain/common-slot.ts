import type { Slot } from './slot.ts';

/** The slots at which a state is known to hold: all from `sinceSlot` to `slot`. */
export interface SlotSpan {
  readonly sinceSlot: Slot;
  readonly slot: Slot;
}

/**
 * Returns the newest slot at which all states are known to hold together; undefined if there is none: one changed after
 * the last slot that is known of another.
 */
export function commonSlot(spans: Iterable<SlotSpan>): Slot | undefined {
  let newest = Number.POSITIVE_INFINITY;
  let oldest = Number.NEGATIVE_INFINITY;
  for (const { sinceSlot, slot } of spans) {
    newest = Math.min(newest, slot);
    oldest = Math.max(oldest, sinceSlot);
  }
  return oldest <= newest && Number.isFinite(newest) ? newest : undefined;
}
