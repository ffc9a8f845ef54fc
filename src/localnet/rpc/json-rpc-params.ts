import bs58 from 'bs58';
import type { Commitment } from '../../shared/domain/commitment.ts';
import { MAX_U64 } from '../../shared/domain/max-u64.ts';
import type { Slot } from '../../shared/domain/slot.ts';
import { invalidParams } from '../encode/json-rpc-error.ts';

/** Members of a request's last parameter. */
export type RpcConfig = Readonly<Record<string, unknown>>;

export function readPositional(params: unknown, required: number, optional: number): readonly unknown[] {
  if (params !== undefined && params !== null && !Array.isArray(params)) {
    throw invalidParams('`params` should be an array');
  }
  const values: readonly unknown[] = params ?? [];
  const max = required + optional;
  if (max === 0 && values.length > 0) {
    throw invalidParams('Invalid parameters: No parameters were expected', `Array(${rustDebug(values)})`);
  }
  if (values.length < required) throw invalidParams(`\`params\` should have at least ${required} argument(s)`);
  if (values.length > max) {
    const message = `Invalid parameters: Expected from ${required} to ${max} parameters.`;
    throw invalidParams(message, `"Got: ${values.length}"`);
  }
  return values;
}

export function readString(value: unknown): string {
  if (typeof value !== 'string') throw wrongType(value, 'a string');
  return value;
}

/** Reads a slot, a size or a limit; inexact above 2^53. */
export const readU64 = (value: unknown): number => Number(readExactU64(value));

export function readExactU64(value: unknown): bigint {
  if (!isInteger(value)) throw wrongType(value, 'u64');
  if (value < 0) throw invalidParams(`Invalid params: invalid value: integer \`${value}\`, expected u64.`);
  return BigInt(value);
}

export function readList(value: unknown, max: number): readonly unknown[] {
  if (!Array.isArray(value)) throw wrongType(value, 'a sequence');
  if (value.length > max) throw invalidParams(`Too many inputs provided; max ${max}`);
  return value;
}

export const readAddress = (value: unknown): string => readBase58(value, 32);
export const readSignature = (value: unknown): string => readBase58(value, 64);

/** Reads the last parameter, which may be absent or null. */
export function readConfig(value: unknown): RpcConfig {
  if (value === undefined || value === null) return {};
  if (typeof value !== 'object' || Array.isArray(value)) throw wrongType(value, 'a map');
  return value as RpcConfig; // an object of parsed JSON
}

/** Reads a member that may be absent or null. */
export function readOptional<T>(value: unknown, read: (value: unknown) => T): T | undefined {
  return value === undefined || value === null ? undefined : read(value);
}

/** Reads the commitment. A node treats any other value as `finalized`. */
export function readCommitment({ commitment }: RpcConfig): Commitment {
  const name = readOptional(commitment, readString);
  return name === 'processed' || name === 'confirmed' ? name : 'finalized';
}

/** Reads the commitment for methods that read blocks, which are incomplete before they are confirmed. */
export function readBlockCommitment(config: RpcConfig): Commitment {
  const level = readCommitment(config);
  if (level === 'processed') throw invalidParams('Method does not support commitment below `confirmed`');
  return level;
}

/** Reads the lowest slot that the caller accepts. */
export const readMinContextSlot = ({ minContextSlot }: RpcConfig): Slot | undefined =>
  readOptional(minContextSlot, readU64);

export function readVariant<T extends string>(value: unknown, names: readonly T[]): T {
  const name = readString(value);
  const known = names.find((known) => known === name);
  if (known !== undefined) return known;
  const expected = names.map((known) => `\`${known}\``).join(', ');
  throw invalidParams(`Invalid params: unknown variant \`${name}\`, expected one of ${expected}.`);
}

/** Creates the error for a value of the wrong type, in the words of serde, with which a node parses JSON. */
function wrongType(value: unknown, expected: string): Error {
  return invalidParams(`Invalid params: invalid type: ${describeType(value)}, expected ${expected}.`);
}

function describeType(value: unknown): string {
  if (value === undefined || value === null) return 'null';
  if (Array.isArray(value)) return 'sequence';
  if (typeof value === 'string') return `string ${JSON.stringify(value)}`;
  if (typeof value === 'boolean') return `boolean \`${value}\``;
  if (typeof value === 'object') return 'map';
  return isInteger(value) ? `integer \`${value}\`` : `floating point \`${value}\``;
}

/** Formats a JSON value as Rust's `Debug` does in a node's messages. */
function rustDebug(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(rustDebug).join(', ')}]`;
  if (typeof value === 'string') return `String(${JSON.stringify(value)})`;
  if (typeof value === 'boolean') return `Bool(${value})`;
  if (typeof value === 'object') return value === null ? 'Null' : 'Object {..}';
  return `Number(${value})`;
}

/** A node reads a greater number as a floating point. */
const isInteger = (value: unknown): value is number | bigint =>
  (typeof value === 'bigint' || (typeof value === 'number' && Number.isInteger(value))) && value <= MAX_U64;

function readBase58(value: unknown, size: number): string {
  const text = readString(value);
  const bytes = bs58.decodeUnsafe(text.slice(0, 2 * size)); // longer text can't be of this size
  if (bytes === undefined) throw invalidParams('Invalid param: Invalid');
  if (bytes.length !== size) throw invalidParams('Invalid param: WrongSize');
  return text;
}
