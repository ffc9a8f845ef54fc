import { findMainProgram } from '../analysis/main-program.ts';
import type { ParsedTransaction } from '../analysis/parsed-transaction.ts';
import { KNOWN_PROGRAMS, programName } from '../programs/known-programs.ts';
import type { FormatAddress } from './sentence-formats.ts';

/**
 * Describes a call that is not understood: the program by its name or address, the instruction's type if the node or our
 * decoder named one, and whether balances changed.
 */
export function describeUnknownCall(parsed: ParsedTransaction, formatAddress: FormatAddress): string {
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
