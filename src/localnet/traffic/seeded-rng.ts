/** Chance that repeats: the same seed, the same throws. */
export interface Rng {
  /** An integer from 0 to `limit - 1`. */
  intBelow(limit: number): number;
  pick<T>(list: readonly [T, ...T[]]): T;
  /** From 1 to `limit`, small ones more often than large ones. */
  amount(limit: number): bigint;
}

/** Mulberry32: 32 bits of state, good enough for play. */
export function seededRng(seed: number): Rng {
  let state = seed | 0;
  const intBelow = (limit: number): number => {
    state = (state + 0x6d2b79f5) | 0;
    let bits = Math.imul(state ^ (state >>> 15), 1 | state);
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits;
    return ((bits ^ (bits >>> 14)) >>> 0) % limit;
  };
  return {
    intBelow,
    pick: (list) => list[intBelow(list.length)] ?? list[0],
    amount: (limit) => BigInt(1 + intBelow(1 + intBelow(limit))),
  };
}
