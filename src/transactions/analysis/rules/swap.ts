import { isTradingProgram } from '../../programs/known-programs.ts';
import type { Swap } from '../swap-legs.ts';
import type { Rule, TransactionFacts } from '../transaction-facts.ts';

/** Interprets a trade on an exchange; in a failed transaction, the attempt to trade. */
export const swapRule: Rule = (facts) => {
  const { actor, isAttempt, mainProgram, swap } = facts;
  if (!isTradingProgram(mainProgram) || (swap === null && !isAttempt && !isUnclearTrade(facts))) return null;
  if (swap !== null && !isOfExchange(swap, facts)) return null;
  const common = { actor: swap?.mover?.authority ?? swap?.wallet ?? actor, program: swap?.program ?? mainProgram };
  return { ...common, type: 'SWAP', swap, states: swap?.states ?? [] };
};

/** Returns whether a trade was made in the calls of an exchange, or of a program that called one for it. */
const isOfExchange = ({ program }: Swap, { parsed }: TransactionFacts): boolean =>
  isTradingProgram(program) ||
  parsed.instructions.some(
    ({ programId, innerInstructions }) =>
      programId === program && innerInstructions.some((call) => isTradingProgram(call.programId)),
  );

/** Returns whether a program without a name called exchanges that moved tokens, for whom isn't clear. */
function isUnclearTrade({ parsed, mainProgram, payments }: TransactionFacts): boolean {
  const isCalledDirectly = parsed.instructions.some(({ programId }) => programId === mainProgram);
  return !isCalledDirectly && new Set(payments.map(({ mint }) => mint)).size > 1;
}
