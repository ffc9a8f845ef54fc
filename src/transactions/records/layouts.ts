import {
  CLOCK_SYSVAR,
  RENT_SYSVAR,
  STAKE_CONFIG,
  STAKE_HISTORY_SYSVAR,
} from '../../shared/domain/well-known-addresses.ts';
import { readTables } from '../../shared/runtime/files/read-tables.ts';
import { TOKEN_ACCOUNT_STATES } from '../accounts/token-account-states.ts';
import { EXTENSION_TYPES } from '../accounts/token-extensions.ts';
import type { ByteReader } from '../codec/byte-reader.ts';
import { FORMATS, fieldsReader } from '../codec/fields.ts';
import type { InstructionLayout, ParsedInfo, ReadFields } from './instruction-layout.ts';
import { PROOF_FORMATS } from './proof-formats.ts';

/** Accounts that callers of the stake program may leave out since it reads the sysvars itself. */
const OMITTABLE: Readonly<Record<string, string>> = {
  clockSysvar: CLOCK_SYSVAR,
  stakeHistorySysvar: STAKE_HISTORY_SYSVAR,
  rentSysvar: RENT_SYSVAR,
  stakeConfigAccount: STAKE_CONFIG,
};

/** Returns a reader of one of some names by a number; a program accepts no other. */
const oneOf =
  (readNumber: (reader: ByteReader) => number, names: readonly string[]) =>
  (reader: ByteReader): string => {
    const name = names[readNumber(reader)];
    if (name === undefined) throw new RangeError('a number without a name');
    return name;
  };

/** Names that extensions have in instructions, where they differ from those in accounts. */
const NAMES_IN_INSTRUCTIONS: Readonly<Record<string, string>> = {
  scaledUiAmountConfig: 'scaledUiAmount',
  pausableConfig: 'pausable',
  permissionedBurnConfig: 'permissionedBurn',
};

const readExtension = oneOf(FORMATS.u16, EXTENSION_TYPES);

const readExtensions = (reader: ByteReader): string[] =>
  reader.untilEnd(() => {
    const name = readExtension(reader);
    return NAMES_IN_INSTRUCTIONS[name] ?? name;
  });

/** What an instruction can change of a token account or, for all but two, of a mint. */
const TOKEN_RIGHTS = [
  'mintTokens',
  'freezeAccount',
  'accountOwner',
  'closeAccount',
  'transferFeeConfig',
  'withheldWithdraw',
  'closeMint',
  'interestRate',
  'permanentDelegate',
  'confidentialTransferMint',
  'transferHookProgramId',
  'confidentialTransferFeeConfig',
  'metadataPointer',
  'groupPointer',
  'groupMemberPointer',
  'scaledUiAmount',
  'pause',
  'permissionedBurn',
];

const BLS_PUBLIC_KEY_BYTES = 48;
const BLS_PROOF_BYTES = 96;

/** Reads which right is given away, as `VoteAuthorize` of `solana-vote-interface` is written in JSON. */
function readVoteRight(reader: ByteReader): unknown {
  const name = oneOf(FORMATS.u32, ['Voter', 'Withdrawer', 'VoterWithBLS'])(reader);
  if (name !== 'VoterWithBLS') return name;
  const [key, proof] = [reader.bytes(BLS_PUBLIC_KEY_BYTES), reader.bytes(BLS_PROOF_BYTES)];
  return { [name]: { bls_pubkey: [...key], bls_proof_of_possession: [...proof] } };
}

const METADATA_FIELDS = ['name', 'symbol', 'uri'];

/** Reads the members of a lock-up that change; those that stay are left out. */
function readLockup(reader: ByteReader, custodianOf: () => string | null | undefined): ParsedInfo {
  const [unixTimestamp, epoch] = [reader.option(() => reader.i64()), reader.option(() => reader.u64())];
  const custodian = custodianOf();
  return {
    lockup: {
      ...(unixTimestamp === null ? {} : { unixTimestamp }),
      ...(epoch === null ? {} : { epoch }),
      ...(typeof custodian === 'string' ? { custodian } : {}),
    },
  };
}

/**
 * Reads the state of a new vote account, as `VoteInitV2` has it: the collectors of commissions are accounts of the
 * instruction, or stand in the data of an older form.
 */
const readVoteState: ReadFields = (reader, _, accounts) => {
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

/** Formats beside those of all fields: by the accounts of the instruction too, and of several fields that depend on one another. */
const INSTRUCTION_FORMATS = {
  ...FORMATS,
  ...PROOF_FORMATS,
  amount: (reader) => reader.u64().toString(),
  'amount?': (reader) => reader.option(() => reader.u64())?.toString(),
  checked: (reader, formatAmount) => formatAmount(reader.u64(), { decimals: reader.u8() }),
  account2: (_, __, [, , account]) => account ?? null,
  account3: (_, __, [, , , account]) => account ?? null,
  account4: (_, __, [, , , , account]) => account ?? null,
  stakeRight: oneOf(FORMATS.u32, ['Staker', 'Withdrawer']),
  voteRight: readVoteRight,
  tokenRight: oneOf(FORMATS.u8, TOKEN_RIGHTS),
  commissionKind: oneOf(FORMATS.u32, ['InflationRewards', 'BlockRevenue']),
  accountState: (reader) => TOKEN_ACCOUNT_STATES[reader.u8()],
  extensions: readExtensions,
  'extensions?': (reader) => (reader.remaining === 0 ? undefined : readExtensions(reader)),
  metadataField: (reader) => {
    const kind = reader.u8();
    return kind < METADATA_FIELDS.length ? METADATA_FIELDS[kind] : reader.borshString();
  },
  prefund: (reader, _, [, source]) => {
    const lamports = reader.u64();
    if (lamports > 0n && source === undefined) throw new RangeError('lamports need a source');
    return lamports > 0n ? { source, lamports } : {};
  },
  stakeState: (reader) => ({
    authorized: { staker: reader.pubkey(), withdrawer: reader.pubkey() },
    lockup: { unixTimestamp: reader.i64(), epoch: reader.u64(), custodian: reader.pubkey() },
  }),
  lockup: (reader) => readLockup(reader, () => reader.option(() => reader.pubkey())),
  lockupChecked: (reader, _, [, , custodian]) => readLockup(reader, () => custodian),
  voteState: readVoteState,
  amountWithFee: (reader, formatAmount) => {
    const amount = reader.u64();
    const scale = { decimals: reader.u8() };
    return { tokenAmount: formatAmount(amount, scale), feeAmount: formatAmount(reader.u64(), scale) };
  },
} as const satisfies Readonly<Record<string, ReadFields>>;

function readLayout([type = '', accounts = '', data = '']: readonly string[]): InstructionLayout {
  const names = accounts.split(' ').filter((name) => name !== '');
  const marked = (mark: RegExp): string[] =>
    names.filter((name) => mark.test(name)).map((name) => name.replace(mark, ''));
  const [signer] = marked(/\*$/);
  const [rest] = marked(/\.\.\.$/);
  return {
    type,
    accounts: names.filter((name) => !/[?*.]$/.test(name)).map((name) => name.replace('~', '')),
    optional: marked(/\?$/),
    ...(names.some((name) => name.startsWith('~')) && { omittable: OMITTABLE }),
    ...(signer !== undefined && { signer }),
    ...(rest !== undefined && { rest }),
    ...(data !== '' && { data: fieldsReader(data, INSTRUCTION_FORMATS) }),
  };
}

/** Layouts by program as nodes call it, then by tag as the table of layouts writes it. */
export const LAYOUTS: ReadonlyMap<string, ReadonlyMap<string, InstructionLayout>> = new Map(
  readTables(new URL('data/layouts.tsv', import.meta.url), 'program').map(({ head: [program = ''], rows }) => [
    program,
    new Map(rows.filter(([tag]) => tag !== '').map(([tag = '', ...cells]) => [tag, readLayout(cells)])),
  ]),
);
