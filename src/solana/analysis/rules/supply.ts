import { TOKEN_PROGRAM_IDS } from '../../../domain/well-known-addresses.ts';
import { hasInstruction } from '../parsed-transaction.ts';
import type { Rule } from './rule.ts';

/** Tells of minted tokens; of a failed transaction, that some were to be minted. */
export const mintRule: Rule = ({ parsed, hasFailed, minted, mainProgram, netChange }) => {
  const isTold = hasFailed ? hasInstruction(parsed, TOKEN_PROGRAM_IDS, /^mintTo/) : minted.length > 0;
  if (!isTold) return null;
  const told = { actor: parsed.feePayer, program: mainProgram, amounts: minted, holders: new Set<string>() };
  return { type: 'TOKEN_MINT', ...told, ...netChange };
};

/** Tells of burned tokens; of a failed transaction, that some were to be burned. */
export const burnRule: Rule = ({ parsed, hasFailed, burned, mainProgram, netChange }) => {
  const isTold = hasFailed ? hasInstruction(parsed, TOKEN_PROGRAM_IDS, /^burn/) : burned.length > 0;
  if (!isTold) return null;
  const holders = new Set(
    parsed.tokenTransfers
      .filter(({ toTokenAccount }) => toTokenAccount === null)
      .map(({ fromUserAccount }) => fromUserAccount ?? parsed.feePayer),
  );
  const told = { actor: parsed.feePayer, program: mainProgram, amounts: burned, holders };
  return { type: 'BURN', ...told, ...netChange };
};
