import { z } from 'zod';

// The kinds of values that settings have, each with what is said of one that is not of it.

export const wholeNumber = (min: number, max: number) => {
  const expected = `expected a whole number from ${min} to ${max}`;
  return z.int(expected).min(min, expected).max(max, expected);
};

/** Of something that there is at least one of. */
export const positiveCount = wholeNumber(1, 10_000_000);

/** Of something that there may be none of. */
export const countOrZero = wholeNumber(0, 1_000_000);

/** 32 bytes: an address, or a genesis hash. */
export const base58 = (expected: string) => z.string(expected).regex(/^[1-9A-HJ-NP-Za-km-z]{32,44}$/, expected);

export const section = <T extends z.core.$ZodShape>(shape: T) => z.strictObject(shape, 'expected a group of settings');
