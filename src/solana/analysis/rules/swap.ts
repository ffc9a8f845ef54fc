import { isTradingProgram } from '../../programs/known-programs.ts';
import type { Rule } from './rule.ts';

/** Tells of a trade on an exchange; of a failed transaction, that one was tried. */
export const swapRule: Rule = ({ parsed, hasFailed, mainProgram, swap }) => {
  if (!isTradingProgram(mainProgram ?? '') || (swap === null && !hasFailed)) return null;
  return { type: 'SWAP', actor: swap?.wallet ?? parsed.feePayer, program: mainProgram, swap };
};
