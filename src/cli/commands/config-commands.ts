import type { Command } from 'commander';
import type { Config } from '../../config/config-schema.ts';
import { formatConfig, formatConfigSchema } from '../../config/print-config.ts';
import { extractSecrets, readJupiterKey } from '../../config/secret-variables.ts';
import { describeServiceLinks } from '../../config/service-links.ts';
import {
  apiKeysPath,
  checkReceiptKeys,
  extractKeySource,
  fleetKeysPath,
  readApiKeys,
  readRedisSettings,
} from '../../gateway/index.ts';
import { configOf } from './config-of.ts';
import { asGroup } from './did-you-mean.ts';

/** Declares `slotgate config …`, which prints the settings in force, checks them, or prints what each one means. */
export function declareConfig(config: Command): void {
  asGroup(config.configureHelp({ showGlobalOptions: true })); // so that its subcommands show them, too

  config
    .command('print')
    .description('print the settings in force, without secrets')
    .action((_, command: Command) => {
      process.stdout.write(formatConfig(configOf(command)));
    });

  config
    .command('check')
    .description('check everything that a start would refuse, and create nothing')
    .action((_, command: Command) => checkConfig(configOf(command)));

  config
    .command('schema')
    .description('print the JSON Schema of a configuration file, with the meaning and the default of each setting')
    .action(() => {
      process.stdout.write(formatConfigSchema());
    });
}

/** Checks everything that a start would refuse before it connects, and creates nothing. */
function checkConfig(config: Config): void {
  const { dataDir, prices, redis } = config;
  const secrets = extractSecrets(process.env);
  checkReceiptKeys({ ...extractKeySource(process.env), stateDir: dataDir }, Date.now());
  readJupiterKey(secrets, prices.jupiter.keyFile);
  readRedisSettings(config, secrets);
  readApiKeys(redis.url === null ? apiKeysPath(dataDir) : fleetKeysPath(dataDir));
  const ignored = describeServiceLinks(process.env);
  if (ignored !== undefined) process.stderr.write(`slotgate: ${ignored}\n`);
  process.stdout.write('the configuration is valid\n');
}
