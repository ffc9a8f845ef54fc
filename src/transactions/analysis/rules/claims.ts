import { programRole } from '../../programs/known-programs.ts';
import { programFlowsOf } from '../program-flows.ts';
import type { Rule } from './rule.ts';

/** Interprets the claim of an airdrop; a fee for the claim is no price. */
export const claimRule: Rule = (facts) => {
  const { parsed, hasFailed, mainProgram } = facts;
  if (hasFailed || programRole(mainProgram) !== 'airdrop') return null;
  const actor = parsed.feePayer;
  const { given, received } = programFlowsOf(actor, facts);
  return received.length === 0 ? null : { type: 'CLAIM', actor, program: mainProgram, gained: received, lost: given };
};
