import * as z from 'zod';
import { LongJson, RawJson, toJson } from '../../../shared/domain/to-json.ts';
import { concatInTurns } from '../../../shared/runtime/concat-in-turns.ts';
import { batchesOf, mapInChunks } from '../../../shared/runtime/map-in-chunks.ts';
import { formatUnits } from '../../../transactions/index.ts';

export const integer = z.int();

/** An integer that may exceed 2^53, written as a JSON integer with every digit. */
export const bigInteger = z.bigint();

/** Lamports, and the same amount in SOL as exact text, which the document names for readers of numbers as doubles. */
export const lamports = { lamports: bigInteger.meta({ 'x-exact': 'sol' }), sol: z.string().regex(/^\d+(\.\d{1,9})?$/) };

/** JSON of the node, passed on byte for byte. */
export const rawJson = z.instanceof(RawJson);

/** JSON text that a route serialized itself from a value of type `T`. */
export interface PreSerialized<T> extends RawJson {
  /** Never set: carries the type `T` only. */
  readonly value?: T;
}

/** Long lists are serialized in chunks. The document shows the schema of a row; the route must keep to it. */
export const preSerialized = <T>(schema: z.ZodType<T>): z.ZodType<PreSerialized<T>> =>
  schema as z.ZodType as z.ZodType<PreSerialized<T>>;

/** Returns JSON that a route serialized itself in place of the value, which would become the same JSON. */
export const serialized = <T>(json: string): T => new RawJson(json) as unknown as T;

export const serializedBytes = <T>(json: Buffer): T => new LongJson(json) as unknown as T;

/** A decimal number of any length, written with every digit. */
export const exactNumber = preSerialized(z.number());

/** Returns the JSON number `units * 10 ** -scale`, exactly. */
export const toExactNumber = (units: bigint, scale: number): PreSerialized<number> =>
  new RawJson(formatUnits(units, scale));

/** Some rows in each turn of the event loop, joined to one text each: to join thousands takes a long turn. */
export const serializeInChunks = async <T, R>(
  items: readonly T[],
  chunkSize: number,
  toRow: (item: T) => R,
): Promise<PreSerialized<R[]>> => new RawJson(`[${(await textsOf(items, chunkSize, toRow)).join()}]`);

/** Serializes a whole result as {@link serializeInChunks} does. That of a long list stays bytes, which are joined in turns, too. */
export async function serializeList<T, R>(
  items: readonly T[],
  chunkSize: number,
  toRow: (item: T) => R,
): Promise<PreSerialized<R[]>> {
  if (items.length <= LONG_LIST) return serializeInChunks(items, chunkSize, toRow);
  const parts = await mapInChunks(await textsOf(items, chunkSize, toRow), 1, (text) => Buffer.from(`,${text}`));
  const [first = Buffer.alloc(0), ...rest] = parts;
  return serializedBytes(await concatInTurns([Buffer.from('['), first.subarray(1), ...rest, Buffer.from(']')]));
}

const textsOf = <T, R>(items: readonly T[], chunkSize: number, toRow: (item: T) => R): Promise<string[]> =>
  mapInChunks(batchesOf(items, chunkSize), 1, (batch) => batch.map((item) => toJson(toRow(item))).join());

/** Items whose texts are joined in one turn: some 500 KB. */
const LONG_LIST = 1000;

/** An amount of tokens as Solana RPC writes it (UiTokenAmount). Only `amount` is exact. */
export const tokenAmountSchema = z.strictObject({
  amount: z.string().regex(/^\d+$/),
  decimals: integer,
  uiAmount: z.number().nullable(),
  uiAmountString: z.string(),
});

/** Extensions of a Token-2022 mint or account; null under the classic token program, which has none. */
export const extensions = z
  .array(z.strictObject({ extension: z.string(), state: z.record(z.string(), z.unknown()).optional() }))
  .readonly()
  .nullable();

const BIG_INTEGER_SCHEMA = {
  type: 'integer',
  format: 'int64',
  description: 'May be beyond 2^53, where a JSON number read as a double is rounded',
};

export function jsonSchema(zodType: z.ZodType): object {
  const { $schema: _, ...schema } = z.toJSONSchema(zodType, {
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      if (zodSchema._zod.def.type === 'bigint') Object.assign(jsonSchema, BIG_INTEGER_SCHEMA);
    },
  });
  return schema;
}
