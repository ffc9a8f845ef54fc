import { isTradingProgram, programName, programRole } from '../programs/known-programs.ts';
import { type Instruction, inExecutionOrder } from '../records/instruction.ts';
import type { Transaction } from '../records/transaction.ts';
import { type ErrorTable, errorTableOf, type KnownError, numberedError } from './error-tables.ts';
import { type LoggedFailure, parseFailureLogs } from './failure-logs.ts';
import { quotedWords } from './quoted-words.ts';
import { checkedByRecord } from './record-checks.ts';

/** `transactionError` of the enhanced view. */
export interface TransactionFailure {
  /** The top-level instruction that failed; null when the transaction as a whole did. */
  readonly instructionIndex: number | null;
  /** The program that failed, which may be one that the instruction called; null with `instructionIndex`. */
  readonly programId: string | null;
  /** The program's own number, or Solana's name of the error. */
  readonly code: number | string | null;
  /** The error's name in its program's source; null if nobody published it. */
  readonly name: string | null;
  /** The reason, as a sentence ending. */
  readonly message: string;
}

export type FailedTransaction = Pick<
  Transaction,
  'err' | 'logs' | 'slot' | 'instructions' | 'accounts' | 'preBalances' | 'postBalances' | 'preTokenBalances'
>;

/** The call that failed, as far as log and record show it. */
interface FailedCall {
  readonly programId: string | null;
  /** Null without the log's line of the failure. */
  readonly logged: LoggedFailure | null;
  /** Whether the program is known to have failed itself, and no other one that it called. */
  readonly isCertain: boolean;
  readonly table: ErrorTable | undefined;
  readonly slot: number | null;
  /** The accounts of the call. */
  readonly handed: readonly string[];
  /** Whether the record has calls that it made. */
  readonly hasCalled: boolean;
}

/**
 * Decodes why a transaction failed: from the log first, since numbers change with a program's versions; then from its
 * program's error table, as far as the record does not refute it; then from the program's own words.
 */
export function decodeFailure(transaction: FailedTransaction): TransactionFailure {
  const { err, logs, instructions, slot } = transaction;
  const [kind, detail] = enumVariant(err);
  if (kind !== 'InstructionError' || !Array.isArray(detail)) {
    const transactionLevel = { instructionIndex: null, programId: null, code: kind, name: kind };
    return {
      ...transactionLevel,
      message: kind === null ? 'the node did not name the error' : runtimeMessage('transaction', kind),
    };
  }
  const [index, error] = detail as readonly unknown[]; // its members are checked below
  const instructionIndex = typeof index === 'number' ? index : null;
  const calls = inExecutionOrder(instructions.filter((call) => call.index === instructionIndex));
  const logged = parseFailureLogs(logs ?? []);
  const programId = logged?.programId ?? calls[0]?.programId ?? null;
  // Without a log line, the error of a program that called others may be theirs: its number is ambiguous.
  const isCertain = logged !== null || calls.every((call) => call.programId === programId);
  const table = isCertain ? errorTableOf(programId) : undefined;
  const [name, value] = enumVariant(error);
  const call: Instruction | undefined = calls.findLast((candidate) => candidate.programId === programId);
  const hasCalled = call !== undefined && call !== calls.at(-1); // nothing follows a failed call
  const failed = { programId, logged, isCertain, table, slot, handed: call?.accounts ?? [], hasCalled };
  const decoded = name === 'Custom' ? decodeCustomError(asErrorCode(value), failed) : decodeNamedError(name, failed);
  const message = checkedByRecord({ ...decoded, call, logged, programId }, transaction);
  return { instructionIndex, programId, code: decoded.code, name: decoded.name, message };
}

type DecodedError = Pick<TransactionFailure, 'code' | 'name' | 'message'> & Pick<Partial<KnownError>, 'about'>;

function decodeCustomError(code: number | null, failed: FailedCall): DecodedError {
  const { logged, isCertain, table, slot } = failed;
  const anchor = logged?.anchor?.code === code ? logged?.anchor : null;
  const known = anchor ? (table?.byName.get(anchor.name) ?? frameworkError(anchor)) : numberedError(table, code, slot);
  const account = anchor?.account; // a word
  const message =
    known?.message.replace(/^an account /, account ? `its account “${account}” ` : '$&') ??
    programWords(anchor?.message) ??
    programWords(logged?.loggedError) ??
    programWords(logged?.lastText) ??
    `the program${isCertain ? '' : ', or one that it called,'} gave its own error number ${code ?? '(unknown)'}${callsPhrase(failed)}`;
  return { code, name: anchor?.name ?? known?.name ?? null, message, about: known?.about };
}

/** Returns an error that any program built with Anchor reports, if number and name are the framework's. */
function frameworkError({ name, code }: { readonly name: string; readonly code: number }): KnownError | undefined {
  const known = errorTableOf('anchor')?.byNumber.get(`${code}`);
  return known?.name === name ? known : undefined;
}

/**
 * Returns how far a program came before it refused: ` after its calls of Orca and Meteora had succeeded`, or before it used
 * the exchanges that were handed to it. Nothing where the log does not show it, or where the record has other calls.
 */
function callsPhrase({ programId, logged, handed, hasCalled }: FailedCall): string {
  const programs = logged?.succeeded ?? null;
  if (programs === null || (programs.length === 0 && hasCalled)) return '';
  // the program itself stands for no account, and a router hands its whole route to each exchange
  const isVenue = isTradingProgram(programId) && programRole(programId) !== 'aggregator';
  const others = isVenue ? [] : handed.filter((id) => id !== programId && isTradingProgram(id));
  const exchanges = new Set(others.map((id) => programName(id)));
  if (programs.length === 0)
    return exchanges.size === 0
      ? ' before it called another program'
      : ` before it called any exchange that it was handed (${[...exchanges].join(', ')})`;
  const called = programs.filter((id) => programRole(id) !== 'core');
  const names = [...new Set(called.map((id) => programName(id)))];
  if (called.length === 0) return " after it had called none but Solana's own programs";
  const isNamed = names.length < 3 && !names.includes(null);
  const labels = isNamed ? names.join(' and ') : called.length === 1 ? 'another program' : `${called.length} programs`;
  return ` after its calls of ${labels} had succeeded`;
}

/** Errors of the runtime that a program may return, too: of any but Solana's own they are its word, not a fact. */
const PROGRAMS_WORDS =
  /^(InsufficientFunds|MissingRequiredSignature|Account\w+|Uninitialized\w+|Invalid\w+|Incorrect\w+|Illegal\w+|Immutable)$/;

/** What the runtime says of any crash. */
const ANY_CRASH = /panicked$|^Program failed to complete$/;

function decodeNamedError(name: string | null, { programId, logged }: FailedCall): DecodedError {
  if (name === null) return { code: null, name: null, message: 'the program reported an unknown error' };
  const isCore = programRole(programId) === 'core';
  const reason = name === 'ProgramFailedToComplete' ? (logged?.reason ?? '') : '';
  const isOutOfComputeUnits = /exceeded CUs meter/.test(reason);
  const cause = ANY_CRASH.test(reason) ? null : quotedWords(reason);
  const crash = cause === null ? '' : `: ${cause}`;
  const message = isOutOfComputeUnits
    ? runtimeMessage('instruction', 'ComputationalBudgetExceeded')
    : `${runtimeMessage('instruction', name)}${crash}`;
  const isWord = !isCore && PROGRAMS_WORDS.test(name) && !message.startsWith('the program');
  const words = isCore || isOutOfComputeUnits ? null : programWords(logged?.loggedError);
  return { code: name, name, message: words ?? (isWord ? `the program says that ${message}` : message) };
}

/** The most characters of the name of an error. */
const MAX_NAME_CHARACTERS = 64;

/** Returns the message of an error of the runtime; its name in quotation marks if the table lacks it. */
const runtimeMessage = (level: 'transaction' | 'instruction', name: string): string =>
  errorTableOf(level)?.byName.get(name)?.message ??
  quotedWords(name, MAX_NAME_CHARACTERS) ??
  'the name of the error cannot be shown';

/** Returns a program's own words, quoted; null if it has none. */
function programWords(text: string | null | undefined): string | null {
  const quoted = text && quotedWords(text);
  return quoted ? `the program says: ${quoted}` : null;
}

/** Splits a Rust enum in JSON: `"Name"`, or `{"Name": detail}`. */
function enumVariant(value: unknown): readonly [name: string | null, detail: unknown] {
  if (typeof value === 'string') return [value, undefined];
  if (typeof value !== 'object' || value === null) return [null, undefined];
  return Object.entries(value)[0] ?? [null, undefined];
}

const asErrorCode = (value: unknown): number | null => (typeof value === 'number' ? value : null);
