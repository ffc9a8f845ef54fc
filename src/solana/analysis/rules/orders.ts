import { programRole } from '../../programs/known-programs.ts';
import { unsignedChanges } from '../find-swap.ts';
import { findFilledOrder } from '../limit-order.ts';
import type { Rule } from './rule.ts';

/** Tells of an order that was filled for its owner, who did not sign. */
export const orderFillRule: Rule = (facts) => {
  const { parsed, hasFailed, mainProgram, swap } = facts;
  if (programRole(mainProgram ?? '') !== 'orders' || hasFailed) return null;
  const filled = findFilledOrder(unsignedChanges(facts), parsed);
  if (filled === null || filled.wallet === null || swap?.wallet) return null;
  return { type: 'FILL_ORDER', actor: filled.wallet, program: mainProgram, swap: filled };
};
