import { programRole } from '../../programs/known-programs.ts';
import { unsignedChanges } from '../find-swap.ts';
import { findFilledOrder } from '../limit-order.ts';
import { programFlowsOf } from '../program-flows.ts';
import type { Rule } from './rule.ts';

/** Interprets the fill of an order whose owner did not sign. */
export const orderFillRule: Rule = (facts) => {
  const { parsed, hasFailed, mainProgram } = facts;
  if (programRole(mainProgram) !== 'orders' || hasFailed) return null;
  const filled = findFilledOrder(unsignedChanges(parsed), parsed);
  if (filled === null || filled.wallet === null || parsed.signers.includes(filled.wallet)) return null;
  return { type: 'FILL_ORDER', actor: filled.wallet, program: mainProgram, swap: filled, states: filled.states };
};

/** Interprets an order or a plan that was opened or cancelled: what it trades was left with the program, or came back. */
export const orderChangeRule: Rule = (facts) => {
  const { parsed, hasFailed, mainProgram } = facts;
  if (programRole(mainProgram) !== 'orders' || hasFailed) return null;
  const actor = parsed.feePayer;
  const { given, received, states } = programFlowsOf(actor, mainProgram, parsed);
  const common = { actor, program: mainProgram, gained: received, lost: given, states, payouts: [] };
  if (given.length > 0 && received.length === 0) return { ...common, type: 'OPEN_ORDER' };
  return received.length > 0 && given.length === 0 ? { ...common, type: 'CANCEL_ORDER' } : null;
};
