import { COMMITMENTS, type Commitment } from '../../../shared/domain/commitment.ts';
import { type ErrorCode, GatewayError } from '../../../shared/domain/gateway-error.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import { isBase58Of } from '../../../transactions/index.ts';
import { slotIn } from '../../serving/min-slot.ts';

/** A request parameter: how to parse it, and its entry in the API document. `Given` is the type a client passes. */
export interface Param<T, Given = T> {
  readonly schema: object;
  readonly required: boolean;
  readonly description: string;
  /** Parses the text, undefined if the request doesn't name the parameter. Throws the parameter's own 400. */
  parse(text: string | undefined, name: string): T;
  /** Never set: carries the type `Given` only. */
  readonly input?: Given;
}

/** An account that every cluster has: the mint of wrapped SOL. */
const ANY_ADDRESS = 'So11111111111111111111111111111111111111112';

const ANY_SIGNATURE = '2msqMqeUTTZhgite3PvWSLJhZJ3m4v4UMbDAcXymTPpXwKM5PcKfZFfxn4izZ2UTZmngYJeWSf1ztdD6kdeDkdbr';

const base58Param = (bytes: number, code: ErrorCode, noun: string): Param<string> => ({
  schema: {
    type: 'string',
    pattern: '^[1-9A-HJ-NP-Za-km-z]+$',
    minLength: bytes,
    maxLength: Math.ceil(bytes * 1.375),
    examples: [bytes === 32 ? ANY_ADDRESS : ANY_SIGNATURE],
  },
  required: true,
  description: `${noun}: ${bytes} bytes in base58`,
  parse(text, name) {
    if (text !== undefined && isBase58Of(text, bytes)) return text;
    throw new GatewayError(code, `${name} must be ${noun}: ${bytes} bytes in base58`);
  },
});

const optional = <T>(param: Param<T>): Param<T | undefined> => ({
  ...param,
  required: false,
  parse: (text, name) => (text === undefined ? undefined : param.parse(text, name)),
});

export const address: Param<string> = base58Param(32, 'invalid_address', 'an address');

export const optionalAddress: Param<string | undefined> = optional(address);

/** Returns a parameter of 1 to `maxCount` different addresses, separated by commas. Returns them in their order. */
export const addresses = (maxCount: number): Param<readonly string[]> => ({
  schema: { type: 'array', items: address.schema, minItems: 1, maxItems: maxCount, uniqueItems: true },
  required: true,
  description: `1 to ${maxCount} different addresses in one parameter, separated by commas`,
  parse(text = '', name) {
    const list = text === '' ? [] : text.split(',');
    if (list.length < 1 || list.length > maxCount)
      throw new GatewayError('invalid_query', `${name} must be 1 to ${maxCount} addresses, separated by commas`);
    const positions = new Map<string, number>();
    for (const [i, each] of list.entries()) {
      const position = positions.get(address.parse(each, `item ${i + 1} of ${name}`));
      if (position !== undefined)
        throw new GatewayError('invalid_query', `item ${i + 1} of ${name} repeats item ${position}`);
      positions.set(each, i + 1);
    }
    return list;
  },
});

export const signature: Param<string> = base58Param(64, 'invalid_signature', 'a signature');

export const before: Param<string | undefined> = optional(base58Param(64, 'invalid_cursor', 'a signature'));

/** A slot number: decimal, without leading zeros, so that each slot has one spelling. */
export const slot: Param<Slot> = {
  schema: { type: 'string', pattern: '^(0|[1-9][0-9]{0,15})$', examples: ['1000000'] },
  required: true,
  description: 'A slot: a decimal number',
  parse(text, name) {
    const slot = slotIn(text ?? '');
    if (slot !== undefined) return slot;
    throw new GatewayError('invalid_slot', `${name} must be a decimal number below 2^53`);
  },
};

export const PAST_ERRORS = ['invalid_slot', 'block_not_available', 'slot_not_kept'] as const;

export const pastSlot: Param<Slot | undefined> = {
  ...optional(slot),
  description:
    'A past slot: the answer is the state at the end of its block, where that is kept. Default: the newest one',
};

export const limit = (
  defaultLimit: number,
  maxLimit: number,
  description: string,
): Param<number, number | undefined> => ({
  schema: { type: 'integer', minimum: 1, maximum: maxLimit, default: defaultLimit },
  required: false,
  description,
  parse(text, name) {
    if (text === undefined) return defaultLimit;
    const count = /^[1-9]\d{0,5}$/.test(text) ? Number(text) : Number.NaN;
    if (count <= maxLimit) return count;
    throw new GatewayError('invalid_query', `${name} must be a number from 1 to ${maxLimit}`);
  },
});

export const optionalLiteral = <T extends string>(value: T, description: string): Param<T | undefined> => ({
  schema: { type: 'string', enum: [value] },
  required: false,
  description,
  parse(text, name) {
    if (text === undefined || text === value) return text as T | undefined; // compared just before
    throw new GatewayError('invalid_query', `${name} can only be ${value}`);
  },
});

/** `?agree=`: the operators that must give the answer. How many there are is known to the gateway only, which checks it. */
export const agree: Param<string | undefined, number | undefined> = {
  schema: { type: 'integer', minimum: 1 },
  required: false,
  description: 'The fewest operators that must give the answer at its slot, as `X-Agree`; default: 1',
  parse: (text) => text,
};

export const oneOf = <T extends string>(
  defaultValue: NoInfer<T>,
  accepted: readonly T[],
  description: string,
): Param<T, T | undefined> => ({
  schema: { type: 'string', enum: accepted, default: defaultValue },
  required: false,
  description,
  parse(text, name) {
    const known = accepted.find((value) => value === text);
    if (text === undefined || known !== undefined) return known ?? defaultValue;
    throw new GatewayError('invalid_query', `${name} must be one of ${accepted.join(', ')}`);
  },
});

export const commitment = <C extends Commitment>(
  defaultCommitment: NoInfer<C>,
  accepted: readonly C[],
): Param<C, C | undefined> => oneOf(defaultCommitment, accepted, 'Commitment of the cluster to the slot of the answer');

/** Returns the commitment of an answer; that of routes without the parameter is `confirmed`. */
export const commitmentOf = (params: Readonly<Record<string, unknown>>): Commitment =>
  COMMITMENTS.find((known) => known === params['commitment']) ?? 'confirmed';

const MAX_PAGE = 999_999_999;

export const page: Param<number, number | undefined> = {
  schema: { type: 'integer', minimum: 1, maximum: MAX_PAGE, default: 1 },
  required: false,
  description: 'Page number, from 1',
  parse(text, name) {
    if (text === undefined) return 1;
    if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
    throw new GatewayError('invalid_page', `${name} must be a whole number from 1 to ${MAX_PAGE}`);
  },
};

/** The id of a receipt key: the first 8 bytes of the SHA-256 of the public key, in hex. */
export const kid: Param<string | undefined> = {
  schema: { type: 'string', pattern: '^[0-9a-f]{16}$' },
  required: false,
  description: 'Id of a key, as receipts name it',
  parse(text, name) {
    if (text === undefined || /^[0-9a-f]{16}$/.test(text)) return text;
    throw new GatewayError('invalid_query', `${name} must be 16 lower-case hex digits`);
  },
};
