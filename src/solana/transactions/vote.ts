import type { Layout } from './layout.ts';

const vote = (type: string, ...accounts: string[]): Layout => ({ type, accounts: ['voteAccount', ...accounts] });

/**
 * Instructions of the vote program by their four-byte tag. What validators voted for is left out: nobody who reads
 * transactions in words wants it. Source: agave, `parse_vote.rs`, whose spelling of the types this is.
 */
export const VOTE_INSTRUCTIONS: Readonly<Record<number, Layout>> = {
  0: vote('initialize', 'rentSysvar', 'clockSysvar', 'node'),
  1: vote('authorize', 'clockSysvar', 'authority'),
  2: vote('vote', 'slotHashesSysvar', 'clockSysvar', 'voteAuthority'),
  3: {
    type: 'withdraw',
    accounts: ['voteAccount', 'destination', 'withdrawAuthority'],
    data: (read) => ({ lamports: read.u64() }),
  },
  4: vote('updateValidatorIdentity', 'newValidatorIdentity', 'withdrawAuthority'),
  5: { ...vote('updateCommission', 'withdrawAuthority'), data: (read) => ({ commission: read.u8() }) },
  6: vote('voteSwitch', 'slotHashesSysvar', 'clockSysvar', 'voteAuthority'),
  7: vote('authorizeChecked', 'clockSysvar', 'authority', 'newAuthority'),
  8: vote('updatevotestate', 'voteAuthority'),
  9: vote('updatevotestateswitch', 'voteAuthority'),
  10: vote('authorizeWithSeed', 'clockSysvar', 'authorityBaseKey'),
  11: vote('authorizeCheckedWithSeed', 'clockSysvar', 'authorityBaseKey', 'newAuthority'),
  12: vote('compactupdatevotestate', 'voteAuthority'),
  13: vote('compactupdatevotestateswitch', 'voteAuthority'),
  14: vote('towersync', 'voteAuthority'),
  15: vote('towersyncswitch', 'voteAuthority'),
};
