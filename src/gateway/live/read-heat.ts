import type { Slot } from '../../shared/domain/slot.ts';

/**
 * How often something is read lately: each slot with a read counts one, and half as much after each half-life. However
 * many callers read it in one slot, being kept live saves one read of the upstream.
 */
export interface ReadHeat {
  tipAtLastRead: Slot | undefined;
  /**
   * The logarithm of the heat (to base 2), plus the age of the clock in half-lives. All heats fade alike, so ranks compare
   * as heats do at any time, and a rank changes with reads only: it rises.
   */
  rank: number;
}

export const unread = (): ReadHeat => ({ tipAtLastRead: undefined, rank: Number.NEGATIVE_INFINITY });

export function recordRead(heat: ReadHeat, tip: Slot, halfLifeSlots: number): void {
  if (heat.tipAtLastRead !== undefined && tip <= heat.tipAtLastRead) return;
  heat.tipAtLastRead = tip;
  heat.rank = Math.log2(heatAt(heat, tip, halfLifeSlots) + 1) + tip / halfLifeSlots;
}

/** Counts the reads of others, too: the heat is that of the busiest reader, since all share what is kept live. */
export function absorbReads(heat: ReadHeat, { rank, tipAtLastRead = 0 }: Readonly<ReadHeat>): void {
  heat.tipAtLastRead = Math.max(heat.tipAtLastRead ?? 0, tipAtLastRead);
  heat.rank = Math.max(heat.rank, rank);
}

export const heatAt = ({ rank }: Readonly<ReadHeat>, tip: Slot, halfLifeSlots: number): number =>
  2 ** (rank - tip / halfLifeSlots);
