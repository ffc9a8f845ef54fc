import { isDeepStrictEqual } from 'node:util';
import { type Config, configSchema } from './config-schema.ts';
import { settingsOf } from './setting-names.ts';

/** Returns the names of the settings that differ. */
export const changedSettings = (before: Config, after: Config): readonly string[] =>
  settingsOf(configSchema)
    .filter(({ path }) => !isDeepStrictEqual(valueAt(before, path), valueAt(after, path)))
    .map(({ name }) => name);

const valueAt = (config: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>((section, key) => (section as Record<string, unknown> | undefined)?.[key], config);
