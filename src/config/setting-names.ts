import { z } from 'zod';

/** One knob: a leaf of the schema, under each of its names. */
export interface Setting {
  /** Its name for `--set` and in messages: `limits.free.requests`. */
  readonly name: string;
  readonly path: readonly string[];
  /** Its environment variable: `SLOTGATE_LIMITS_FREE_REQUESTS`. */
  readonly env: string;
  readonly schema: z.core.$ZodType;
}

export const ENV_PREFIX = 'SLOTGATE_';

/** Every knob that a schema has, in its order. Their names are made here and nowhere written by hand. */
export function settingsOf(section: z.ZodObject, above: readonly string[] = []): readonly Setting[] {
  return Object.entries(section.shape).flatMap(([key, schema]) => {
    const path = [...above, key];
    if (schema instanceof z.ZodObject) return settingsOf(schema, path);
    const words = path.map((word) => word.replace(/[A-Z]/g, '_$&').toUpperCase());
    return [{ name: path.join('.'), path, env: ENV_PREFIX + words.join('_'), schema }];
  });
}

/** The names a configuration file may use: those of the options and of the groups they stand in. */
export const settingNames = (options: readonly Setting[]): ReadonlySet<string> =>
  new Set(options.flatMap(({ path }) => path.map((_, index) => path.slice(0, index + 1).join('.'))));

/**
 * Reads the text of a flag or variable as the value its option wants: as it stands where that will do, a list from
 * words, anything else from JSON. What none of this makes valid stays as it is, for validation to name it.
 */
export function parseSettingText({ schema }: Setting, text: string): unknown {
  if (z.safeParse(schema, text).success) return text;
  if (isListSchema(schema) && !/^\[|^null$/.test(text)) return text.split(/\s+/).filter((word) => word !== '');
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function isListSchema(schema: z.core.$ZodType): boolean {
  if (schema instanceof z.ZodPipe) return isListSchema(schema.in);
  return schema instanceof z.ZodNullable ? isListSchema(schema.unwrap()) : schema instanceof z.ZodArray;
}
