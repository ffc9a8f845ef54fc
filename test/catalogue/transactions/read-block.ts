import { readFileSync } from 'node:fs';
import { parseExactJson } from '../../../src/shared/domain/parse-exact-json.ts';
import { VOTE_PROGRAM } from '../../../src/shared/domain/well-known-addresses.ts';
import { asArray, asInteger, asObject } from '../../../src/transactions/codec/json-fields.ts';
import { normalizeTransaction, type Transaction } from '../../../src/transactions/records/transaction.ts';
import { recordedTransactions } from '../../support/recorded-transactions.ts';

/** The transactions of a block that are no votes. */
export interface CountedBlock {
  readonly name: string;
  readonly transactions: readonly Transaction[];
}

export function readRecordedBlock(): CountedBlock {
  const transactions = recordedTransactions('mainnet-block').map(({ transaction }) => transaction);
  return { name: `recorded block ${transactions[0]?.slot}`, transactions: transactions.filter(isNoVote) };
}

export const readRecorded = (): readonly Transaction[] =>
  recordedTransactions('transactions').map(({ transaction }) => transaction);

/** Reads a block from a file: the answer of `getBlock` with full transactions, or its result. */
export function readBlockFile(path: string): CountedBlock {
  const file = asObject(parseExactJson(readFileSync(path, 'utf8')));
  const { transactions, parentSlot, blockTime } = asObject(file['result'] ?? file);
  const slot = (asInteger(parentSlot) ?? 0) + 1; // at least: slots between may be empty
  const entries = asArray(transactions).filter((entry) => asObject(entry)['transaction'] !== undefined);
  const all = entries.map((entry) => normalizeTransaction(entry, { slot, blockTime: asInteger(blockTime) }));
  return { name: path, transactions: all.filter(isNoVote) };
}

const isNoVote = ({ instructions }: Transaction): boolean =>
  !instructions.some(({ programId }) => programId === VOTE_PROGRAM);
