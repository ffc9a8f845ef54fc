import { z } from 'zod';
import type { RawJson } from '../domain/to-json.ts';

/** A slot, a count, a time: an integer that a double holds. */
export const integer = z.int();

/** An integer that may pass 2^53. It is a JSON integer with every digit. */
export const bigInteger = z.bigint();

/** Lamports come with their lossless twin in SOL. */
export const lamports = { lamports: bigInteger, sol: z.string().regex(/^\d+(\.\d{1,9})?$/) };

/** Text that the node wrote, passed on digit for digit. */
export const rawJson = z.custom<RawJson>();

/** JSON that is written already, of something that has the type `T`. */
export interface PreSerialized<T> extends RawJson {
  /** Is never there: it only lets the type be known. */
  readonly value?: T;
}

/** Rows that the route has written as JSON itself, some at a time, since all at once would hold up the loop. */
// For the document the rows' own shape is what matters; that they have it is for the route to see to.
export const preSerialized = <T>(schema: z.ZodType<T>): z.ZodType<PreSerialized<T>> =>
  schema as z.ZodType as z.ZodType<PreSerialized<T>>;

/** An amount of tokens as Solana has it: `amount` is the truth. */
export const tokenAmountSchema = z.strictObject({
  amount: z.string().regex(/^\d+$/),
  decimals: integer,
  uiAmount: z.number().nullable(),
  uiAmountString: z.string(),
});

/** What a Token-2022 mint or account has switched on; null under the classic program, which has no such thing. */
export const extensions = z
  .array(z.strictObject({ extension: z.string(), state: z.record(z.string(), z.unknown()).optional() }))
  .readonly()
  .nullable();

/** The JSON Schema of a shape, as OpenAPI 3.1 takes it. */
export function jsonSchema(shape: z.ZodType): object {
  const { $schema: _, ...schema } = z.toJSONSchema(shape, {
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      if (zodSchema._zod.def.type === 'bigint') jsonSchema.type = 'integer';
    },
  });
  return schema;
}
