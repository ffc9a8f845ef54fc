import type { ByteReader } from '../codec/byte-reader.ts';
import type { Fields, Layout, SpellAmount } from './layout.ts';

const amount = (read: ByteReader): Fields => ({ amount: read.u64().toString() });
const checked = (read: ByteReader, spell: SpellAmount): Fields => ({
  tokenAmount: spell(read.u64(), { decimals: read.u8() }),
});

/** A member that is left out when there is no value. */
const present = (name: string, value: string | null): Fields => (value === null ? {} : { [name]: value });

const newMint = (read: ByteReader): Fields => ({
  decimals: read.u8(),
  mintAuthority: read.key(),
  ...present(
    'freezeAuthority',
    read.option(() => read.key()),
  ),
});

const AUTHORITIES = [
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
];

const setAuthority = (owned: string): Layout => ({
  type: 'setAuthority',
  accounts: [owned],
  signer: 'authority',
  data: (read) => ({ authorityType: AUTHORITIES[read.u8()], newAuthority: read.option(() => read.key()) }),
});

/** Whether the authority that is set belongs to a token account; all other kinds belong to a mint. */
const ofAccount = (kind: number | undefined): boolean => kind === 2 || kind === 3;

/** Setting an authority is shown in two ways, by the kind of authority, which is the byte behind the tag. */
export const setAuthorityLayout = (kind: number | undefined): Layout =>
  setAuthority(ofAccount(kind) ? 'account' : 'mint');

/** Instructions that both token programs have, by their one-byte tag. */
export const TOKEN_INSTRUCTIONS: Readonly<Record<number, Layout>> = {
  0: { type: 'initializeMint', accounts: ['mint', 'rentSysvar'], data: newMint },
  1: { type: 'initializeAccount', accounts: ['account', 'mint', 'owner', 'rentSysvar'] },
  2: {
    type: 'initializeMultisig',
    accounts: ['multisig', 'rentSysvar'],
    rest: 'signers',
    data: (read) => ({ m: read.u8() }),
  },
  3: { type: 'transfer', accounts: ['source', 'destination'], signer: 'authority', data: amount },
  4: { type: 'approve', accounts: ['source', 'delegate'], signer: 'owner', data: amount },
  5: { type: 'revoke', accounts: ['source'], signer: 'owner' },
  7: { type: 'mintTo', accounts: ['mint', 'account'], signer: 'mintAuthority', data: amount },
  8: { type: 'burn', accounts: ['account', 'mint'], signer: 'authority', data: amount },
  9: { type: 'closeAccount', accounts: ['account', 'destination'], signer: 'owner' },
  10: { type: 'freezeAccount', accounts: ['account', 'mint'], signer: 'freezeAuthority' },
  11: { type: 'thawAccount', accounts: ['account', 'mint'], signer: 'freezeAuthority' },
  12: { type: 'transferChecked', accounts: ['source', 'mint', 'destination'], signer: 'authority', data: checked },
  13: { type: 'approveChecked', accounts: ['source', 'mint', 'delegate'], signer: 'owner', data: checked },
  14: { type: 'mintToChecked', accounts: ['mint', 'account'], signer: 'mintAuthority', data: checked },
  15: { type: 'burnChecked', accounts: ['account', 'mint'], signer: 'authority', data: checked },
  16: {
    type: 'initializeAccount2',
    accounts: ['account', 'mint', 'rentSysvar'],
    data: (read) => ({ owner: read.key() }),
  },
  17: { type: 'syncNative', accounts: ['account'] },
  18: { type: 'initializeAccount3', accounts: ['account', 'mint'], data: (read) => ({ owner: read.key() }) },
  19: { type: 'initializeMultisig2', accounts: ['multisig'], rest: 'signers', data: (read) => ({ m: read.u8() }) },
  20: { type: 'initializeMint2', accounts: ['mint'], data: newMint },
  22: { type: 'initializeImmutableOwner', accounts: ['account'] },
  23: { type: 'amountToUiAmount', accounts: ['mint'], data: amount },
  24: {
    type: 'uiAmountToAmount',
    accounts: ['mint'],
    data: (read) => ({ uiAmount: read.text() }),
  },
};
