import type { ByteReader } from '../codec/byte-reader.ts';
import type { InstructionLayout, ParsedInfo } from './instruction-layout.ts';

type ReadData = NonNullable<InstructionLayout['data']>;

const voteLayout = (type: string, accounts: readonly string[], data?: ReadData): InstructionLayout => ({
  type,
  accounts: ['voteAccount', ...accounts],
  ...(data === undefined ? {} : { data }),
});

const BLS_PUBLIC_KEY_BYTES = 48;
const BLS_PROOF_BYTES = 96;

/** Reads which right is given away, as `VoteAuthorize` of `solana-vote-interface` is written in JSON. */
function readAuthorityType(reader: ByteReader): unknown {
  const tag = reader.u32();
  if (tag === 2) {
    const [key, proof] = [reader.bytes(BLS_PUBLIC_KEY_BYTES), reader.bytes(BLS_PROOF_BYTES)];
    return { VoterWithBLS: { bls_pubkey: [...key], bls_proof_of_possession: [...proof] } };
  }
  const type = ['Voter', 'Withdrawer'][tag];
  if (type === undefined) throw new RangeError('no authority type');
  return type;
}

const readSeed = (reader: ByteReader): ParsedInfo => ({
  authorityOwner: reader.pubkey(),
  authoritySeed: reader.bincodeString(),
});

/**
 * Reads the state of a new vote account, as `VoteInitV2` has it: the collectors of commissions are accounts of the
 * instruction, or stand in the data of an older form.
 */
const readInitialState: ReadData = (reader, _, accounts) => {
  reader.pubkey(); // the node again
  const authorizedVoter = reader.pubkey();
  reader.bytes(BLS_PUBLIC_KEY_BYTES + BLS_PROOF_BYTES);
  const authorizedWithdrawer = reader.pubkey();
  const readCollector = reader.remaining > 4 ? () => reader.pubkey() : () => null;
  const inflationRewardsCommissionBps = reader.u16();
  const inflationRewardsCollector = readCollector() ?? accounts[2];
  const blockRevenueCommissionBps = reader.u16();
  const blockRevenueCollector = readCollector() ?? accounts[3];
  return {
    authorizedVoter,
    authorizedWithdrawer,
    inflationRewardsCommissionBps,
    inflationRewardsCollector,
    blockRevenueCommissionBps,
    blockRevenueCollector,
  };
};

function readCommissionKind(reader: ByteReader): string {
  const kind = ['InflationRewards', 'BlockRevenue'][reader.u32()];
  if (kind === undefined) throw new RangeError('no kind of commission');
  return kind;
}

/**
 * Instructions of the vote program by their four-byte tag. The votes themselves are left out: no reader of explained
 * transactions needs them. Types are spelled as in agave's `parse_vote.rs`.
 */
export const VOTE_INSTRUCTIONS: Readonly<Record<number, InstructionLayout>> = {
  0: voteLayout('initialize', ['rentSysvar', 'clockSysvar', 'node'], (reader) => {
    reader.pubkey(); // the node again
    return { authorizedVoter: reader.pubkey(), authorizedWithdrawer: reader.pubkey(), commission: reader.u8() };
  }),
  1: voteLayout('authorize', ['clockSysvar', 'authority'], (reader) => ({
    newAuthority: reader.pubkey(),
    authorityType: readAuthorityType(reader),
  })),
  2: voteLayout('vote', ['slotHashesSysvar', 'clockSysvar', 'voteAuthority']),
  3: voteLayout('withdraw', ['destination', 'withdrawAuthority'], (reader) => ({ lamports: reader.u64() })),
  4: voteLayout('updateValidatorIdentity', ['newValidatorIdentity', 'withdrawAuthority']),
  5: voteLayout('updateCommission', ['withdrawAuthority'], (reader) => ({ commission: reader.u8() })),
  6: voteLayout('voteSwitch', ['slotHashesSysvar', 'clockSysvar', 'voteAuthority']),
  7: voteLayout('authorizeChecked', ['clockSysvar', 'authority', 'newAuthority'], (reader) => ({
    authorityType: readAuthorityType(reader),
  })),
  8: voteLayout('updatevotestate', ['voteAuthority']),
  9: voteLayout('updatevotestateswitch', ['voteAuthority']),
  10: voteLayout('authorizeWithSeed', ['clockSysvar', 'authorityBaseKey'], (reader) => ({
    authorityType: readAuthorityType(reader),
    ...readSeed(reader),
    newAuthority: reader.pubkey(),
  })),
  11: voteLayout('authorizeCheckedWithSeed', ['clockSysvar', 'authorityBaseKey', 'newAuthority'], (reader) => ({
    authorityType: readAuthorityType(reader),
    ...readSeed(reader),
  })),
  12: voteLayout('compactupdatevotestate', ['voteAuthority']),
  13: voteLayout('compactupdatevotestateswitch', ['voteAuthority']),
  14: voteLayout('towersync', ['voteAuthority']),
  15: voteLayout('towersyncswitch', ['voteAuthority']),
  16: voteLayout('initializeV2', ['node'], readInitialState),
  17: voteLayout('updateCommissionCollector', ['newCollector', 'withdrawAuthority'], (reader) => ({
    commissionKind: readCommissionKind(reader),
  })),
  18: voteLayout('updateCommissionBps', ['withdrawAuthority'], (reader) => ({
    commissionBps: reader.u16(),
    commissionKind: readCommissionKind(reader),
  })),
  19: voteLayout('depositDelegatorRewards', ['source'], (reader) => ({ deposit: reader.u64() })),
};
