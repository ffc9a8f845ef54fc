import { programRole } from '../../programs/known-programs.ts';
import { unsignedChanges } from '../find-swap.ts';
import { findFilledOrder } from '../limit-order.ts';
import type { Rule } from '../transaction-facts.ts';

/** Interprets the fill of an order whose owner did not sign. */
export const orderFillRule: Rule = (facts) => {
  const { parsed, isAttempt, mainProgram } = facts;
  if (programRole(mainProgram) !== 'orders' || isAttempt) return null;
  const filled = findFilledOrder(unsignedChanges(parsed), parsed);
  if (filled === null || filled.wallet === null || parsed.signers.includes(filled.wallet)) return null;
  return { type: 'FILL_ORDER', actor: filled.wallet, program: mainProgram, swap: filled, states: filled.states };
};
