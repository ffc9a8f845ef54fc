import type { InstructionLayout } from './instruction-layout.ts';

const CREATE_ACCOUNTS = ['source', 'account', 'wallet', 'mint', 'systemProgram', 'tokenProgram'];

/** Instructions of the associated-token program by their one-byte tag; empty data means the first. */
export const ASSOCIATED_TOKEN_INSTRUCTIONS: Readonly<Record<number, InstructionLayout>> = {
  0: { type: 'create', accounts: CREATE_ACCOUNTS },
  1: { type: 'createIdempotent', accounts: CREATE_ACCOUNTS },
  2: {
    type: 'recoverNested',
    accounts: ['nestedSource', 'nestedMint', 'destination', 'nestedOwner', 'ownerMint', 'wallet', 'tokenProgram'],
  },
};
