import type { Command } from 'commander';
import type { Config } from '../../config/config.ts';
import { receiptKeyCommands } from './receipt-key.ts';
import { addVerify } from './receipt-verify.ts';

/** `slotgate receipt …`: what has to do with receipts, and with the keys that sign them. */
export function receiptCommands(program: Command, configOf: (command: Command) => Config): void {
  const receipt = program.command('receipt').description('what has to do with receipts, and the keys that sign them');
  receiptKeyCommands(receipt, configOf);
  addVerify(receipt);
}
