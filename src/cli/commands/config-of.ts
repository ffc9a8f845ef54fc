import type { Command } from 'commander';
import type { Config } from '../../config/config-schema.ts';
import type { ConfigFlags } from '../../config/config-sources.ts';
import { type ConfigSources, loadConfig } from '../../config/load-config.ts';

/** The end of the help of commands that read settings: the flags of those are in the help of the program. */
export const SETTINGS_HELP =
  '\nIt reads the settings of a gateway: --config, --data-dir, --redis and --set, as slotgate --help says.';

export const configSourcesOf = (command: Command): ConfigSources => ({
  flags: command.optsWithGlobals<ConfigFlags>(),
  env: process.env,
  cwd: process.cwd(),
});

export const configOf = (command: Command): Config => loadConfig(configSourcesOf(command));
