import type { ByteReader } from '../codec/byte-reader.ts';
import type { FormatAmount, InstructionLayout, ParsedInfo } from './instruction-layout.ts';

const readAmount = (reader: ByteReader): ParsedInfo => ({ amount: reader.u64().toString() });
const readCheckedAmount = (reader: ByteReader, formatAmount: FormatAmount): ParsedInfo => ({
  tokenAmount: formatAmount(reader.u64(), { decimals: reader.u8() }),
});

/** Returns a member, or nothing if it has no value. */
const optionalField = (name: string, value: string | null): ParsedInfo => (value === null ? {} : { [name]: value });

const readNewMint = (reader: ByteReader): ParsedInfo => ({
  decimals: reader.u8(),
  mintAuthority: reader.pubkey(),
  ...optionalField(
    'freezeAuthority',
    reader.option(() => reader.pubkey()),
  ),
});

const AUTHORITY_TYPES = [
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

const buildSetAuthorityLayout = (ownedAccountName: string): InstructionLayout => ({
  type: 'setAuthority',
  accounts: [ownedAccountName],
  signer: 'authority',
  data: (reader) => {
    const authorityType = AUTHORITY_TYPES[reader.u8()];
    if (authorityType === undefined) throw new RangeError('no authority type');
    return { authorityType, newAuthority: reader.option(() => reader.pubkey()) };
  },
});

/** Returns whether an authority type belongs to token accounts; all others belong to mints. */
const isAccountAuthority = (authorityType: number | undefined): boolean => authorityType === 2 || authorityType === 3;

/** Returns the layout of SetAuthority, which names a mint or an account depending on the type after the tag. */
export const setAuthorityLayout = (authorityType: number | undefined): InstructionLayout =>
  buildSetAuthorityLayout(isAccountAuthority(authorityType) ? 'account' : 'mint');

/** Instructions that both token programs have, by their one-byte tag. */
export const TOKEN_INSTRUCTIONS: Readonly<Record<number, InstructionLayout>> = {
  0: { type: 'initializeMint', accounts: ['mint', 'rentSysvar'], data: readNewMint },
  1: { type: 'initializeAccount', accounts: ['account', 'mint', 'owner', 'rentSysvar'] },
  2: {
    type: 'initializeMultisig',
    accounts: ['multisig', 'rentSysvar'],
    rest: 'signers',
    data: (reader) => ({ m: reader.u8() }),
  },
  3: { type: 'transfer', accounts: ['source', 'destination'], signer: 'authority', data: readAmount },
  4: { type: 'approve', accounts: ['source', 'delegate'], signer: 'owner', data: readAmount },
  5: { type: 'revoke', accounts: ['source'], signer: 'owner' },
  7: { type: 'mintTo', accounts: ['mint', 'account'], signer: 'mintAuthority', data: readAmount },
  8: { type: 'burn', accounts: ['account', 'mint'], signer: 'authority', data: readAmount },
  9: { type: 'closeAccount', accounts: ['account', 'destination'], signer: 'owner' },
  10: { type: 'freezeAccount', accounts: ['account', 'mint'], signer: 'freezeAuthority' },
  11: { type: 'thawAccount', accounts: ['account', 'mint'], signer: 'freezeAuthority' },
  12: {
    type: 'transferChecked',
    accounts: ['source', 'mint', 'destination'],
    signer: 'authority',
    data: readCheckedAmount,
  },
  13: { type: 'approveChecked', accounts: ['source', 'mint', 'delegate'], signer: 'owner', data: readCheckedAmount },
  14: { type: 'mintToChecked', accounts: ['mint', 'account'], signer: 'mintAuthority', data: readCheckedAmount },
  15: { type: 'burnChecked', accounts: ['account', 'mint'], signer: 'authority', data: readCheckedAmount },
  16: {
    type: 'initializeAccount2',
    accounts: ['account', 'mint', 'rentSysvar'],
    data: (reader) => ({ owner: reader.pubkey() }),
  },
  17: { type: 'syncNative', accounts: ['account'] },
  18: { type: 'initializeAccount3', accounts: ['account', 'mint'], data: (reader) => ({ owner: reader.pubkey() }) },
  19: { type: 'initializeMultisig2', accounts: ['multisig'], rest: 'signers', data: (reader) => ({ m: reader.u8() }) },
  20: { type: 'initializeMint2', accounts: ['mint'], data: readNewMint },
  22: { type: 'initializeImmutableOwner', accounts: ['account'] },
  23: { type: 'amountToUiAmount', accounts: ['mint'], data: readAmount },
  24: {
    type: 'uiAmountToAmount',
    accounts: ['mint'],
    data: (reader) => ({ uiAmount: reader.remainingText() }),
  },
  38: { type: 'withdrawExcessLamports', accounts: ['source', 'destination'], signer: 'authority' },
  45: {
    type: 'unwrapLamports',
    accounts: ['source', 'destination'],
    signer: 'authority',
    data: (reader) => {
      const amount = reader.option(() => reader.u64());
      return amount === null ? {} : { amount: amount.toString() };
    },
  },
};
