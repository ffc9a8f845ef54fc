import { isNftAmount } from '../payments.ts';
import type { Rule } from './rule.ts';

/** Tells of an NFT that was bought or sold for something that changed hands with it. */
export const nftTradeRule: Rule = (facts) => {
  const { swap } = facts;
  if (swap === null || ![...swap.inputs, ...swap.outputs].some(isNftAmount)) return null;
  const { parsed, mainProgram, payments, netChange } = facts;
  const actor = swap.wallet ?? parsed.feePayer;
  return { type: 'NFT_TRANSFER', actor, program: mainProgram, swap, payments, ...netChange };
};

/** Tells of an NFT that was sent, and of what happened to a compressed one, which is in no token account. */
export const nftTransferRule: Rule = (facts) => {
  const { parsed, mainProgram, payments, netChange, calls, instructionOf, hasFailed } = facts;
  const told = { actor: parsed.feePayer, program: mainProgram, ...netChange };
  if (!hasFailed && payments.some(isNftAmount)) return { type: 'NFT_TRANSFER', ...told, swap: null, payments };
  for (const call of calls) {
    const type = instructionOf(call)?.type;
    if (type === 'COMPRESSED_NFT_MINT' || type === 'COMPRESSED_NFT_TRANSFER' || type === 'COMPRESSED_NFT_BURN')
      return { type, ...told };
  }
  return null;
};
