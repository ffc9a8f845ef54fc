import { SYSTEM_PROGRAM, VOTE_PROGRAM } from '../../domain/well-known-addresses.ts';
import { KNOWN_PROGRAMS, programName } from '../analysis/known-programs.ts';
import { findMainProgram } from '../analysis/main-program.ts';
import { findInstructions, infoAddress, type ParsedTransaction } from '../analysis/parsed-transaction.ts';
import type { FormatAddress } from './sentence-formats.ts';

export function describeNonceAdvance(parsed: ParsedTransaction, formatAddress: FormatAddress): string {
  const nonce = infoAddress(findInstructions(parsed, [SYSTEM_PROGRAM], /^advanceNonce/)[0], 'nonceAccount');
  return `${formatAddress(parsed.feePayer)} renewed the one-time code${nonce === null ? '' : ` of the account ${formatAddress(nonce)}`}`;
}

export const describeMemo = (parsed: ParsedTransaction, formatAddress: FormatAddress): string =>
  `${formatAddress(parsed.feePayer)} wrote the note ${memoText(parsed)} on the chain`;

export function describeVote(parsed: ParsedTransaction, formatAddress: FormatAddress): string {
  const vote = infoAddress(findInstructions(parsed, [VOTE_PROGRAM], /vote|towersync/i)[0], 'voteAccount');
  return `The validator ${formatAddress(vote ?? parsed.feePayer)} voted for the blocks that it holds to be valid`;
}

/** Describes a call of which only the program is known, and whether balances changed. */
export function describeCall(parsed: ParsedTransaction, formatAddress: FormatAddress): string {
  const id =
    findMainProgram(parsed) ??
    parsed.instructions
      .map(({ programId }) => programId)
      .find((program) => KNOWN_PROGRAMS.get(program)?.source !== 'COMPUTE_BUDGET_PROGRAM');
  if (id === undefined) return `${formatAddress(parsed.feePayer)} sent a transaction that does nothing`;
  const name = programName(id);
  const programText = name === null ? `the program ${formatAddress(id)}` : `the ${name} program`;
  const type = parsed.instructions.find(({ programId }) => programId === id)?.type ?? null;
  return `${formatAddress(parsed.feePayer)} called ${programText}${type === null ? '' : ` (${type})`}; ${isUntouched(parsed) ? 'no SOL or token changed hands' : 'balances of other accounts changed'}`;
}

/** Returns whether every balance is unchanged, without the fee. */
const isUntouched = ({ accountData, feePayer, fee }: ParsedTransaction): boolean =>
  accountData.every(({ account, nativeBalanceChange, tokenBalanceChanges }) => {
    const change = BigInt(nativeBalanceChange) + (account === feePayer ? BigInt(fee) : 0n);
    return change === 0n && tokenBalanceChanges.length === 0;
  });

function memoText(parsed: ParsedTransaction): string {
  const memo = parsed.instructions.find(({ programId }) => KNOWN_PROGRAMS.get(programId)?.source === 'MEMO_PROGRAM')
    ?.info?.['memo'];
  const text = typeof memo === 'string' ? memo.replace(/[^\p{L}\p{N}\p{P}\p{S} ]+/gu, ' ').trim() : '';
  return text.length > 80 ? `“${text.slice(0, 80)}…”` : `“${text}”`;
}
