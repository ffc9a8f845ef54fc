import type { Slot } from '../../../shared/domain/slot.ts';

/** Combined value of several reads, and the slot of each. */
export interface ReadParts<T> {
  readonly slots: readonly Slot[];
  /** First slot at which each part is known to hold, where that is earlier. Default: {@link slots}. */
  readonly sinceSlots?: readonly Slot[];
  /** False where the read is too large to be made again. Default: true. */
  readonly isRepeatable?: boolean;
  readonly value: T;
}

export interface CombinedRead<T> {
  /** Slot of all parts, or of the oldest where they are inconsistent. */
  readonly slot: Slot;
  readonly value: T;
  /** First slot at which the newest part is known to hold: beyond {@link slot} where the parts are inconsistent. */
  readonly sinceSlot: Slot;
  /** True when all parts hold at one slot: together they are the state at that slot. */
  readonly isConsistent: boolean;
}

/** The rounds before parts of two slots are answered: three were too few for a node on a machine with a load of 20. */
const DEFAULT_ROUNDS = 5;

/** At most `maxRounds` times, until all hold at one slot. `read` is given the oldest slot of each part. */
export async function readAtOneSlot<T>(
  minContextSlot: Slot | undefined,
  read: (minContextSlot: Slot | undefined) => Promise<ReadParts<T>>,
  maxRounds = DEFAULT_ROUNDS,
): Promise<CombinedRead<T>> {
  for (let minSlot = minContextSlot, round = 1; ; round++) {
    const { slots, sinceSlots = slots, isRepeatable = true, value } = await read(minSlot);
    const [oldest, newest] = [Math.min(...slots), Math.max(...sinceSlots)];
    if (oldest >= newest || round === maxRounds || !isRepeatable)
      return { slot: oldest, sinceSlot: newest, value, isConsistent: oldest >= newest };
    minSlot = newest;
  }
}
