import { isWrappedSol } from '../../../shared/domain/known-mints.ts';
import { TOKEN_PROGRAM_IDS } from '../../../shared/domain/well-known-addresses.ts';
import { isTradingProgram, KNOWN_PROGRAMS, programRole } from '../../programs/known-programs.ts';
import { isCircularTrade } from '../find-swap.ts';
import type { ArbitrageInterpretation } from '../interpretation.ts';
import { infoAddress, type ParsedInstruction, type ParsedTransaction } from '../parsed-transaction.ts';
import { paymentsIn } from '../payments.ts';
import { isSent } from '../remainder.ts';
import { shareOf } from '../share.ts';
import type { Rule, TransactionFacts } from '../transaction-facts.ts';
import { calledChange, isUnchanged } from './calls.ts';

/** Interprets a trade in a circle by the balances: all that was sent into programs, of which one is an exchange, came back in kind. */
export const circularTradeRule: Rule = (facts) => {
  const hasTraded = (): boolean =>
    isCircularTrade(facts) && facts.parsed.actions.some(({ program }) => isTradingProgram(program));
  if (facts.swap !== null || !(facts.isAttempt ? isTriedCircle(facts) : hasTraded())) return null;
  const idle = facts.parsed.instructions.filter((call) => !facts.isAttempt && call.innerInstructions.length === 0);
  const called = facts.calls.filter((call) => !idle.includes(call)); // an exchange that called nothing moved no token
  const exchanges = called.map(({ programId }) => programId).filter(isExchange);
  return interpretArbitrage(facts, new Set(exchanges), !facts.isAttempt);
};

/** Returns whether a failed trade ended with what it began with: the token account, or the mint as far as it is known. */
function isTriedCircle({ parsed, instructionOf }: TransactionFacts): boolean {
  const trades = parsed.instructions.filter(
    ({ programId, innerInstructions }) =>
      isExchange(programId) || innerInstructions.some((call) => isExchange(call.programId)),
  );
  const isCircle = trades.some((call) => {
    const { inputMint = null, outputMint } = instructionOf(call)?.roles ?? {};
    return inputMint !== null && inputMint === outputMint;
  });
  const moved = trades
    .flatMap(({ innerInstructions }) => innerInstructions)
    .filter(({ programId, type }) => TOKEN_PROGRAM_IDS.includes(programId) && /^transfer/.test(type ?? ''));
  const isSigned = (call: ParsedInstruction): boolean => parsed.signers.includes(infoAddress(call, 'authority') ?? '');
  const [first, last] = [moved[0], moved.findLast((call) => !isSigned(call))];
  if (first === undefined || last === undefined || !isSigned(first)) return isCircle;
  const mint = infoAddress(first, 'mint');
  const isSameMint = mint !== null && mint === infoAddress(last, 'mint');
  return isCircle || isSameMint || infoAddress(first, 'source') === infoAddress(last, 'destination');
}

/**
 * Infers that a program without a name was to trade, where nothing moved: nobody passes the ids of several exchanges to a
 * program that doesn't call them. Evidence: the 250 such transactions of block 361774429 are calls of fourteen
 * programs; those that write logs say `paths checked: 6`, `No profitable arbitrage found`. Such a program that gets
 * one exchange alone may be anything that uses it: a vault, a launch, a trade for a person.
 */
export const attemptedArbitrageRule: Rule = (facts) => {
  const { parsed, isAttempt } = facts;
  const callers = parsed.instructions.filter(
    ({ programId }) => !KNOWN_PROGRAMS.has(programId) || programRole(programId) === 'arbitrageBot',
  );
  if (callers.length === 0 || parsed.instructions.some(({ programId }) => isExchange(programId))) return null;
  if (!isAttempt && !isUnchanged(facts)) return null;
  for (const caller of callers) {
    const called = caller.innerInstructions.map(({ programId }) => programId);
    const handed = caller.accounts.filter((id) => programRole(id) !== 'orderBook'); // pools of exchanges need their books
    const exchanges = new Set([...handed, ...called].filter(isExchange));
    if (exchanges.size > 1 || (exchanges.size === 1 && programRole(caller.programId) === 'arbitrageBot'))
      return { ...interpretArbitrage(facts, exchanges, false), program: caller.programId };
  }
  return null;
};

const isExchange = (id: string): boolean => isTradingProgram(id) && programRole(id) !== 'orders';

function interpretArbitrage(
  facts: TransactionFacts,
  exchanges: ReadonlySet<string>,
  hasTraded: boolean,
): ArbitrageInterpretation {
  const { parsed, mainProgram, actor } = facts;
  const beside = parsed.actions.filter(({ program }) => !isTradingProgram(program)); // whoever gave something back for it
  const paid = beside.filter((action) => isSent(action) && action.actor === actor);
  const change = calledChange(facts, null, new Set(beside));
  return {
    type: 'ARBITRAGE',
    actor,
    program: mainProgram,
    exchanges: [...exchanges],
    hasTraded,
    payments: paymentsIn(paid),
    solChange: solChangeOf(parsed, actor),
    ...change,
    states: hasTraded ? [...change.states, ...shareOf(paid)] : [],
  };
}

/** Sums the changes of a wallet's SOL in either form, the fee and tips included. */
function solChangeOf({ accountData }: ParsedTransaction, wallet: string): bigint {
  let sum = 0n;
  for (const { account, nativeBalanceChange, tokenBalanceChanges } of accountData) {
    if (account === wallet) sum += BigInt(nativeBalanceChange ?? 0);
    for (const { userAccount, mint, rawTokenAmount } of tokenBalanceChanges)
      if (userAccount === wallet && isWrappedSol(mint)) sum += BigInt(rawTokenAmount.tokenAmount);
  }
  return sum;
}
