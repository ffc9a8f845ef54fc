import { priorityFeeOf } from '../../shared/domain/priority-fee.ts';
import { quotedInSentence } from '../../shared/domain/quoted-name.ts';
import { grouped } from '../analysis/grouped.ts';
import type { Interpreted } from '../analysis/interpretation.ts';
import type { ParsedTransaction } from '../analysis/parsed-transaction.ts';
import { interpretTransaction } from '../analysis/rules/interpret-transaction.ts';
import { decodeBase58 } from '../codec/base58.ts';
import { withoutTrailing } from '../codec/without-trailing.ts';
import type { TransactionFailure } from '../errors/decode-failure.ts';
import { programName } from '../programs/known-programs.ts';
import { joinClauses } from './clauses.ts';
import { clausesOf, describeAttempt, isTipDescribed, OUTCOME_UNKNOWN } from './describe-transaction.ts';
import { asYou, capitalized, clausesFor } from './perspective.ts';
import { type FormatAddress, formatSol, shortAddress, shortAddresses } from './sentence-formats.ts';
import { describeTip, sumOf } from './sentences-movement.ts';

/**
 * The length of an explanation, in UTF-16 units, up to which it says all. Beyond that it leaves out what came back and what
 * strangers wrote. It is longer only if losses and rights are: they are never cut.
 */
export const MAX_EXPLANATION_LENGTH = 280;

/** Explains in one or two sentences what a transaction did and what it cost; to a party of it, which is `you`. */
export function explainTransaction(parsed: ParsedTransaction, party: string | null = null): string {
  const interpretation = interpretTransaction(parsed);
  const shownAs = party === null ? shortAddresses() : shortAddresses(party);
  const formatAddress = party === null ? shownAs : asYou(party, shownAs);
  const [deed, cost] =
    parsed.status === 'success'
      ? explainSuccess(parsed, interpretation, party, [shownAs, formatAddress])
      : explainAttempt(parsed, describeAttempt(interpretation, parsed, formatAddress));
  return `${capitalized(deed)}. ${capitalized(cost)}.`;
}

/** Returns the room for a sentence beside another one, with the two full stops and a space. */
const roomBeside = (cost: string): number => MAX_EXPLANATION_LENGTH - cost.length - 3;

/** Cuts the reason at the end of a sentence, and ends the quotation in which it is cut. */
function cutReason(deed: string, room: number): string {
  if (deed.length <= room) return deed;
  const start = deed.slice(0, room - 2).replace(/[\ud800-\udbff]$/, '');
  return `${start}…${start.lastIndexOf('“') > start.lastIndexOf('”') ? '”' : ''}`;
}

/** What was done and what it cost: two sentences without their full stops. */
type Sentences = readonly [deed: string, cost: string];

function explainSuccess(
  parsed: ParsedTransaction,
  interpretation: Interpreted,
  party: string | null,
  [shownAs, formatAddress]: readonly [FormatAddress, FormatAddress],
): Sentences {
  const clauses =
    party === null ? clausesOf(interpretation, shownAs) : clausesFor(party, parsed, interpretation, shownAs);
  const [payer, fee] = [formatAddress(parsed.feePayer), formatFee(parsed)];
  const tips = isTipDescribed(interpretation) ? [] : interpretation.tips;
  const tip = sumOf(tips.filter(({ from }) => from === parsed.feePayer));
  const others = grouped(
    tips.filter(({ from }) => from !== parsed.feePayer),
    ({ from }) => from,
  ).map((group) => `; ${describeTip(group, formatAddress)}`);
  const paid =
    BigInt(parsed.fee) === 0n
      ? 'The record shows no fee'
      : clauses[0]?.text.startsWith(`${payer} `)
        ? `The fee was ${fee}${tip === 0n ? '' : ` and the tip ${formatSol(tip)}`}`
        : `${payer} paid the fee of ${fee}${tip === 0n ? '' : `, and the tip was ${formatSol(tip)}`}`;
  const cost = [paid, ...others].join('');
  return [joinClauses(clauses, formatAddress(party ?? interpretation.actor), roomBeside(cost)), cost];
}

/** Returns the fee, and what of it was paid for priority. */
function formatFee(parsed: ParsedTransaction): string {
  const priorityFee = priorityFeeOf(parsed, decodeBase58);
  return `${formatSol(BigInt(parsed.fee))}${priorityFee === 0n ? '' : ` (priority fee ${formatSol(priorityFee)})`}`;
}

function explainAttempt(parsed: ParsedTransaction, attempt: string): Sentences {
  const { status, instructions, transactionError } = parsed;
  const cost = costOfAttempt(parsed);
  if (status === null) return [`${attempt}, but ${OUTCOME_UNKNOWN}`, cost];
  if (transactionError === null) return [`${attempt}, but it failed`, cost];
  const { instructionIndex, programId, message } = transactionError;
  const reason = clauseOf(message);
  if (instructionIndex === null) return [cutReason(`${attempt}, but it failed: ${reason}`, roomBeside(cost)), cost];
  const topLevelProgramId = instructions.find(({ index }) => index === instructionIndex)?.programId ?? null;
  const innerProgram = programId !== null && programId !== topLevelProgramId ? `, in ${programLabel(programId)}` : '';
  const stepCount = (instructions.at(-1)?.index ?? 0) + 1; // instructions of one batch are one step
  const step = `step ${instructionIndex + 1} of ${stepCount} (${topLevelProgramId === null ? 'unknown' : programLabel(topLevelProgramId)}${innerProgram})`;
  return [
    cutReason(`${attempt}, but ${step} failed: ${reason}${errorNumber(transactionError)}`, roomBeside(cost)),
    cost,
  ];
}

/** Says what an attempt cost, and that nothing moved as far as the record shows it. */
function costOfAttempt(parsed: ParsedTransaction): string {
  const { status, fee, feePayer, accountData } = parsed;
  const isFree = BigInt(fee) === 0n;
  const named = isFree ? 'the record shows no fee' : `the fee of ${formatFee(parsed)} was paid`;
  if (status === null) return named;
  const hasMoved = accountData.some(
    ({ account, nativeBalanceChange: lamports, tokenBalanceChanges }) =>
      tokenBalanceChanges.length > 0 || (lamports ?? '0') !== (account === feePayer ? `${-BigInt(fee)}` : '0'),
  );
  return hasMoved ? `the record has changes of balances all the same, and ${named}` : `nothing moved, but ${named}`;
}

/** Returns a program's message as a part of a sentence: without full stops at its end, and none that begins another sentence. */
function clauseOf(message: string): string {
  const clause = message.slice(0, MAX_EXPLANATION_LENGTH).replace(/\p{C}/gu, ' ').replaceAll('. ', '; ').trim();
  return withoutTrailing(clause, '.');
}

const programLabel = (programId: string): string => programName(programId) ?? `program ${shortAddress(programId)}`;

/** The most characters of an error's name. */
const MAX_ERROR_NAME_CHARACTERS = 64;

/** Returns the program's error number, unless the message has it. */
function errorNumber({ code, name, message }: TransactionFailure): string {
  if (typeof code !== 'number' || message.includes(`${code}`)) return '';
  const quoted = quotedInSentence(name ?? '', MAX_ERROR_NAME_CHARACTERS);
  return quoted === null || message.includes(quoted) ? ` (error ${code})` : ` (error ${code}, ${quoted})`;
}
