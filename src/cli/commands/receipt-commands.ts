import type { Command } from 'commander';
import type { Config } from '../../config/config-schema.ts';
import { addCommandGroup } from './did-you-mean.ts';
import { addReceiptKeyCommands } from './receipt-key-commands.ts';
import { addReceiptVerifyCommand } from './receipt-verify-command.ts';

/** Adds `slotgate receipt …`, which verifies receipts and manages the keys that sign them. */
export function addReceiptCommands(program: Command, configOf: (command: Command) => Config): void {
  const receipt = addCommandGroup(program, 'receipt', 'verify receipts, and manage the keys that sign them');
  addReceiptKeyCommands(receipt, configOf);
  addReceiptVerifyCommand(receipt);
}
