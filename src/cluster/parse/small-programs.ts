import type { Layout } from '../../chain/instructions/layout.ts';

/** Instructions of the associated-token program by their one-byte tag; without data it is the first. */
export const ASSOCIATED_TOKEN_INSTRUCTIONS: Readonly<Record<number, Layout>> = {
  0: { type: 'create', accounts: ['source', 'account', 'wallet', 'mint', 'systemProgram', 'tokenProgram'] },
  1: { type: 'createIdempotent', accounts: ['source', 'account', 'wallet', 'mint', 'systemProgram', 'tokenProgram'] },
  2: {
    type: 'recoverNested',
    accounts: ['nestedSource', 'nestedMint', 'destination', 'nestedOwner', 'ownerMint', 'wallet', 'tokenProgram'],
  },
};

const TABLE = ['lookupTableAccount', 'lookupTableAuthority'];
const PAYER = ['payerAccount', 'systemProgram'];

/** Instructions of the address-lookup-table program by their four-byte tag. */
export const LOOKUP_TABLE_INSTRUCTIONS: Readonly<Record<number, Layout>> = {
  0: {
    type: 'createLookupTable',
    accounts: [...TABLE, ...PAYER],
    data: (read) => ({ recentSlot: read.u64(), bumpSeed: read.u8() }),
  },
  1: { type: 'freezeLookupTable', accounts: TABLE },
  2: {
    type: 'extendLookupTable',
    accounts: TABLE,
    optional: PAYER,
    data: (read) => {
      read.u64(); // the length of the list, which goes on to the end
      return { newAddresses: read.toEnd(() => read.key()) };
    },
  },
  3: { type: 'deactivateLookupTable', accounts: TABLE },
  4: { type: 'closeLookupTable', accounts: [...TABLE, 'recipient'] },
};

/** The instructions of the stake program that a delegation needs, by their four-byte tag. */
export const STAKE_INSTRUCTIONS: Readonly<Record<number, Layout>> = {
  0: {
    type: 'initialize',
    accounts: ['stakeAccount', 'rentSysvar'],
    data: (read) => ({
      authorized: { staker: read.key(), withdrawer: read.key() },
      lockup: { unixTimestamp: read.i64(), epoch: read.u64(), custodian: read.key() },
    }),
  },
  2: {
    type: 'delegate',
    accounts: [
      'stakeAccount',
      'voteAccount',
      'clockSysvar',
      'stakeHistorySysvar',
      'stakeConfigAccount',
      'stakeAuthority',
    ],
  },
  5: { type: 'deactivate', accounts: ['stakeAccount', 'clockSysvar', 'stakeAuthority'] },
};
