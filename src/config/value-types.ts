import bs58 from 'bs58';
import * as z from 'zod';

// The types of setting values, each with the message for a value of another type.

export const wholeNumber = (min: number, max: number, orElse = '') => {
  const expected = `expected a whole number from ${min} to ${max}${orElse}`;
  return z.int(expected).min(min, expected).max(max, expected);
};

export const wholeNumberOrNull = (min: number, max: number) => z.nullable(wholeNumber(min, max, ', or null'));

export const oneOf = <T extends string>(names: readonly T[]) => z.enum(names, `expected one of ${names.join(', ')}`);

export const positiveCount = wholeNumber(1, 10_000_000);

export const countOrZero = wholeNumber(0, 1_000_000);

const PART = 'expected a number from 0 to 1';

export const fraction = z.number(PART).min(0, PART).max(1, PART);

export const milliseconds = wholeNumber(1, 3_600_000);

export const longDuration = wholeNumber(1, 4_000_000_000);

/** A size in bytes. With fewer than `min` nothing would work. */
export const byteCount = (min: number) => wholeNumber(min, 2 ** 40);

/** 32 bytes: an address, or a genesis hash. The pattern bounds what is decoded, and stands in the JSON schema. */
export const base58 = (expected: string) =>
  z
    .string(expected)
    .regex(/^[1-9A-HJ-NP-Za-km-z]{32,44}$/, { error: expected, abort: true })
    .refine((text) => bs58.decode(text).length === 32, expected);

const HOST = 'expected an IP address or a host name';

/** What a socket can listen on: an IPv6 address may name its interface, and no host name ends in a number (RFC 3696 2). */
export const host = z.union(
  [
    z.ipv4(),
    z.ipv6(),
    z.string().regex(/^fe80:[\da-f:]*:[\da-f]*%[\w.-]+$/i),
    z.hostname().regex(/(^|\.)[^.]*[^\d.][^.]*\.?$/),
  ],
  HOST,
);

export const section = <T extends z.core.$ZodShape>(shape: T) => z.strictObject(shape, 'expected a group of settings');

/** A type whose members can't be assigned, at any depth. */
export type DeepReadonly<T> = T extends object ? { readonly [K in keyof T]: DeepReadonly<T[K]> } : T;

/** A type whose members may be missing, at any depth; lists are whole. */
export type DeepPartial<T> = T extends readonly unknown[]
  ? DeepReadonly<T>
  : T extends object
    ? { readonly [K in keyof T]?: DeepPartial<T[K]> }
    : T;
