/** The largest number of 64 bits, and so the largest amount that Solana stores. */
export const MAX_U64 = 2n ** 64n - 1n;
