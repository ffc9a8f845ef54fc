import bs58 from 'bs58';
import type { Commitment } from '../../domain/commitment.ts';
import type { Slot } from '../../domain/slot.ts';
import { invalidParams } from '../encode/node-error.ts';

/** The members of a request's last parameter. */
export type Config = Readonly<Record<string, unknown>>;

/** The parameters of a request by position. A method takes between `required` and `required + optional` of them. */
export function positional(params: unknown, required: number, optional: number): readonly unknown[] {
  if (params !== undefined && params !== null && !Array.isArray(params)) {
    throw invalidParams('`params` should be an array');
  }
  const values: readonly unknown[] = params ?? [];
  const most = required + optional;
  if (most === 0 && values.length > 0) {
    throw invalidParams('Invalid parameters: No parameters were expected', `Array(${debugged(values)})`);
  }
  if (values.length < required) throw invalidParams(`\`params\` should have at least ${required} argument(s)`);
  if (values.length > most) {
    const message = `Invalid parameters: Expected from ${required} to ${most} parameters.`;
    throw invalidParams(message, `"Got: ${values.length}"`);
  }
  return values;
}

/** Text, whatever it says. */
export function string(value: unknown): string {
  if (typeof value !== 'string') throw mistaken(value, 'a string');
  return value;
}

/** A slot, a size or a limit: far above 2^53 it is only known to be large. */
export const u64 = (value: unknown): number => Number(exactU64(value));

/** An amount, to the last digit. */
export function exactU64(value: unknown): bigint {
  if (!isInteger(value)) throw mistaken(value, 'u64');
  if (value < 0) throw invalidParams(`Invalid params: invalid value: integer \`${value}\`, expected u64.`);
  return BigInt(value);
}

/** A list that holds at most `max` items. */
export function list(value: unknown, max: number): readonly unknown[] {
  if (!Array.isArray(value)) throw mistaken(value, 'a sequence');
  if (value.length > max) throw invalidParams(`Too many inputs provided; max ${max}`);
  return value;
}

/** 32 bytes in base58, returned as they were spelt. */
export const address = (value: unknown): string => base58(value, 32);
/** 64 bytes in base58, returned as they were spelt. */
export const signature = (value: unknown): string => base58(value, 64);

/** The last parameter, which may be absent or null. */
export function config(value: unknown): Config {
  if (value === undefined || value === null) return {};
  if (typeof value !== 'object' || Array.isArray(value)) throw mistaken(value, 'a map');
  return value as Config; // an object that JSON gave
}

/** A member that may be absent or null. */
export function optional<T>(value: unknown, read: (value: unknown) => T): T | undefined {
  return value === undefined || value === null ? undefined : read(value);
}

/** Anything that is no commitment counts as the strictest, as a node has it. */
export function commitment({ commitment }: Config): Commitment {
  const name = optional(commitment, string);
  return name === 'processed' || name === 'confirmed' ? name : 'finalized';
}

/** For methods that look into blocks, which are not complete before they are confirmed. */
export function blockCommitment(config: Config): Commitment {
  const level = commitment(config);
  if (level === 'processed') throw invalidParams('Method does not support commitment below `confirmed`');
  return level;
}

/** The slot below which the caller wants no answer. */
export const minContextSlot = ({ minContextSlot }: Config): Slot | undefined => optional(minContextSlot, u64);

/** One of a closed set of names. */
export function variant<T extends string>(value: unknown, names: readonly T[]): T {
  const name = string(value);
  const known = names.find((known) => known === name);
  if (known !== undefined) return known;
  const expected = names.map((known) => `\`${known}\``).join(', ');
  throw invalidParams(`Invalid params: unknown variant \`${name}\`, expected one of ${expected}.`);
}

/** That a value has the wrong type, in the words of the library that a node reads JSON with. */
function mistaken(value: unknown, expected: string): Error {
  return invalidParams(`Invalid params: invalid type: ${described(value)}, expected ${expected}.`);
}

function described(value: unknown): string {
  if (value === undefined || value === null) return 'null';
  if (Array.isArray(value)) return 'sequence';
  if (typeof value === 'string') return `string ${JSON.stringify(value)}`;
  if (typeof value === 'boolean') return `boolean \`${value}\``;
  if (typeof value === 'object') return 'map';
  return isInteger(value) ? `integer \`${value}\`` : `floating point \`${value}\``;
}

/** How a node's language prints JSON values when it debugs. */
function debugged(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(debugged).join(', ')}]`;
  if (typeof value === 'string') return `String(${JSON.stringify(value)})`;
  if (typeof value === 'boolean') return `Bool(${value})`;
  if (typeof value === 'object') return value === null ? 'Null' : 'Object {..}';
  return `Number(${value})`;
}

const isInteger = (value: unknown): value is number | bigint => typeof value === 'bigint' || Number.isInteger(value);

function base58(value: unknown, size: number): string {
  const text = string(value);
  const bytes = bs58.decodeUnsafe(text.slice(0, 2 * size)); // longer text can't be of this size
  if (bytes === undefined) throw invalidParams('Invalid param: Invalid');
  if (bytes.length !== size) throw invalidParams('Invalid param: WrongSize');
  return text;
}
