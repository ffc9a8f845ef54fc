import type { Command } from 'commander';
import type { Config } from '../../config/config-schema.ts';
import { formatConfig, formatConfigSchema } from '../../config/print-config.ts';
import { readFleetSettings } from '../../config/redis-settings.ts';
import { extractSecrets, readFeedToken, readJupiterKey } from '../../config/secret-variables.ts';
import { describeServiceLinks } from '../../config/service-links.ts';
import {
  apiKeysPath,
  checkReceiptKeys,
  deriveFleetSecret,
  extractKeySource,
  fleetKeysPath,
  loadEngine,
  readApiKeys,
} from '../../gateway/index.ts';
import { requireFolder } from '../../shared/runtime/files/state-folder.ts';
import { checkSharedKey } from '../doctor/shared-key.ts';
import { configOf } from './config-of.ts';
import { asGroup } from './did-you-mean.ts';
import { examples } from './examples.ts';

/** Declares `slotgate config …`, which prints the settings in force, checks them, or prints what each one means. */
export function declareConfig(config: Command): void {
  asGroup(config.configureHelp({ showGlobalOptions: true })); // so that its subcommands show them, too

  config
    .command('print')
    .description('print the settings in force, without secrets')
    .addHelpText('after', examples('slotgate config print --config mainnet', 'slotgate config print | jq .limits'))
    .action((_, command: Command) => {
      process.stdout.write(formatConfig(configOf(command)));
    });

  config
    .command('check')
    .description('check everything that a start would refuse, and create nothing')
    .addHelpText('after', examples('slotgate config check --config my.json', 'slotgate config check --config mainnet'))
    .action((_, command: Command) => checkConfig(configOf(command)));

  config
    .command('schema')
    .description('print the JSON Schema of a configuration file, with the meaning and the default of each setting')
    .addHelpText('after', examples('slotgate config schema > slotgate.schema.json'))
    .action(() => {
      process.stdout.write(formatConfigSchema());
    });
}

/** Checks everything that a start would refuse before it connects, and creates nothing. */
async function checkConfig(config: Config): Promise<void> {
  const { dataDir, http, prices, upstreams, workers } = config;
  const secrets = extractSecrets(process.env);
  const keySource = extractKeySource(process.env);
  requireFolder(dataDir, false);
  const receiptKeys = checkReceiptKeys({ ...keySource, stateDir: dataDir }, Date.now());
  checkSharedKey(config, keySource);
  await loadEngine(http.engine, workers.count !== 0);
  readJupiterKey(secrets, prices.jupiter.keyFile);
  for (const { geyser } of upstreams) readFeedToken(geyser?.tokenFile);
  const isFleet = readFleetSettings(config, secrets) !== undefined;
  if (isFleet && receiptKeys !== undefined && secrets.fleetSecret === undefined) deriveFleetSecret(receiptKeys);
  readApiKeys(apiKeysPath(dataDir));
  if (isFleet) readApiKeys(fleetKeysPath(dataDir));
  const ignored = describeServiceLinks(process.env);
  if (ignored !== undefined) process.stderr.write(`slotgate: ${ignored}\n`);
  process.stdout.write('the configuration is valid\n');
}
