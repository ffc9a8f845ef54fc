import { isTradingProgram } from '../../programs/known-programs.ts';
import { effectsOf } from '../action.ts';
import type { AssetAmount } from '../asset-amount.ts';
import { splitBySign } from '../net-change.ts';
import { sumByMint } from '../payments.ts';
import { programFlowsOf } from '../program-flows.ts';
import type { Swap } from '../swap-legs.ts';
import type { Rule, TransactionFacts } from '../transaction-facts.ts';

/** How much of what an exchange paid a router may keep: fees of routers are lower, a thief keeps more. */
const MAX_FEE_PERCENT = 5n;

/** Interprets a trade on an exchange; in a failed transaction, the attempt to trade. */
export const swapRule: Rule = (facts) => {
  const { actor, isAttempt, mainProgram } = facts;
  if (!isTradingProgram(mainProgram) || (facts.swap === null && !isAttempt && !isUnclearTrade(facts))) return null;
  const swap = facts.swap === null || isTradingProgram(facts.swap.program) ? facts.swap : routedSwap(facts.swap, facts);
  if (swap === undefined) return null; // who got what a stranger's program took is named
  const common = { actor: swap?.mover?.authority ?? swap?.wallet ?? actor, program: swap?.program ?? mainProgram };
  return { ...common, type: 'SWAP', swap, states: swap?.states ?? [] };
};

/**
 * Returns what a wallet traded through the vault of a stranger's program: in the calls of that program, exchanges moved for
 * the vault what the wallet sent to it, and the vault passed on what they paid.
 */
function routedSwap({ wallet, program }: Swap, { parsed }: TransactionFacts): Swap | undefined {
  if (wallet === null) return undefined;
  const called = parsed.actions.filter(
    ({ instruction }) => instruction !== null && parsed.instructions[instruction[0]]?.programId === program,
  );
  const legs = called.filter((action) => isTradingProgram(action.program));
  const traded = legs.flatMap(effectsOf).filter(([party]) => party !== wallet); // a wallet is no vault of its own
  for (const vault of new Set(traded.map(([party]) => party))) {
    const { lost, gained } = splitBySign(
      sumByMint(traded.flatMap(([party, amount]) => (party === vault ? [amount] : []))),
    );
    const actions = called.filter(({ actor, counterparty }) => actor === vault || counterparty === vault);
    const { given: inputs, received: outputs, states } = programFlowsOf(wallet, program, { actions });
    const isPassedOn =
      covers(lost, inputs) && covers(gained, outputs) && covers(outputs, gained, 100n - MAX_FEE_PERCENT);
    if (inputs.length > 0 && outputs.length > 0 && isPassedOn) return { wallet, inputs, outputs, program, states };
  }
  return undefined;
}

/** Returns whether amounts have at least this part of all others. */
const covers = (amounts: readonly AssetAmount[], others: readonly AssetAmount[], percent = 100n): boolean =>
  others.every((other) =>
    amounts.some(({ mint, amount }) => mint === other.mint && amount * 100n >= other.amount * percent),
  );

/** Returns whether a program without a name called exchanges that moved tokens, for whom isn't clear. */
function isUnclearTrade({ parsed, mainProgram, payments }: TransactionFacts): boolean {
  const isCalledDirectly = parsed.instructions.some(({ programId }) => programId === mainProgram);
  const traded = payments.filter(({ program }) => isTradingProgram(program));
  return !isCalledDirectly && new Set(traded.map(({ mint }) => mint)).size > 1;
}
