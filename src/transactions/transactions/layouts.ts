import {
  CLOCK_SYSVAR,
  RENT_SYSVAR,
  STAKE_CONFIG,
  STAKE_HISTORY_SYSVAR,
} from '../../shared/domain/well-known-addresses.ts';
import { readTables } from '../../shared/runtime/files/read-tables.ts';
import { EXTENSION_TYPES } from '../accounts/extension-types.ts';
import { TOKEN_ACCOUNT_STATES } from '../accounts/token-account-states.ts';
import type { ByteReader } from '../codec/byte-reader.ts';
import { formatDouble } from '../codec/format-decimal.ts';
import { readOptionalPubkey } from '../codec/spl-pod.ts';
import type { FormatAmount, InstructionLayout, ParsedInfo } from './instruction-layout.ts';

type Read<T> = (reader: ByteReader, formatAmount: FormatAmount, accounts: readonly string[]) => T;

/** Accounts that callers of the stake program may leave out since it reads the sysvars itself. */
const OMITTABLE: Readonly<Record<string, string>> = {
  clockSysvar: CLOCK_SYSVAR,
  stakeHistorySysvar: STAKE_HISTORY_SYSVAR,
  rentSysvar: RENT_SYSVAR,
  stakeConfigAccount: STAKE_CONFIG,
};

/** Returns a reader of one of some names by a number; a program accepts no other. */
const oneOf =
  (readNumber: (reader: ByteReader) => number, names: readonly (string | undefined)[]): Read<string> =>
  (reader) => {
    const name = names[readNumber(reader)];
    if (name === undefined) throw new RangeError('a number without a name');
    return name;
  };

const u8 = (reader: ByteReader): number => reader.u8();
const u32 = (reader: ByteReader): number => reader.u32();

/** Names that extensions have in instructions, where they differ from those in accounts. */
const NAMES_IN_INSTRUCTIONS: Readonly<Record<string, string>> = {
  scaledUiAmountConfig: 'scaledUiAmount',
  pausableConfig: 'pausable',
  permissionedBurnConfig: 'permissionedBurn',
};

const readExtension = oneOf((reader) => reader.u16(), EXTENSION_TYPES);

const readExtensions: Read<string[]> = (reader, ...rest) =>
  reader.untilEnd(() => {
    const name = readExtension(reader, ...rest);
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
const readVoteRight: Read<unknown> = (reader, ...rest) => {
  const name = oneOf(u32, ['Voter', 'Withdrawer', 'VoterWithBLS'])(reader, ...rest);
  if (name !== 'VoterWithBLS') return name;
  const [key, proof] = [reader.bytes(BLS_PUBLIC_KEY_BYTES), reader.bytes(BLS_PROOF_BYTES)];
  return { [name]: { bls_pubkey: [...key], bls_proof_of_possession: [...proof] } };
};

const METADATA_FIELDS = ['name', 'symbol', 'uri'];

/** Formats of fields. A field that is undefined is left out. */
const FORMATS: Readonly<Record<string, Read<unknown>>> = {
  u8,
  u16: (reader) => reader.u16(),
  i16: (reader) => reader.i16(),
  u32,
  u64: (reader) => reader.u64(),
  i64: (reader) => reader.i64(),
  double: (reader) => formatDouble(reader.f64()),
  flag: (reader) => reader.u8() === 1,
  key: (reader) => reader.pubkey(),
  'key?': (reader) => reader.option(() => reader.pubkey()) ?? undefined,
  'key|null': (reader) => reader.option(() => reader.pubkey()),
  'pod?': (reader) => readOptionalPubkey(reader) ?? undefined,
  'pod|null': (reader) => readOptionalPubkey(reader),
  keys: (reader) => reader.untilEnd(() => reader.pubkey()),
  string: (reader) => reader.bincodeString(),
  borsh: (reader) => reader.borshString(),
  text: (reader) => reader.remainingText(),
  amount: (reader) => reader.u64().toString(),
  'amount?': (reader) => reader.option(() => reader.u64())?.toString(),
  checked: (reader, formatAmount) => formatAmount(reader.u64(), { decimals: reader.u8() }),
  account2: (_, __, [, , account]) => account ?? null,
  account3: (_, __, [, , , account]) => account ?? null,
  account4: (_, __, [, , , , account]) => account ?? null,
  stakeRight: oneOf(u32, ['Staker', 'Withdrawer']),
  voteRight: readVoteRight,
  tokenRight: oneOf(u8, TOKEN_RIGHTS),
  commissionKind: oneOf(u32, ['InflationRewards', 'BlockRevenue']),
  accountState: (reader) => TOKEN_ACCOUNT_STATES[reader.u8()],
  extensions: readExtensions,
  'extensions?': (reader, ...rest) => (reader.remaining === 0 ? undefined : readExtensions(reader, ...rest)),
  metadataField: (reader) => {
    const kind = reader.u8();
    return kind < METADATA_FIELDS.length ? METADATA_FIELDS[kind] : reader.borshString();
  },
};

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
const readVoteState: Read<ParsedInfo> = (reader, _, accounts) => {
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

/** Readers of several fields of which one depends on another. */
const READERS: Readonly<Record<string, Read<ParsedInfo>>> = {
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
};

/** Returns the reader of a field: `name:format`, or `!reader` of several; `-` is read and left out. */
function fieldReader(field: string): Read<ParsedInfo> {
  const [name = '', format = ''] = field.split(':');
  const several = READERS[name.slice(1)];
  if (name.startsWith('!') && several !== undefined) return several;
  const read = FORMATS[format];
  if (read === undefined) throw new Error(`no format: ${field}`);
  return (...input) => {
    const value = read(...input);
    return value === undefined || name === '-' ? {} : { [name]: value };
  };
}

function readLayout([type = '', accounts = '', data = '']: readonly string[]): InstructionLayout {
  const names = accounts.split(' ').filter((name) => name !== '');
  const marked = (mark: RegExp): string[] =>
    names.filter((name) => mark.test(name)).map((name) => name.replace(mark, ''));
  const [signer] = marked(/\*$/);
  const [rest] = marked(/\.\.\.$/);
  const readers = data
    .split(' ')
    .filter((field) => field !== '')
    .map(fieldReader);
  return {
    type,
    accounts: names.filter((name) => !/[?*.]$/.test(name)).map((name) => name.replace('~', '')),
    optional: marked(/\?$/),
    ...(names.some((name) => name.startsWith('~')) && { omittable: OMITTABLE }),
    ...(signer !== undefined && { signer }),
    ...(rest !== undefined && { rest }),
    ...(readers.length > 0 && { data: (...input) => Object.assign({}, ...readers.map((read) => read(...input))) }),
  };
}

/** Layouts by program as nodes call it, then by tag as the table of layouts writes it. */
export const LAYOUTS: ReadonlyMap<string, ReadonlyMap<string, InstructionLayout>> = new Map(
  readTables(new URL('data/layouts.tsv', import.meta.url), 'program').map(({ head: [program = ''], rows }) => [
    program,
    new Map(rows.filter(([tag]) => tag !== '').map(([tag = '', ...cells]) => [tag, readLayout(cells)])),
  ]),
);
