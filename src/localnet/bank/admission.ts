import bs58 from 'bs58';
import { SYSTEM_PROGRAM } from '../../domain/well-known-addresses.ts';
import type { Account } from './account.ts';
import type { Bank } from './bank.ts';
import type { Ledger } from './ledger.ts';
import { TransactionRefused } from './transaction-error.ts';
import { type Message, nonceAccount, UNSIGNED, type WireTransaction } from './wire-transaction.ts';

/** A blockhash serves a transaction for so many blocks. */
export const BLOCKHASH_LIFE = 150;

/** What a transaction is held against. */
export interface Surroundings {
  readonly ledger: Ledger;
  /** Where it would land. */
  readonly bank: Bank;
  /** An account as the bank has it. */
  account(address: string): Account | undefined;
}

/** Throws {@link TransactionRefused} for a transaction that is not signed, has landed before or is too old. */
export function admit({ message, signatures }: WireTransaction, surroundings: Surroundings): void {
  const { ledger, bank } = surroundings;
  const [signature = ''] = signatures;
  if (signatures.includes(UNSIGNED)) throw new TransactionRefused('SignatureFailure');
  if (ledger.transaction(signature) ?? bank.transaction(signature)) throw new TransactionRefused('AlreadyProcessed');
  if (!isAlive(message, surroundings)) throw new TransactionRefused('BlockhashNotFound');
}

/** Whether a message's blockhash is young enough for the bank, or is the value of the nonce that the message advances. */
export function isAlive(message: Message, { ledger, bank, account }: Surroundings): boolean {
  const { recentBlockhash } = message;
  if (recentBlockhash === bank.parent.hash) return true;
  if (ledger.newest(BLOCKHASH_LIFE).some(({ hash }) => hash === recentBlockhash)) return true;
  const nonce = nonceAccount(message);
  return nonce !== undefined && nonceValue(account(nonce)) === recentBlockhash;
}

/** The hash that a nonce account holds, after its version, state and authority. */
function nonceValue(account: Account | undefined): string | undefined {
  return account?.owner === SYSTEM_PROGRAM && account.data.length === 80
    ? bs58.encode(account.data.subarray(40, 72))
    : undefined;
}
