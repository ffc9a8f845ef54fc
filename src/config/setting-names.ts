import * as z from 'zod';
import { configSchema } from './config-schema.ts';

export interface Setting {
  /** Name for `--set` and in messages: `limits.free.units`. */
  readonly name: string;
  readonly path: readonly string[];
  /** Environment variable: `SLOTGATE_LIMITS_FREE_UNITS`. */
  readonly env: string;
  readonly schema: z.core.$ZodType;
}

export const ENV_PREFIX = 'SLOTGATE_';

function settingsOf(section: z.ZodObject, above: readonly string[]): readonly Setting[] {
  return Object.entries(section.shape).flatMap(([key, schema]) => {
    const path = [...above, key];
    if (schema instanceof z.ZodObject) return settingsOf(schema, path);
    return [settingOf(path, schema)];
  });
}

export function settingOf(path: readonly string[], schema: z.core.$ZodType): Setting {
  return { name: path.join('.'), path, env: variableOf(path), schema };
}

function variableOf(path: readonly string[]): string {
  const words = path.map((word) => word.replace(/[A-Z]/g, '_$&').toUpperCase());
  return ENV_PREFIX + words.join('_');
}

export const SETTINGS: readonly Setting[] = settingsOf(configSchema, []);

/** The names allowed in a configuration file: those of the settings and of their sections. */
export const SETTING_NAMES: ReadonlySet<string> = new Set(
  SETTINGS.flatMap(({ path }) => path.map((_, index) => path.slice(0, index + 1).join('.'))),
);

/** The variables that are named as a setting or a section. */
export const VARIABLE_NAMES: ReadonlySet<string> = new Set(
  [...SETTING_NAMES].map((name) => variableOf(name.split('.'))),
);

/**
 * As it is where that is valid, but for `null`; a list from its words, else from JSON. Other text is left for validation to
 * report, and a blank one for a list, too: a variable that was set from one that is unset would be a list of none.
 */
export function parseSettingText({ schema }: Setting, text: string): unknown {
  if (text === 'null' && z.safeParse(schema, null).success) return null;
  if (z.safeParse(schema, text).success) return text;
  if (isListSchema(schema) && !/^\[|^null$|^\s*$/.test(text)) return splitList(schema, text);
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Splits a list at blanks, or at blanks and commas where it is valid only so: a node's URLs have a comma in between. */
function splitList(schema: z.core.$ZodType, text: string): readonly string[] {
  const splitAt = (separator: RegExp): readonly string[] => text.split(separator).filter((word) => word !== '');
  const words = splitAt(/[\s,]+/);
  return z.safeParse(schema, words).success ? words : splitAt(/\s+/);
}

function isListSchema(schema: z.core.$ZodType): boolean {
  if (schema instanceof z.ZodPipe) return isListSchema(schema.in);
  return schema instanceof z.ZodNullable ? isListSchema(schema.unwrap()) : schema instanceof z.ZodArray;
}
