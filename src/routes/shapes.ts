import { z } from 'zod';
import type { RawJson } from '../domain/json.ts';

/** A slot, a count, a time: an integer that a double holds. */
export const integer = z.int();

/** An integer that may pass 2^53. It is a JSON integer with every digit. */
export const bigInteger = z.bigint();

/** Lamports come with their lossless twin in SOL. */
export const lamports = { lamports: bigInteger, sol: z.string().regex(/^\d+(\.\d{1,9})?$/) };

/** Text that the node wrote, passed on digit for digit. */
export const raw = z.custom<RawJson>();

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
