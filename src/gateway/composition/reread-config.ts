import { isDeepStrictEqual } from 'node:util';
import type { Config } from '../../config/config-schema.ts';
import { SETTINGS } from '../../config/setting-names.ts';
import { StartError } from '../../shared/domain/start-error.ts';
import type { GatewayOptions } from './environment.ts';

/** Finds the settings that differ from those in use. Undefined, after a log line, if the new ones can't be used. */
export function rereadConfig(
  inUse: Config,
  { loadConfig = () => inUse, log }: Pick<GatewayOptions, 'loadConfig' | 'log'>,
): { readonly config: Config; readonly changed: readonly string[] } | undefined {
  try {
    const config = loadConfig();
    return { config, changed: changedSettings(inUse, config) };
  } catch (thrown) {
    if (!(thrown instanceof StartError)) throw thrown;
    log.error({}, `the configuration can't be used; the old one stays in use: ${thrown.message}`);
    return undefined;
  }
}

const changedSettings = (before: Config, after: Config): readonly string[] =>
  SETTINGS.filter(({ path }) => !isDeepStrictEqual(valueAt(before, path), valueAt(after, path))).map(
    ({ name }) => name,
  );

const valueAt = (config: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>((section, key) => (section as Record<string, unknown> | undefined)?.[key], config);
