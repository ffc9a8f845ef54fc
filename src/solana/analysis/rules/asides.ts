import { WRAPPED_SOL } from '../../accounts/known-mints.ts';
import type { Asides, Interpretation } from '../interpretation.ts';
import type { Payment } from '../payments.ts';
import type { TransactionFacts } from '../transaction-facts.ts';
import { findLostRight } from './authorities.ts';

const NONE: Asides = { payments: [], authorityChange: null, hiddenTransfers: [] };

/**
 * Finds what a transaction did beside what its interpretation tells. A swap or a move in a game is told first, but what
 * was sent or given away beside it must not go untold: that is how wallets are emptied.
 */
export function findAsides(interpretation: Interpretation, facts: TransactionFacts): Asides {
  const { parsed, hasFailed, payments } = facts;
  if (hasFailed) return NONE;
  const told = new Set(paymentsToldBy(interpretation));
  const netted = mintsNettedBy(interpretation);
  return {
    payments: payments.filter(
      (payment) =>
        payment.program === null && payment.from !== payment.to && !told.has(payment) && !netted.has(payment.mint),
    ),
    authorityChange: 'change' in interpretation && 'others' in interpretation ? null : findLostRight(facts),
    hiddenTransfers: parsed.confidentialTransfers.filter(({ type }) => type !== 'apply'),
  };
}

/** Returns the payments that a sentence tells. */
function paymentsToldBy(interpretation: Interpretation): readonly Payment[] {
  if (!('payments' in interpretation)) return [];
  if ('swap' in interpretation && interpretation.swap !== null) return [];
  return interpretation.type === 'ARBITRAGE' && !interpretation.hasTraded ? [] : interpretation.payments;
}

/** Returns the tokens that a sentence tells by what a wallet has more or less of in the end, whoever it sent them to. */
function mintsNettedBy(interpretation: Interpretation): ReadonlySet<string> {
  const swap = 'swap' in interpretation ? interpretation.swap : null;
  const isNetted = 'isUntouched' in interpretation || 'holders' in interpretation;
  const amounts = [
    ...(swap === null ? [] : [...swap.inputs, ...swap.outputs]),
    ...(isNetted ? [...interpretation.gained, ...interpretation.lost] : []),
    ...('passedOn' in interpretation ? (interpretation.passedOn?.amounts ?? []) : []),
  ];
  return new Set(amounts.map(({ mint }) => mint).filter((mint) => mint !== WRAPPED_SOL));
}
