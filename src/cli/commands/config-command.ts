import { Argument, type Command } from 'commander';
import { apiKeysPath, readApiKeys } from '../../access/api-keys/api-key-store.ts';
import type { Config } from '../../config/config-schema.ts';
import { formatConfig, formatConfigSchema } from '../../config/print-config.ts';
import { extractSecrets, readJupiterKey } from '../../config/secret-variables.ts';
import { describeServiceLinks } from '../../config/service-links.ts';
import { extractKeySource } from '../../receipts/keys/key-source.ts';
import { checkReceiptKeys } from '../../receipts/keys/load-keys.ts';

const ACTIONS = ['print', 'check', 'schema'] as const;

/** Adds `slotgate config …`, which prints the settings in force, checks them, or prints what each one means. */
export function addConfigCommand(program: Command, configOf: (command: Command) => Config): void {
  program
    .command('config')
    .description('print the settings in force, only check them, or print the JSON Schema with the meaning of each one')
    .addArgument(new Argument('<action>').choices(ACTIONS))
    .action((action: (typeof ACTIONS)[number], _, command: Command) => {
      if (action === 'schema') {
        process.stdout.write(formatConfigSchema());
        return;
      }
      const config = configOf(command);
      if (action === 'print') process.stdout.write(formatConfig(config));
      else checkConfig(config);
    });
}

/** Checks everything that a start would refuse before it connects, and creates nothing. */
function checkConfig({ state, prices }: Config): void {
  checkReceiptKeys({ ...extractKeySource(process.env), stateDir: state }, Date.now());
  readJupiterKey(extractSecrets(process.env), prices.jupiter.keyFile);
  readApiKeys(apiKeysPath(state));
  const ignored = describeServiceLinks(process.env);
  if (ignored !== undefined) process.stderr.write(`slotgate: ${ignored}\n`);
  process.stdout.write('the configuration is valid\n');
}
