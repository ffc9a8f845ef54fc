import type { Interpretation } from '../interpretation.ts';
import type { TransactionFacts } from '../transaction-facts.ts';

/** Interprets a kind of transaction; null for every other kind. */
export type Rule = (facts: TransactionFacts) => Interpretation | null;
