import type { Command } from 'commander';
import type { Config } from '../../config/config-schema.ts';
import { addReceiptKeyCommands } from './receipt-key-commands.ts';
import { addReceiptVerifyCommand } from './receipt-verify-command.ts';

/** `slotgate receipt …`: what has to do with receipts, and with the keys that sign them. */
export function addReceiptCommands(program: Command, configOf: (command: Command) => Config): void {
  const receipt = program.command('receipt').description('what has to do with receipts, and the keys that sign them');
  addReceiptKeyCommands(receipt, configOf);
  addReceiptVerifyCommand(receipt);
}
