import type { ByteReader } from '../codec/byte-reader.ts';
import type { InstructionLayout, ParsedInfo } from './instruction-layout.ts';

const CLOCK_SYSVAR = 'clockSysvar';
const STAKE_HISTORY_SYSVAR = 'stakeHistorySysvar';
const RENT_SYSVAR = 'rentSysvar';

const readLamportsInfo = (reader: ByteReader): ParsedInfo => ({ lamports: reader.u64() });
const readAuthorityType = (reader: ByteReader): string => (reader.u32() === 0 ? 'Staker' : 'Withdrawer');
const readNewAuthority = (reader: ByteReader): ParsedInfo => ({
  newAuthority: reader.pubkey(),
  authorityType: readAuthorityType(reader),
});

/** Instructions of the stake program by their four-byte tag. Source: agave, `parse_stake.rs`. */
export const STAKE_INSTRUCTIONS: Readonly<Record<number, InstructionLayout>> = {
  0: {
    type: 'initialize',
    accounts: ['stakeAccount', RENT_SYSVAR],
    data: (reader) => ({
      authorized: { staker: reader.pubkey(), withdrawer: reader.pubkey() },
      lockup: { unixTimestamp: reader.i64(), epoch: reader.u64(), custodian: reader.pubkey() },
    }),
  },
  1: { type: 'authorize', accounts: ['stakeAccount', CLOCK_SYSVAR, 'authority'], data: readNewAuthority },
  2: {
    type: 'delegate',
    accounts: [
      'stakeAccount',
      'voteAccount',
      CLOCK_SYSVAR,
      STAKE_HISTORY_SYSVAR,
      'stakeConfigAccount',
      'stakeAuthority',
    ],
  },
  3: { type: 'split', accounts: ['stakeAccount', 'newSplitAccount', 'stakeAuthority'], data: readLamportsInfo },
  4: {
    type: 'withdraw',
    accounts: ['stakeAccount', 'destination', CLOCK_SYSVAR, STAKE_HISTORY_SYSVAR, 'withdrawAuthority'],
    data: readLamportsInfo,
  },
  5: { type: 'deactivate', accounts: ['stakeAccount', CLOCK_SYSVAR, 'stakeAuthority'] },
  6: { type: 'setLockup', accounts: ['stakeAccount', 'custodian'] },
  7: { type: 'merge', accounts: ['destination', 'source', CLOCK_SYSVAR, STAKE_HISTORY_SYSVAR, 'stakeAuthority'] },
  8: { type: 'authorizeWithSeed', accounts: ['stakeAccount', 'authorityBase'] },
  9: { type: 'initializeChecked', accounts: ['stakeAccount', RENT_SYSVAR, 'staker', 'withdrawer'] },
  10: { type: 'authorizeChecked', accounts: ['stakeAccount', CLOCK_SYSVAR, 'authority', 'newAuthority'] },
  11: { type: 'authorizeCheckedWithSeed', accounts: ['stakeAccount', 'authorityBase', CLOCK_SYSVAR, 'newAuthorized'] },
  12: { type: 'setLockupChecked', accounts: ['stakeAccount', 'custodian'] },
  13: { type: 'getMinimumDelegation', accounts: [] },
  14: { type: 'deactivateDelinquent', accounts: ['stakeAccount', 'voteAccount', 'referenceVoteAccount'] },
  15: { type: 'redelegate', accounts: ['stakeAccount', 'newStakeAccount', 'voteAccount'] },
  16: { type: 'moveStake', accounts: ['source', 'destination', 'stakeAuthority'], data: readLamportsInfo },
  17: { type: 'moveLamports', accounts: ['source', 'destination', 'stakeAuthority'], data: readLamportsInfo },
};
