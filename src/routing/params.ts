import bs58 from 'bs58';
import type { Commitment } from '../domain/commitment.ts';
import { type ErrorCode, GatewayError } from '../domain/gateway-error.ts';
import type { Slot } from '../domain/slot.ts';

/** Reads one request parameter, and describes it for the API document. `Given` is what a client writes. */
export interface Param<T, Given = T> {
  readonly schema: object;
  readonly required: boolean;
  readonly description: string;
  /** `text` is undefined when the request doesn't name the parameter. Throws the parameter's own 400. */
  parse(text: string | undefined, name: string): T;
  /** Is never there: it only lets the type be known. */
  readonly given?: Given;
}

/** Texts longer than this can't be what `bytes` says, and decoding base58 takes quadratic time. */
const LONGEST = 90;

const base58 = (bytes: number, code: ErrorCode, what: string): Param<string> => ({
  schema: { type: 'string', pattern: '^[1-9A-HJ-NP-Za-km-z]+$', minLength: bytes, maxLength: Math.ceil(bytes * 1.375) },
  required: true,
  description: `${what}: ${bytes} bytes in base58`,
  parse(text, name) {
    if (text !== undefined && text.length <= LONGEST && bs58.decodeUnsafe(text)?.length === bytes) return text;
    throw new GatewayError(code, `${name} must be ${what}: ${bytes} bytes in base58`);
  },
});

const optional = <T>(param: Param<T>): Param<T | undefined> => ({
  ...param,
  required: false,
  parse: (text, name) => (text === undefined ? undefined : param.parse(text, name)),
});

/** An account's address. */
export const address: Param<string> = base58(32, 'invalid_address', 'an address');

/** A transaction's signature. */
export const signature: Param<string> = base58(64, 'invalid_signature', 'a signature');

/** `?before=`: the signature below which a page of history begins. */
export const before: Param<string | undefined> = optional(base58(64, 'invalid_cursor', 'a signature'));

/** A slot's number, in decimal and spelled in one way only. */
export const slot: Param<Slot> = {
  schema: { type: 'string', pattern: '^(0|[1-9][0-9]{0,15})$' },
  required: true,
  description: 'A slot: a decimal number',
  parse(text, name) {
    const slot = /^(0|[1-9]\d{0,15})$/.test(text ?? '') ? Number(text) : Number.NaN;
    if (Number.isSafeInteger(slot)) return slot;
    throw new GatewayError('invalid_slot', `${name} must be a decimal number below 2^53`);
  },
};

/** `?limit=`, from 1 on. */
export const limit = (fallback: number, most: number): Param<number, number | undefined> => ({
  schema: { type: 'integer', minimum: 1, maximum: most, default: fallback },
  required: false,
  description: 'At most so many',
  parse(text, name) {
    if (text === undefined) return fallback;
    const count = /^[1-9]\d{0,5}$/.test(text) ? Number(text) : Number.NaN;
    if (count <= most) return count;
    throw new GatewayError('invalid_query', `${name} must be a number from 1 to ${most}`);
  },
});

/** A parameter that is named with one certain value, or not at all. */
export const choice = <T extends string>(value: T, description: string): Param<T | undefined> => ({
  schema: { type: 'string', enum: [value] },
  required: false,
  description,
  parse(text, name) {
    if (text === undefined || text === value) return text as T | undefined; // compared just before
    throw new GatewayError('invalid_query', `${name} can only be ${value}`);
  },
});

/** An address in the query that may be left out. */
export const optionalAddress: Param<string | undefined> = {
  ...address,
  required: false,
  parse: (text, name) => (text === undefined ? undefined : address.parse(text, name)),
};

/** `?commitment=`, of those that the route takes. */
export function commitment<C extends Commitment>(fallback: NoInfer<C>, takes: readonly C[]): Param<C, C | undefined> {
  return {
    schema: { type: 'string', enum: takes, default: fallback },
    required: false,
    description: 'How sure the cluster must be of the slot',
    parse(text, name) {
      const known = takes.find((value) => value === text);
      if (text === undefined || known !== undefined) return known ?? fallback;
      throw new GatewayError('invalid_query', `${name} must be one of ${takes.join(', ')}`);
    },
  };
}

/** `?page=`, counted from 1. */
export const page: Param<number, number | undefined> = {
  schema: { type: 'integer', minimum: 1, default: 1 },
  required: false,
  description: 'Which page, from 1',
  parse(text, name) {
    if (text === undefined) return 1;
    if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
    throw new GatewayError('invalid_page', `${name} must be a whole number from 1 on`);
  },
};

/** The id of a receipt key: the first 8 bytes of the SHA-256 of the public key, in hex. */
export const kid: Param<string | undefined> = {
  schema: { type: 'string', pattern: '^[0-9a-f]{16}$' },
  required: false,
  description: 'The id of a key that a receipt names',
  parse(text, name) {
    if (text === undefined || /^[0-9a-f]{16}$/.test(text)) return text;
    throw new GatewayError('invalid_query', `${name} must be 16 lower-case hex digits`);
  },
};
