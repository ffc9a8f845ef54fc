import type { InstructionLayout } from './instruction-layout.ts';

const voteLayout = (type: string, ...accounts: string[]): InstructionLayout => ({
  type,
  accounts: ['voteAccount', ...accounts],
});

/**
 * Instructions of the vote program by their four-byte tag. The votes themselves are left out: no reader of explained
 * transactions needs them. Types are spelled as in agave's `parse_vote.rs`.
 */
export const VOTE_INSTRUCTIONS: Readonly<Record<number, InstructionLayout>> = {
  0: voteLayout('initialize', 'rentSysvar', 'clockSysvar', 'node'),
  1: voteLayout('authorize', 'clockSysvar', 'authority'),
  2: voteLayout('vote', 'slotHashesSysvar', 'clockSysvar', 'voteAuthority'),
  3: {
    type: 'withdraw',
    accounts: ['voteAccount', 'destination', 'withdrawAuthority'],
    data: (reader) => ({ lamports: reader.u64() }),
  },
  4: voteLayout('updateValidatorIdentity', 'newValidatorIdentity', 'withdrawAuthority'),
  5: { ...voteLayout('updateCommission', 'withdrawAuthority'), data: (reader) => ({ commission: reader.u8() }) },
  6: voteLayout('voteSwitch', 'slotHashesSysvar', 'clockSysvar', 'voteAuthority'),
  7: voteLayout('authorizeChecked', 'clockSysvar', 'authority', 'newAuthority'),
  8: voteLayout('updatevotestate', 'voteAuthority'),
  9: voteLayout('updatevotestateswitch', 'voteAuthority'),
  10: voteLayout('authorizeWithSeed', 'clockSysvar', 'authorityBaseKey'),
  11: voteLayout('authorizeCheckedWithSeed', 'clockSysvar', 'authorityBaseKey', 'newAuthority'),
  12: voteLayout('compactupdatevotestate', 'voteAuthority'),
  13: voteLayout('compactupdatevotestateswitch', 'voteAuthority'),
  14: voteLayout('towersync', 'voteAuthority'),
  15: voteLayout('towersyncswitch', 'voteAuthority'),
};
