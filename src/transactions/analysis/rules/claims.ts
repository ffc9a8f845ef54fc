import { programRole } from '../../programs/known-programs.ts';
import { programFlowsOf } from '../program-flows.ts';
import type { Rule } from './rule.ts';

/** Interprets the claim of an airdrop; a fee for the claim is no price. */
export const claimRule: Rule = (facts) => {
  const { parsed, hasFailed, mainProgram } = facts;
  if (hasFailed || programRole(mainProgram) !== 'airdrop') return null;
  const actor = parsed.feePayer;
  const { given, received, states } = programFlowsOf(actor, mainProgram, parsed);
  const common = { actor, program: mainProgram, states, payouts: [] };
  return received.length === 0 ? null : { ...common, type: 'CLAIM', gained: received, lost: given };
};
