import type { Command } from 'commander';
import { addVerify } from './receipt-verify.ts';

/** Adds `receipt`: what can be done with receipts and their keys. */
export function addReceiptCommands(program: Command): void {
  const receipt = program.command('receipt').description('what has to do with receipts');
  addVerify(receipt);
}
