/** Reproducible random numbers: the same seed gives the same sequence. */
export interface Rng {
  /** Returns an integer from 0 to `limit - 1`. */
  intBelow(limit: number): number;
  pick<T>(list: readonly [T, ...T[]]): T;
  /** Returns an amount from 1 to `limit`, small ones more often than large ones. */
  amount(limit: number): bigint;
}

/** Creates a Mulberry32 generator: 32 bits of state, good enough for demo traffic. */
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
