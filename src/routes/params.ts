import bs58 from 'bs58';
import type { Commitment } from '../domain/commitment.ts';
import { type ErrorCode, GatewayError } from '../domain/error.ts';

/** Reads one request parameter, and describes it for the API document. */
export interface Param<T> {
  readonly schema: object;
  readonly required: boolean;
  readonly description: string;
  /** `text` is undefined when the request doesn't name the parameter. Throws the parameter's own 400. */
  parse(text: string | undefined, name: string): T;
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

/** An account's address. */
export const address: Param<string> = base58(32, 'invalid_address', 'an address');

/** `?commitment=`, of those that the route takes. */
export function commitment(fallback: Commitment, takes: readonly Commitment[]): Param<Commitment> {
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
