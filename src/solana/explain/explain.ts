import { programName } from '../analysis/known-programs.ts';
import type { TransactionFailure } from '../errors/program-errors.ts';
import { describe } from './describe.ts';
import type { Enhanced } from './enhanced.ts';
import { shortened, sol } from './wording.ts';

/** No explanation is longer, in UTF-16 units. */
export const LONGEST_EXPLANATION = 280;

/** Says in one or two sentences what a transaction did and what it cost. The same transaction always reads the same. */
export function explain(enhanced: Enhanced): string {
  const { transactionError } = enhanced;
  const text = transactionError === null ? success(enhanced) : failure(enhanced, transactionError);
  return text.length <= LONGEST_EXPLANATION ? text : `${text.slice(0, LONGEST_EXPLANATION - 1)}…`;
}

function success(enhanced: Enhanced): string {
  const payer = shortened(enhanced.feePayer);
  const told = describe(enhanced, enhanced.type, shortened);
  const fee = sol(BigInt(enhanced.fee));
  return told.startsWith(payer) ? `${told}. The fee was ${fee}.` : `${told}. ${payer} paid the fee of ${fee}.`;
}

const TRIED: Readonly<Partial<Record<Enhanced['type'], string>>> = {
  SWAP: 'tried to trade',
  TRANSFER: 'tried to send something',
  TOKEN_MINT: 'tried to mint tokens',
  BURN: 'tried to burn tokens',
  STAKE: 'tried to stake SOL',
  UNSTAKE: 'tried to unstake SOL',
  CREATE_ACCOUNT: 'tried to open an account',
  CLOSE_ACCOUNT: 'tried to close an account',
  VOTE: 'tried to vote for a block',
  PROGRAM_DEPLOY: 'tried to put a program on the chain',
  PROGRAM_UPGRADE: 'tried to replace a program',
};

function failure({ feePayer, fee, type, instructions }: Enhanced, failed: TransactionFailure): string {
  const tried = `${shortened(feePayer)} ${TRIED[type] ?? 'sent a transaction'}`;
  const cost = `Nothing moved, but the fee of ${sol(BigInt(fee))} was paid.`;
  const { instructionIndex, programId } = failed;
  if (instructionIndex === null) return `${tried}, but it failed: ${failed.message}. ${cost}`;
  const asked = instructions[instructionIndex]?.programId ?? null;
  const inside = programId !== null && programId !== asked ? `, in ${called(programId)}` : '';
  const step = `step ${instructionIndex + 1} of ${instructions.length} (${asked === null ? 'unknown' : called(asked)}${inside})`;
  return `${tried}, but ${step} failed: ${failed.message}${number(failed)}. ${cost}`;
}

const called = (programId: string): string => programName(programId) ?? `program ${shortened(programId)}`;

/** The number by which the program's makers know the error, where it is not told already. */
function number({ code, name, message }: TransactionFailure): string {
  if (typeof code !== 'number' || message.includes(`${code}`)) return '';
  return name === null || name === message ? ` (error ${code})` : ` (error ${code}, ${name})`;
}
