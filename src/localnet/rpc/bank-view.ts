import type { Commitment } from '../../domain/commitment.ts';
import type { Slot } from '../../domain/slot.ts';
import type { AmountScale } from '../../solana/accounts/ui-amount.ts';
import type { Account } from '../bank/account.ts';
import { scaleOf } from '../bank/token-state.ts';
import { minContextSlotNotReached } from '../encode/node-error.ts';
import { type Node, VERSION } from './method.ts';
import { type Config, commitment, minContextSlot } from './params.ts';

/** The state of the chain that a read is answered from. */
export interface BankView {
  readonly commitment: Commitment;
  /** The slot as the node tells it. */
  readonly slot: Slot;
  account(address: string): Account | undefined;
  owned(program: string): readonly [address: string, account: Account][];
  /** How amounts of a mint are shown here; undefined where there is no such mint. */
  scale(mint: string): AmountScale | undefined;
  /** A value with the slot that it holds at. */
  withContext(value: unknown): object;
}

/** The newest state at the commitment that was asked for. Throws when it is older than `minContextSlot`. */
export function bankView({ chain, faults }: Node, config: Config): BankView {
  const level = commitment(config);
  const slot = chain.slot(level) + faults.slotLie;
  const least = minContextSlot(config);
  if (faults.minContextSlotErrors > 0) {
    faults.minContextSlotErrors--;
    throw minContextSlotNotReached(slot);
  }
  if (least !== undefined && slot < least) throw minContextSlotNotReached(slot);
  const account = (address: string): Account | undefined => chain.account(address, level);
  return {
    commitment: level,
    slot,
    account,
    owned: (program) => chain.programAccounts(program, level),
    scale(mint) {
      const found = account(mint);
      return found && scaleOf(found, chain.head(level)?.time ?? 0);
    },
    withContext: (value) => ({ context: { apiVersion: VERSION, slot }, value }),
  };
}
