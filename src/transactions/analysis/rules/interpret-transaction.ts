import type { Interpretation, Interpreted } from '../interpretation.ts';
import type { ParsedTransaction } from '../parsed-transaction.ts';
import { findFacts, type Rule, type TransactionFacts } from '../transaction-facts.ts';
import { closingRule, openingRule } from './accounts.ts';
import { attemptedArbitrageRule, circularTradeRule } from './arbitrage.ts';
import { findAsides } from './asides.ts';
import { authorityRule, ownershipRule } from './authorities.ts';
import { interpretCall } from './calls.ts';
import { decodedPurposeRule, decodedRule } from './decoded.ts';
import { flowRule } from './flows.ts';
import { launchRule } from './launch.ts';
import { innerStakeRule, loaderRule, memoRule, nonceRule, stakeRule, voteRule } from './native-programs.ts';
import { nftTradeRule, nftTransferRule } from './nft.ts';
import { emptyTransferRule, paymentRule } from './payments.ts';
import { oracleRule, orderBookRule, quoteRule, roleRule } from './quotes.ts';
import { burnRule, mintRule } from './supply.ts';
import { swapRule } from './swap.ts';

/** The rules in their order: the first that returns an interpretation decides. Decoded calls go before what only moved. */
const RULES: readonly Rule[] = [
  ownershipRule,
  voteRule,
  loaderRule,
  quoteRule,
  attemptedArbitrageRule,
  launchRule,
  nftTradeRule,
  decodedRule,
  flowRule,
  orderBookRule,
  circularTradeRule,
  swapRule,
  oracleRule,
  stakeRule,
  nftTransferRule,
  decodedPurposeRule,
  roleRule,
  mintRule,
  burnRule,
  innerStakeRule,
  paymentRule,
  authorityRule,
  closingRule,
  emptyTransferRule,
  openingRule,
  nonceRule,
  memoRule,
];

/** Interprets a transaction: type, description and events all follow from the result. */
export function interpretTransaction(parsed: ParsedTransaction): Interpreted {
  const facts = findFacts(parsed);
  const interpretation = interpretFacts(facts);
  return { ...interpretation, tips: facts.tips, asides: findAsides(interpretation, facts) };
}

function interpretFacts(facts: TransactionFacts): Interpretation {
  for (const rule of RULES) {
    const interpretation = rule(facts);
    if (interpretation !== null) return interpretation;
  }
  return interpretCall(facts, 'UNKNOWN');
}
