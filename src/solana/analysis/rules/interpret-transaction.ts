import type { Interpretation } from '../interpretation.ts';
import type { ParsedTransaction } from '../parsed-transaction.ts';
import { findFacts } from '../transaction-facts.ts';
import { closingRule, openingRule } from './accounts.ts';
import { attemptedArbitrageRule, circularTradeRule } from './arbitrage.ts';
import { loaderRule, memoRule, nonceRule, stakeRule, voteRule } from './native-programs.ts';
import { nftTradeRule, nftTransferRule } from './nft.ts';
import { orderFillRule } from './orders.ts';
import { paymentRule } from './payments.ts';
import type { Rule } from './rule.ts';
import { burnRule, mintRule } from './supply.ts';
import { swapRule } from './swap.ts';
import { interpretCall } from './unknown.ts';

/** The rules in their order: the first that tells something decides. What moved is told before what was called. */
const RULES: readonly Rule[] = [
  voteRule,
  loaderRule,
  nftTradeRule,
  orderFillRule,
  swapRule,
  circularTradeRule,
  attemptedArbitrageRule,
  stakeRule,
  nftTransferRule,
  mintRule,
  burnRule,
  paymentRule,
  closingRule,
  openingRule,
  nonceRule,
  memoRule,
];

/** Tells what a transaction was, once and for all that is said of it. */
export function interpretTransaction(parsed: ParsedTransaction): Interpretation {
  const facts = findFacts(parsed);
  for (const rule of RULES) {
    const interpretation = rule(facts);
    if (interpretation !== null) return interpretation;
  }
  return interpretCall(facts, 'UNKNOWN');
}
