import type { Layout } from './layout.ts';

const CREATE = ['source', 'account', 'wallet', 'mint', 'systemProgram', 'tokenProgram'];

/** Instructions of the associated-token program by their one-byte tag; without data it is the first. */
export const ASSOCIATED_TOKEN_INSTRUCTIONS: Readonly<Record<number, Layout>> = {
  0: { type: 'create', accounts: CREATE },
  1: { type: 'createIdempotent', accounts: CREATE },
  2: {
    type: 'recoverNested',
    accounts: ['nestedSource', 'nestedMint', 'destination', 'nestedOwner', 'ownerMint', 'wallet', 'tokenProgram'],
  },
};
