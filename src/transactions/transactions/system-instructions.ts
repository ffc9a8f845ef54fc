import type { InstructionLayout } from './instruction-layout.ts';

const RENT_SYSVAR = 'rentSysvar';
const RECENT_BLOCKHASHES_SYSVAR = 'recentBlockhashesSysvar';

/** Instructions of the System program by their four-byte tag. */
export const SYSTEM_INSTRUCTIONS: Readonly<Record<number, InstructionLayout>> = {
  0: {
    type: 'createAccount',
    accounts: ['source', 'newAccount'],
    data: (reader) => ({ lamports: reader.u64(), space: reader.u64(), owner: reader.pubkey() }),
  },
  1: { type: 'assign', accounts: ['account'], data: (reader) => ({ owner: reader.pubkey() }) },
  2: { type: 'transfer', accounts: ['source', 'destination'], data: (reader) => ({ lamports: reader.u64() }) },
  3: {
    type: 'createAccountWithSeed',
    accounts: ['source', 'newAccount'],
    data: (reader) => ({
      base: reader.pubkey(),
      seed: reader.bincodeString(),
      lamports: reader.u64(),
      space: reader.u64(),
      owner: reader.pubkey(),
    }),
  },
  4: { type: 'advanceNonce', accounts: ['nonceAccount', RECENT_BLOCKHASHES_SYSVAR, 'nonceAuthority'] },
  5: {
    type: 'withdrawFromNonce',
    accounts: ['nonceAccount', 'destination', RECENT_BLOCKHASHES_SYSVAR, RENT_SYSVAR, 'nonceAuthority'],
    data: (reader) => ({ lamports: reader.u64() }),
  },
  6: {
    type: 'initializeNonce',
    accounts: ['nonceAccount', RECENT_BLOCKHASHES_SYSVAR, RENT_SYSVAR],
    data: (reader) => ({ nonceAuthority: reader.pubkey() }),
  },
  7: {
    type: 'authorizeNonce',
    accounts: ['nonceAccount', 'nonceAuthority'],
    data: (reader) => ({ newAuthorized: reader.pubkey() }),
  },
  8: { type: 'allocate', accounts: ['account'], data: (reader) => ({ space: reader.u64() }) },
  9: {
    type: 'allocateWithSeed',
    accounts: ['account'],
    data: (reader) => ({
      base: reader.pubkey(),
      seed: reader.bincodeString(),
      space: reader.u64(),
      owner: reader.pubkey(),
    }),
  },
  10: {
    type: 'assignWithSeed',
    accounts: ['account'],
    data: (reader) => ({ base: reader.pubkey(), seed: reader.bincodeString(), owner: reader.pubkey() }),
  },
  11: {
    type: 'transferWithSeed',
    accounts: ['source', 'sourceBase', 'destination'],
    data: (reader) => ({ lamports: reader.u64(), sourceSeed: reader.bincodeString(), sourceOwner: reader.pubkey() }),
  },
  12: { type: 'upgradeNonce', accounts: ['nonceAccount'] },
  13: {
    type: 'createAccountAllowPrefund',
    accounts: ['newAccount'],
    data: (reader, _, [, source]) => {
      const lamports = reader.u64();
      if (lamports > 0n && source === undefined) throw new RangeError('lamports need a source');
      const payment = lamports > 0n ? { source, lamports } : {};
      return { ...payment, space: reader.u64(), owner: reader.pubkey() };
    },
  },
};
