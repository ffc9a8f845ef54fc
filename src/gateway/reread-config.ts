import { changedSettings } from '../config/changed-settings.ts';
import type { Config } from '../config/config-schema.ts';
import { StartError } from '../domain/start-error.ts';
import type { GatewayOptions } from './environment.ts';

/** A configuration that was read again, and the settings that differ from those in use. */
export interface RereadConfig {
  readonly config: Config;
  readonly changed: readonly string[];
}

/** Reads the configuration again; undefined, and logged, if it can't be used: the old one then stays in use. */
export function rereadConfig(
  inUse: Config,
  { loadConfig = () => inUse, log }: Pick<GatewayOptions, 'loadConfig' | 'log'>,
): RereadConfig | undefined {
  try {
    const config = loadConfig();
    return { config, changed: changedSettings(inUse, config) };
  } catch (thrown) {
    if (!(thrown instanceof StartError)) throw thrown;
    log.error({}, `the configuration can't be used; the old one stays in use: ${thrown.message}`);
    return undefined;
  }
}
