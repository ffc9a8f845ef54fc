import { programRole } from '../../programs/known-programs.ts';
import { programFlowsOf } from '../program-flows.ts';
import type { Rule } from './rule.ts';

/**
 * Interprets assets that were put into a pool or removed from one: on an exchange, two of them went one way and nothing
 * but a receipt came back. A single asset counts where the position's NFT was made or burned with it.
 */
export const poolRule: Rule = (facts) => {
  const { parsed, mainProgram, hasFailed } = facts;
  if (hasFailed || programRole(mainProgram) !== 'exchange') return null;
  const actor = parsed.feePayer;
  const { given, received, receiptsGot, receiptsGiven, hasPositionNft, ...flows } = programFlowsOf(
    actor,
    mainProgram,
    parsed,
  );
  const common = { actor, program: mainProgram, states: [...flows.states, ...flows.receiptStates], payouts: [] };
  if (isMoved(given.length, hasPositionNft) && received.length + receiptsGiven.length === 0)
    return { ...common, type: 'ADD_TO_POOL', gained: receiptsGot, lost: given };
  if (isMoved(received.length, hasPositionNft) && given.length + receiptsGot.length === 0)
    return { ...common, type: 'REMOVE_FROM_POOL', gained: received, lost: receiptsGiven };
  return null;
};

const isMoved = (assets: number, hasPositionNft: boolean): boolean => assets > 1 || (assets === 1 && hasPositionNft);
