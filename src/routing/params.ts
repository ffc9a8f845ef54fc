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
  readonly input?: Given;
}

/** Texts longer than this can't be what `bytes` says, and decoding base58 takes quadratic time. */
const MAX_BASE58_LENGTH = 90;

const base58Param = (bytes: number, code: ErrorCode, noun: string): Param<string> => ({
  schema: { type: 'string', pattern: '^[1-9A-HJ-NP-Za-km-z]+$', minLength: bytes, maxLength: Math.ceil(bytes * 1.375) },
  required: true,
  description: `${noun}: ${bytes} bytes in base58`,
  parse(text, name) {
    if (text !== undefined && text.length <= MAX_BASE58_LENGTH && bs58.decodeUnsafe(text)?.length === bytes)
      return text;
    throw new GatewayError(code, `${name} must be ${noun}: ${bytes} bytes in base58`);
  },
});

const optional = <T>(param: Param<T>): Param<T | undefined> => ({
  ...param,
  required: false,
  parse: (text, name) => (text === undefined ? undefined : param.parse(text, name)),
});

/** An account's address. */
export const address: Param<string> = base58Param(32, 'invalid_address', 'an address');

/** A transaction's signature. */
export const signature: Param<string> = base58Param(64, 'invalid_signature', 'a signature');

/** `?before=`: the signature below which a page of history begins. */
export const before: Param<string | undefined> = optional(base58Param(64, 'invalid_cursor', 'a signature'));

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
export const limit = (defaultLimit: number, maxLimit: number): Param<number, number | undefined> => ({
  schema: { type: 'integer', minimum: 1, maximum: maxLimit, default: defaultLimit },
  required: false,
  description: 'At most so many',
  parse(text, name) {
    if (text === undefined) return defaultLimit;
    const count = /^[1-9]\d{0,5}$/.test(text) ? Number(text) : Number.NaN;
    if (count <= maxLimit) return count;
    throw new GatewayError('invalid_query', `${name} must be a number from 1 to ${maxLimit}`);
  },
});

/** A parameter that is named with one certain value, or not at all. */
export const optionalLiteral = <T extends string>(value: T, description: string): Param<T | undefined> => ({
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
export function commitment<C extends Commitment>(
  defaultCommitment: NoInfer<C>,
  accepted: readonly C[],
): Param<C, C | undefined> {
  return {
    schema: { type: 'string', enum: accepted, default: defaultCommitment },
    required: false,
    description: 'How sure the cluster must be of the slot',
    parse(text, name) {
      const known = accepted.find((value) => value === text);
      if (text === undefined || known !== undefined) return known ?? defaultCommitment;
      throw new GatewayError('invalid_query', `${name} must be one of ${accepted.join(', ')}`);
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
