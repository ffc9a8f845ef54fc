import { WRAPPED_SOL } from '../../accounts/known-mints.ts';
import { isIncidentalProgram, isTradingProgram } from '../../programs/known-programs.ts';
import type { SwapInterpretation } from '../interpretation.ts';
import type { Swap } from '../swap-legs.ts';
import type { TransactionFacts } from '../transaction-facts.ts';
import type { Rule } from './rule.ts';

/** Tells of a trade on an exchange; of a failed transaction, that one was tried. */
export const swapRule: Rule = (facts) => {
  const { parsed, hasFailed, mainProgram, swap } = facts;
  if (!isTradingProgram(mainProgram ?? '') || (swap === null && !hasFailed && !isUnclearTrade(facts))) return null;
  const passedOn = swap === null ? null : findPassedOn(swap, facts);
  return { type: 'SWAP', actor: swap?.wallet ?? parsed.feePayer, program: mainProgram, swap, passedOn };
};

/** Returns whether a program without a name called exchanges that moved tokens, for whom isn't clear. */
function isUnclearTrade({ parsed, mainProgram, payments }: TransactionFacts): boolean {
  const isCalledDirectly = parsed.instructions.some(({ programId }) => programId === mainProgram);
  return !isCalledDirectly && new Set(payments.map(({ mint }) => mint)).size > 1;
}

/** Finds the proceeds that the trader no longer has at the end, and the program that took them. */
function findPassedOn({ wallet, outputs }: Swap, facts: TransactionFacts): SwapInterpretation['passedOn'] {
  if (wallet === null) return null;
  const left = new Map(facts.changesOf(wallet).tokens.map(({ mint, amount }) => [mint, amount]));
  const amounts = outputs
    .filter(({ mint }) => mint !== WRAPPED_SOL)
    .map((output) => ({ ...output, amount: output.amount - (left.get(output.mint) ?? 0n) }))
    .filter(({ amount }) => amount > 0n);
  if (amounts.length === 0) return null;
  const called = facts.parsed.instructions.map(({ programId }) => programId);
  const program = called.find((id) => !isIncidentalProgram(id) && !isTradingProgram(id)) ?? null;
  return { amounts, program };
}
