import type { Layout } from './layout.ts';

const RENT = 'rentSysvar';
const BLOCKHASHES = 'recentBlockhashesSysvar';

/** Instructions of the System program by their four-byte tag. */
export const SYSTEM_INSTRUCTIONS: Readonly<Record<number, Layout>> = {
  0: {
    type: 'createAccount',
    accounts: ['source', 'newAccount'],
    data: (read) => ({ lamports: read.u64(), space: read.u64(), owner: read.key() }),
  },
  1: { type: 'assign', accounts: ['account'], data: (read) => ({ owner: read.key() }) },
  2: { type: 'transfer', accounts: ['source', 'destination'], data: (read) => ({ lamports: read.u64() }) },
  3: {
    type: 'createAccountWithSeed',
    accounts: ['source', 'newAccount'],
    data: (read) => ({
      base: read.key(),
      seed: read.longString(),
      lamports: read.u64(),
      space: read.u64(),
      owner: read.key(),
    }),
  },
  4: { type: 'advanceNonce', accounts: ['nonceAccount', BLOCKHASHES, 'nonceAuthority'] },
  5: {
    type: 'withdrawFromNonce',
    accounts: ['nonceAccount', 'destination', BLOCKHASHES, RENT, 'nonceAuthority'],
    data: (read) => ({ lamports: read.u64() }),
  },
  6: {
    type: 'initializeNonce',
    accounts: ['nonceAccount', BLOCKHASHES, RENT],
    data: (read) => ({ nonceAuthority: read.key() }),
  },
  7: {
    type: 'authorizeNonce',
    accounts: ['nonceAccount', 'nonceAuthority'],
    data: (read) => ({ newAuthorized: read.key() }),
  },
  8: { type: 'allocate', accounts: ['account'], data: (read) => ({ space: read.u64() }) },
  9: {
    type: 'allocateWithSeed',
    accounts: ['account'],
    data: (read) => ({ base: read.key(), seed: read.longString(), space: read.u64(), owner: read.key() }),
  },
  10: {
    type: 'assignWithSeed',
    accounts: ['account'],
    data: (read) => ({ base: read.key(), seed: read.longString(), owner: read.key() }),
  },
  11: {
    type: 'transferWithSeed',
    accounts: ['source', 'sourceBase', 'destination'],
    data: (read) => ({ lamports: read.u64(), sourceSeed: read.longString(), sourceOwner: read.key() }),
  },
  12: { type: 'upgradeNonce', accounts: ['nonceAccount'] },
};
