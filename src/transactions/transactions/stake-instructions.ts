import {
  CLOCK_SYSVAR,
  RENT_SYSVAR,
  STAKE_CONFIG,
  STAKE_HISTORY_SYSVAR,
} from '../../shared/domain/well-known-addresses.ts';
import type { ByteReader } from '../codec/byte-reader.ts';
import type { InstructionLayout, ParsedInfo } from './instruction-layout.ts';

const CLOCK = 'clockSysvar';
const STAKE_HISTORY = 'stakeHistorySysvar';
const RENT = 'rentSysvar';
const CONFIG = 'stakeConfigAccount';

/** Accounts that callers of the stake program may leave out since it reads the sysvars itself. */
const omittable = {
  [CLOCK]: CLOCK_SYSVAR,
  [STAKE_HISTORY]: STAKE_HISTORY_SYSVAR,
  [RENT]: RENT_SYSVAR,
  [CONFIG]: STAKE_CONFIG,
};

const readLamportsInfo = (reader: ByteReader): ParsedInfo => ({ lamports: reader.u64() });

/** Returns one of two names by a four-byte number, as the program accepts no other. */
function readAuthorityType(reader: ByteReader): string {
  const type = ['Staker', 'Withdrawer'][reader.u32()];
  if (type === undefined) throw new RangeError('no authority type');
  return type;
}

const readNewAuthority = (reader: ByteReader): ParsedInfo => ({
  newAuthority: reader.pubkey(),
  authorityType: readAuthorityType(reader),
});

const readSeed = (reader: ByteReader): ParsedInfo => ({
  authoritySeed: reader.bincodeString(),
  authorityOwner: reader.pubkey(),
});

/** Reads the members of a lock-up that change; those that stay are left out. */
function readLockupChange(reader: ByteReader): Record<string, unknown> {
  const [unixTimestamp, epoch] = [reader.option(() => reader.i64()), reader.option(() => reader.u64())];
  return { ...(unixTimestamp === null ? {} : { unixTimestamp }), ...(epoch === null ? {} : { epoch }) };
}

/** Instructions of the stake program by their four-byte tag. Source: agave, `parse_stake.rs`. */
export const STAKE_INSTRUCTIONS: Readonly<Record<number, InstructionLayout>> = {
  0: {
    type: 'initialize',
    accounts: ['stakeAccount', RENT],
    omittable,
    data: (reader) => ({
      authorized: { staker: reader.pubkey(), withdrawer: reader.pubkey() },
      lockup: { unixTimestamp: reader.i64(), epoch: reader.u64(), custodian: reader.pubkey() },
    }),
  },
  1: {
    type: 'authorize',
    accounts: ['stakeAccount', CLOCK, 'authority'],
    optional: ['custodian'],
    omittable,
    data: readNewAuthority,
  },
  2: {
    type: 'delegate',
    accounts: ['stakeAccount', 'voteAccount', CLOCK, STAKE_HISTORY, CONFIG],
    optional: ['stakeAuthority'],
    omittable,
  },
  3: {
    type: 'split',
    accounts: ['stakeAccount', 'newSplitAccount'],
    optional: ['stakeAuthority'],
    data: readLamportsInfo,
  },
  4: {
    type: 'withdraw',
    accounts: ['stakeAccount', 'destination', CLOCK, STAKE_HISTORY, 'withdrawAuthority'],
    optional: ['custodian'],
    omittable,
    data: readLamportsInfo,
  },
  5: { type: 'deactivate', accounts: ['stakeAccount', CLOCK], optional: ['stakeAuthority'], omittable },
  6: {
    type: 'setLockup',
    accounts: ['stakeAccount', 'custodian'],
    data: (reader) => {
      const lockup = readLockupChange(reader);
      const custodian = reader.option(() => reader.pubkey());
      return { lockup: custodian === null ? lockup : { ...lockup, custodian } };
    },
  },
  7: {
    type: 'merge',
    accounts: ['destination', 'source', CLOCK, STAKE_HISTORY],
    optional: ['stakeAuthority'],
    omittable,
  },
  8: {
    type: 'authorizeWithSeed',
    accounts: ['stakeAccount', 'authorityBase', CLOCK],
    optional: ['custodian'],
    omittable,
    data: (reader) => ({
      newAuthorized: reader.pubkey(),
      authorityType: readAuthorityType(reader),
      ...readSeed(reader),
    }),
  },
  9: { type: 'initializeChecked', accounts: ['stakeAccount', RENT, 'staker', 'withdrawer'], omittable },
  10: {
    type: 'authorizeChecked',
    accounts: ['stakeAccount', CLOCK, 'authority', 'newAuthority'],
    optional: ['custodian'],
    omittable,
    data: (reader) => ({ authorityType: readAuthorityType(reader) }),
  },
  11: {
    type: 'authorizeCheckedWithSeed',
    accounts: ['stakeAccount', 'authorityBase', CLOCK, 'newAuthorized'],
    optional: ['custodian'],
    omittable,
    data: (reader) => ({ authorityType: readAuthorityType(reader), ...readSeed(reader) }),
  },
  12: {
    type: 'setLockupChecked',
    accounts: ['stakeAccount', 'custodian'],
    data: (reader, _, [, , custodian]) => {
      const lockup = readLockupChange(reader);
      return { lockup: custodian === undefined ? lockup : { ...lockup, custodian } };
    },
  },
  13: { type: 'getMinimumDelegation', accounts: [] },
  14: { type: 'deactivateDelinquent', accounts: ['stakeAccount', 'voteAccount', 'referenceVoteAccount'] },
  15: {
    type: 'redelegate',
    accounts: ['stakeAccount', 'newStakeAccount', 'voteAccount', CONFIG, 'stakeAuthority'],
  },
  16: { type: 'moveStake', accounts: ['source', 'destination', 'stakeAuthority'], data: readLamportsInfo },
  17: { type: 'moveLamports', accounts: ['source', 'destination', 'stakeAuthority'], data: readLamportsInfo },
};
