import { isTradingProgram } from '../../programs/known-programs.ts';
import type { Rule, TransactionFacts } from '../transaction-facts.ts';

/** Interprets a trade on an exchange; in a failed transaction, the attempt to trade. */
export const swapRule: Rule = (facts) => {
  const { actor, isAttempt, mainProgram, swap } = facts;
  if (!isTradingProgram(mainProgram) || (swap === null && !isAttempt && !isUnclearTrade(facts))) return null;
  if (swap !== null && !isTradingProgram(swap.program)) return null; // who got what a stranger's program took is named
  const common = { actor: swap?.mover?.authority ?? swap?.wallet ?? actor, program: swap?.program ?? mainProgram };
  return { ...common, type: 'SWAP', swap, states: swap?.states ?? [] };
};

/** Returns whether a program without a name called exchanges that moved tokens, for whom isn't clear. */
function isUnclearTrade({ parsed, mainProgram, payments }: TransactionFacts): boolean {
  const isCalledDirectly = parsed.instructions.some(({ programId }) => programId === mainProgram);
  const traded = payments.filter(({ program }) => isTradingProgram(program));
  return !isCalledDirectly && new Set(traded.map(({ mint }) => mint)).size > 1;
}
