import { Argument, type Command } from 'commander';
import type { Config } from '../../config/config-schema.ts';
import { formatConfig, formatConfigSchema } from '../../config/print-config.ts';

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
      process.stdout.write(action === 'print' ? formatConfig(config) : 'the configuration is valid\n');
    });
}
