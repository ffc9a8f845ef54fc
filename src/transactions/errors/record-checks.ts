import {
  ASSOCIATED_TOKEN_PROGRAM,
  SYSTEM_PROGRAM,
  TOKEN_PROGRAM_IDS,
} from '../../shared/domain/well-known-addresses.ts';
import { formatUnits } from '../codec/format-decimal.ts';
import { asBigInt, asObject } from '../codec/json-fields.ts';
import type { Instruction } from '../records/instruction.ts';
import type { Transaction } from '../records/transaction.ts';
import type { KnownError } from './error-tables.ts';
import type { LoggedFailure } from './failure-logs.ts';

/** A reason that a table, the log or the program gave. */
interface GivenReason {
  readonly name: string | null;
  readonly message: string;
  readonly about?: KnownError['about'] | undefined;
  readonly programId: string | null;
  readonly logged: LoggedFailure | null;
  /** The call that failed; undefined if it isn't recorded. */
  readonly call: Instruction | undefined;
}

/** What the record says of accounts. */
type Balances = Pick<Transaction, 'accounts' | 'preBalances' | 'postBalances' | 'preTokenBalances'>;

/** What is said of an account that may not exist. */
const CLAIM =
  /^((?:the program says that )?(?:an account|its account “[^”]*”|a token account|the pool)) (belongs|holds|has|is|was) /;

/** Returns a reason as far as the record does not refute it, else what the record shows instead. */
export function checkedByRecord(reason: GivenReason, record: Balances): string {
  const { name, message, about, call, programId } = reason;
  const isMissing = (address: string): boolean => {
    const place = record.accounts.findIndex((account) => account.address === address);
    return record.preBalances[place] === 0n && record.postBalances[place] === 0n;
  };
  if (about !== undefined && isMissing(call?.accounts[about.place] ?? '')) return `${about.what} does not exist`;
  if (programId === SYSTEM_PROGRAM && name === 'ResultWithNegativeLamports') return lackOfLamports(reason);
  const isOpening =
    (programId === SYSTEM_PROGRAM && name === 'AccountAlreadyInUse') ||
    (programId === ASSOCIATED_TOKEN_PROGRAM && name === 'IllegalOwner');
  if (isOpening) return openedBefore(reason, record);
  if (TOKEN_PROGRAM_IDS.includes(programId ?? '') && name === 'InsufficientFunds') return lackOfTokens(reason, record);
  const isDoubtful = CLAIM.test(message) && call?.accounts.some(isMissing) === true;
  return isDoubtful ? message.replace(CLAIM, '$1 does not exist, or $2 ') : message;
}

function lackOfLamports({ message, logged }: GivenReason): string {
  const { had, needed } = logged?.shortOfLamports ?? {};
  if (had === undefined || needed === undefined) return message;
  return `the sender had ${formatUnits(had, 9)} SOL of the ${formatUnits(needed, 9)} SOL that it was to pay`;
}

/** Says whether the account that was to be opened existed before the transaction, or since an earlier step of it. */
function openedBefore({ message, call }: GivenReason, { accounts, preBalances }: Balances): string {
  const { newAccount, account } = call?.parsed?.info ?? {};
  const before = preBalances[accounts.findIndex(({ address }) => address === (newAccount ?? account))];
  if (before === undefined) return message;
  return before === 0n ? 'an earlier step had opened the account already' : 'the account exists already';
}

/** Tokens that the sender had before were moved by an earlier step, or are beyond the allowance of a delegate. */
function lackOfTokens({ message, call }: GivenReason, { preTokenBalances }: Balances): string {
  const { source, account, amount, tokenAmount } = call?.parsed?.info ?? {};
  const held = preTokenBalances?.find((balance) => balance.account === (source ?? account))?.amount;
  const wanted = asBigInt(amount ?? asObject(tokenAmount)['amount']);
  const isRefuted = held !== undefined && wanted !== null && held >= wanted;
  return isRefuted ? 'that much of the token could not be moved any more' : message;
}
