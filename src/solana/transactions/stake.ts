import type { ByteReader } from '../codec/byte-reader.ts';
import type { Fields, Layout } from './layout.ts';

const CLOCK = 'clockSysvar';
const HISTORY = 'stakeHistorySysvar';
const RENT = 'rentSysvar';

const lamports = (read: ByteReader): Fields => ({ lamports: read.u64() });
const authorityType = (read: ByteReader): string => (read.u32() === 0 ? 'Staker' : 'Withdrawer');
const newAuthority = (read: ByteReader): Fields => ({ newAuthority: read.key(), authorityType: authorityType(read) });

/** Instructions of the stake program by their four-byte tag. Source: agave, `parse_stake.rs`. */
export const STAKE_INSTRUCTIONS: Readonly<Record<number, Layout>> = {
  0: {
    type: 'initialize',
    accounts: ['stakeAccount', RENT],
    data: (read) => ({
      authorized: { staker: read.key(), withdrawer: read.key() },
      lockup: { unixTimestamp: read.i64(), epoch: read.u64(), custodian: read.key() },
    }),
  },
  1: { type: 'authorize', accounts: ['stakeAccount', CLOCK, 'authority'], data: newAuthority },
  2: {
    type: 'delegate',
    accounts: ['stakeAccount', 'voteAccount', CLOCK, HISTORY, 'stakeConfigAccount', 'stakeAuthority'],
  },
  3: { type: 'split', accounts: ['stakeAccount', 'newSplitAccount', 'stakeAuthority'], data: lamports },
  4: {
    type: 'withdraw',
    accounts: ['stakeAccount', 'destination', CLOCK, HISTORY, 'withdrawAuthority'],
    data: lamports,
  },
  5: { type: 'deactivate', accounts: ['stakeAccount', CLOCK, 'stakeAuthority'] },
  6: { type: 'setLockup', accounts: ['stakeAccount', 'custodian'] },
  7: { type: 'merge', accounts: ['destination', 'source', CLOCK, HISTORY, 'stakeAuthority'] },
  8: { type: 'authorizeWithSeed', accounts: ['stakeAccount', 'authorityBase'] },
  9: { type: 'initializeChecked', accounts: ['stakeAccount', RENT, 'staker', 'withdrawer'] },
  10: { type: 'authorizeChecked', accounts: ['stakeAccount', CLOCK, 'authority', 'newAuthority'] },
  11: { type: 'authorizeCheckedWithSeed', accounts: ['stakeAccount', 'authorityBase', CLOCK, 'newAuthorized'] },
  12: { type: 'setLockupChecked', accounts: ['stakeAccount', 'custodian'] },
  13: { type: 'getMinimumDelegation', accounts: [] },
  14: { type: 'deactivateDelinquent', accounts: ['stakeAccount', 'voteAccount', 'referenceVoteAccount'] },
  15: { type: 'redelegate', accounts: ['stakeAccount', 'newStakeAccount', 'voteAccount'] },
  16: { type: 'moveStake', accounts: ['source', 'destination', 'stakeAuthority'], data: lamports },
  17: { type: 'moveLamports', accounts: ['source', 'destination', 'stakeAuthority'], data: lamports },
};
