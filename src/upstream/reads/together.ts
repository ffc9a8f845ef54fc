import type { Slot } from '../../domain/slot.ts';

/** What several reads gave, and the slot of each. */
export interface Parts<T> {
  readonly slots: readonly Slot[];
  /** The first slot that each is known to hold at, where they hold longer than for one. Default: {@link slots}. */
  readonly since?: readonly Slot[];
  readonly value: T;
}

export interface Together<T> {
  /** The slot of all parts, or that of the oldest where they never agreed. */
  readonly slot: Slot;
  readonly value: T;
  /** The first slot that the newest part is known to hold at: beyond {@link slot} where they never agreed. */
  readonly since: Slot;
  /** True when all parts hold at one slot: together they are then the state at that slot. */
  readonly agree: boolean;
}

const ROUNDS = 3;

/**
 * Makes reads that belong together again until they hold at one slot, at most `rounds` times, by default three. `read` is
 * told the slot that no part may be older than.
 */
export async function readTogether<T>(
  minContextSlot: Slot | undefined,
  read: (minContextSlot: Slot | undefined) => Promise<Parts<T>>,
  rounds = ROUNDS,
): Promise<Together<T>> {
  for (let floor = minContextSlot, round = 1; ; round++) {
    const { slots, since = slots, value } = await read(floor);
    const [oldest, newest] = [Math.min(...slots), Math.max(...since)];
    if (oldest >= newest || round === rounds) return { slot: oldest, since: newest, value, agree: oldest >= newest };
    floor = newest;
  }
}
