import { object, text, whole } from '../codec/recorded.ts';
import { type Instruction, inOrder } from '../transactions/instruction.ts';
import type { Fields } from '../transactions/layout.ts';
import type { Transaction } from '../transactions/transaction.ts';
import { opened } from './token-accounts.ts';
import type { Transfer, TransferType } from './transfer.ts';
import { TransferBook } from './transfer-book.ts';

/**
 * What moved in a transaction, in order of execution: each row from one instruction, the transaction's own or one that
 * a program called. A failed transaction moved nothing. What a program moves by itself, without calling the System or a
 * token program, is in the balances alone.
 */
export function transfersOf(transaction: Transaction): Transfer[] {
  if (transaction.err !== null) return [];
  const book = new TransferBook(transaction);
  for (const call of inOrder(transaction.instructions)) {
    if (call.parsed !== null) MOVES[`${call.program} ${call.parsed.type}`]?.(book, call, call.parsed.info);
  }
  return book.settled();
}

/** What an instruction that moves something does to the book. */
type Move = (book: TransferBook, call: Instruction, info: Fields) => void;

const sol =
  (source: string, destination: string, type?: TransferType): Move =>
  (book, call, { lamports, ...accounts }) => {
    const [from, to, amount] = [text(accounts[source]), text(accounts[destination]), whole(lamports)];
    if (from !== null && to !== null && amount !== null) book.sol(call, from, to, amount, type);
  };

/** Moves the whole balance, whatever it is at this moment. */
const allSol =
  (source: string, destination: string): Move =>
  (book, call, info) => {
    const [from, to] = [text(info[source]), text(info[destination])];
    if (from !== null && to !== null) book.sol(call, from, to, book.lamports(from));
  };

const tokens =
  (type: TransferType, source: string | null, destination: string | null): Move =>
  (book, call, { mint, amount, tokenAmount, feeAmount, ...accounts }) => {
    const sent = whole(amount) ?? amountOf(tokenAmount);
    const from = source === null ? null : text(accounts[source]);
    const to = destination === null ? null : text(accounts[destination]);
    const fee = amountOf(feeAmount);
    if (sent !== null) book.tokens(call, type, { from, to, mint: text(mint), amount: sent, fee });
  };

/** The amount in what a node shows of a quantity of tokens; null where there is none. */
function amountOf(tokenAmount: unknown): bigint | null {
  const { amount } = object(tokenAmount);
  return whole(amount);
}

const transfer = tokens('transfer', 'source', 'destination');
const mint = tokens('mint', null, 'account');
const burn = tokens('burn', 'account', null);

/** The instruction does not say how much: the balances after do. */
const withdrawWithheld: Move = (book, call, { mint, feeRecipient }) =>
  book.tokens(call, 'withdrawWithheldFee', { from: null, to: text(feeRecipient), mint: text(mint), amount: 0n });

const open: Move = (book, call) => {
  const account = opened(call);
  if (account !== null) book.open(call, account.account, account);
};

const expect: Move = (book, _, { account }) => {
  if (typeof account === 'string') book.expect(account);
};

const MOVES: Readonly<Record<string, Move>> = {
  'system transfer': sol('source', 'destination'),
  'system transferWithSeed': sol('source', 'destination'),
  'system createAccount': sol('source', 'newAccount', 'createAccount'),
  'system createAccountWithSeed': sol('source', 'newAccount', 'createAccount'),
  'system withdrawFromNonce': sol('nonceAccount', 'destination'),
  'stake split': sol('stakeAccount', 'newSplitAccount'),
  'stake withdraw': sol('stakeAccount', 'destination'),
  'stake moveStake': sol('source', 'destination'),
  'stake moveLamports': sol('source', 'destination'),
  'stake merge': allSol('source', 'destination'),
  'vote withdraw': sol('voteAccount', 'destination'),
  'spl-associated-token-account create': expect,
  'spl-associated-token-account createIdempotent': expect,
  'spl-token initializeAccount': open,
  'spl-token initializeAccount2': open,
  'spl-token initializeAccount3': open,
  'spl-token transfer': transfer,
  'spl-token transferChecked': transfer,
  'spl-token transferCheckedWithFee': transfer,
  'spl-token mintTo': mint,
  'spl-token mintToChecked': mint,
  'spl-token burn': burn,
  'spl-token burnChecked': burn,
  'spl-token withdrawWithheldTokensFromMint': withdrawWithheld,
  'spl-token withdrawWithheldTokensFromAccounts': withdrawWithheld,
  'spl-token syncNative': (book, call, { account }) => {
    if (typeof account === 'string') book.wrap(call, account);
  },
  'spl-token closeAccount': (book, call, { account, destination }) => {
    if (typeof account === 'string' && typeof destination === 'string') book.close(call, account, destination);
  },
  'spl-token setAuthority': (book, call, { account, authorityType, newAuthority }) => {
    if (typeof account === 'string' && authorityType === 'accountOwner')
      book.changeOwner(call, account, text(newAuthority));
  },
};
