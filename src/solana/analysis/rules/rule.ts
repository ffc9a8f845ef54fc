import type { Interpretation } from '../interpretation.ts';
import type { TransactionFacts } from '../transaction-facts.ts';

/** Tells what a transaction was; null if it was nothing that the rule is about. */
export type Rule = (facts: TransactionFacts) => Interpretation | null;
