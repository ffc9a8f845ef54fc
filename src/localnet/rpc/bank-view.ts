import type { AmountScale } from '../../transactions/index.ts';
import type { Memcmp } from '../bank/account-index.ts';
import type { Account } from '../bank/svm-account.ts';
import { amountScaleOf } from '../bank/token-state.ts';
import { minContextSlotNotReached } from '../encode/json-rpc-error.ts';
import { readCommitment, readConfig, readMinContextSlot } from './json-rpc-params.ts';
import { NODE_VERSION, type NodeContext } from './method-handler.ts';

/** State of the chain that a method reads. */
export type BankView = ReturnType<typeof readBankView>;

/** Throws if the newest state at the requested commitment is older than `minContextSlot`. */
export function readBankView({ chain, faults }: NodeContext, options: unknown) {
  const config = readConfig(options);
  const commitment = readCommitment(config);
  const slot = chain.slot(commitment) + faults.slotSkew;
  const floor = readMinContextSlot(config);
  if (faults.minContextSlotFailures > 0) {
    faults.minContextSlotFailures--;
    throw minContextSlotNotReached(slot);
  }
  if (floor !== undefined && slot < floor) throw minContextSlotNotReached(slot);
  const account = (address: string): Account | undefined => chain.account(address, commitment);
  return {
    commitment,
    /** Slot as the node reports it. */
    slot,
    account,
    newestBlock: () => chain.newestBlock(commitment),
    /** Returns the accounts that a program owns and that match all filters, sorted by address. */
    programAccounts: (program: string, filters?: readonly Memcmp[]) =>
      chain.programAccounts(program, commitment, filters),
    /** Returns how amounts of a mint are displayed here; undefined where there is no such mint. */
    scale(mint: string): AmountScale | undefined {
      const found = account(mint);
      return found && amountScaleOf(found, chain.newestBlock(commitment)?.blockTime ?? 0);
    },
    withContext: (value: unknown): object => ({ context: { apiVersion: NODE_VERSION, slot }, value }),
  };
}
