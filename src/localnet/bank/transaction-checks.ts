import bs58 from 'bs58';
import { SYSTEM_PROGRAM } from '../../shared/domain/well-known-addresses.ts';
import type { VersionedMessage } from '../../transactions/index.ts';
import type { Bank } from './bank.ts';
import type { Ledger } from './ledger.ts';
import type { Account } from './svm-account.ts';
import { TransactionRefused } from './svm-transaction-error.ts';
import { MISSING_SIGNATURE, nonceAccountOf, type WireTransaction } from './wire-transaction.ts';

/** Number of blocks for which a blockhash is valid: Agave's MAX_PROCESSING_AGE. */
export const MAX_PROCESSING_AGE = 150;

/** Number of blocks for which the fee of a message is known: Agave's MAX_RECENT_BLOCKHASHES. */
export const MAX_FEE_AGE = 300;

/** State that a transaction is checked against. */
export interface TransactionCheckContext {
  readonly ledger: Ledger;
  readonly bank: Bank;
  account(address: string): Account | undefined;
}

/** Throws {@link TransactionRefused} for a transaction that is unsigned. */
export function checkSigned({ signatures }: WireTransaction): void {
  if (signatures.includes(MISSING_SIGNATURE)) throw new TransactionRefused('SignatureFailure');
}

/** Throws {@link TransactionRefused} for a transaction that is too old, landed or not, or that has landed before. */
export function checkAge({ message, signatures }: WireTransaction, context: TransactionCheckContext): void {
  const { ledger, bank } = context;
  const [signature = ''] = signatures;
  if (!hasValidBlockhash(message, context, MAX_PROCESSING_AGE)) throw new TransactionRefused('BlockhashNotFound');
  if (ledger.transaction(signature) ?? bank.transaction(signature)) throw new TransactionRefused('AlreadyProcessed');
}

/** A message's blockhash must be that of one of the newest blocks, or be the value of the nonce that the message advances. */
export function hasValidBlockhash(
  message: VersionedMessage,
  { ledger, bank, account }: TransactionCheckContext,
  maxAge: number,
): boolean {
  const { recentBlockhash } = message;
  if (recentBlockhash === bank.parent.hash) return true;
  for (let age = 0; age < maxAge; age++) if (ledger.blockBelowNewest(age)?.hash === recentBlockhash) return true;
  const nonce = nonceAccountOf(message);
  return nonce !== undefined && durableNonceOf(account(nonce)) === recentBlockhash;
}

/** Reads the hash of a durable nonce account, which follows its version, state and authority. */
function durableNonceOf(account: Account | undefined): string | undefined {
  return account?.owner === SYSTEM_PROGRAM && account.data.length === 80
    ? bs58.encode(account.data.subarray(40, 72))
    : undefined;
}
