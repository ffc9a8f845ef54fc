/** Chance that repeats: the same seed, the same throws. */
export interface Dice {
  /** An integer from 0 to `limit - 1`. */
  below(limit: number): number;
  pick<T>(list: readonly [T, ...T[]]): T;
  /** From 1 to `limit`, small ones more often than large ones. */
  amount(limit: number): bigint;
}

/** Mulberry32: 32 bits of state, good enough for play. */
export function dice(seed: number): Dice {
  let state = seed | 0;
  const below = (limit: number): number => {
    state = (state + 0x6d2b79f5) | 0;
    let bits = Math.imul(state ^ (state >>> 15), 1 | state);
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits;
    return ((bits ^ (bits >>> 14)) >>> 0) % limit;
  };
  return {
    below,
    pick: (list) => list[below(list.length)] ?? list[0],
    amount: (limit) => BigInt(1 + below(1 + below(limit))),
  };
}
