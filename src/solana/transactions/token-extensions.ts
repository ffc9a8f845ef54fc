import { ACCOUNT_STATES } from '../accounts/account-state.ts';
import { EXTENSION_KINDS } from '../accounts/extension-kinds.ts';
import type { ByteReader } from '../codec/byte-reader.ts';
import { plainDecimal } from '../codec/decimal.ts';
import { keyUnlessZero } from '../codec/pod.ts';
import type { Fields, Layout } from './layout.ts';

const extensionTypes = (read: ByteReader): Fields => ({
  extensionTypes: read.toEnd(() => EXTENSION_KINDS[read.u16()]),
});

/** Instructions of Token-2022 that stand alone, by their one-byte tag. */
export const EXTENSION_INSTRUCTIONS: Readonly<Record<number, Layout>> = {
  21: { type: 'getAccountDataSize', accounts: ['mint'], data: extensionTypes },
  25: {
    type: 'initializeMintCloseAuthority',
    accounts: ['mint'],
    data: (read) => ({ newAuthority: read.option(() => read.key()) }),
  },
  29: {
    type: 'reallocate',
    accounts: ['account', 'payer', 'systemProgram'],
    signer: 'owner',
    data: extensionTypes,
  },
  31: { type: 'createNativeMint', accounts: ['payer', 'nativeMint', 'systemProgram'] },
  32: { type: 'initializeNonTransferableMint', accounts: ['mint'] },
  35: {
    type: 'initializePermanentDelegate',
    accounts: ['mint'],
    data: (read) => ({ delegate: read.key() }),
  },
  38: { type: 'withdrawExcessLamports', accounts: ['source', 'destination'], signer: 'authority' },
};

/** Members that are left out when their address is zero, read in this order. */
const keys =
  (...names: string[]) =>
  (read: ByteReader): Fields =>
    Object.fromEntries(names.map((name) => [name, keyUnlessZero(read)] as const).filter(([, key]) => key !== null));

const fee = (read: ByteReader): Fields => ({ transferFeeBasisPoints: read.u16(), maximumFee: read.u64() });
const accountState = (read: ByteReader): Fields => ({ accountState: ACCOUNT_STATES[read.u8()] });

const confidentialAmount = (read: ByteReader): Fields => ({ amount: read.u64(), decimals: read.u8() });

const pointer = (name: string, address: string): Readonly<Record<number, Layout>> => ({
  0: { type: `initialize${name}`, accounts: ['mint'], data: keys('authority', address) },
  1: { type: `update${name}`, accounts: ['mint'], signer: 'authority', data: keys(address) },
});

/** Instructions of Token-2022 that have a second one-byte tag: first the tag, then that one. */
export const EXTENSION_FAMILIES: Readonly<Record<number, Readonly<Record<number, Layout>>>> = {
  26: {
    0: {
      type: 'initializeTransferFeeConfig',
      accounts: ['mint'],
      data: (read) => {
        const transferFeeConfigAuthority = read.option(() => read.key()) ?? undefined;
        const withdrawWithheldAuthority = read.option(() => read.key()) ?? undefined;
        return { transferFeeConfigAuthority, withdrawWithheldAuthority, ...fee(read) };
      },
    },
    1: {
      type: 'transferCheckedWithFee',
      accounts: ['source', 'mint', 'destination'],
      signer: 'authority',
      data: (read, spell) => {
        const amount = read.u64();
        const scale = { decimals: read.u8() };
        return { tokenAmount: spell(amount, scale), feeAmount: spell(read.u64(), scale) };
      },
    },
    2: {
      type: 'withdrawWithheldTokensFromMint',
      accounts: ['mint', 'feeRecipient'],
      signer: 'withdrawWithheldAuthority',
    },
    3: {
      type: 'withdrawWithheldTokensFromAccounts',
      accounts: ['mint', 'feeRecipient'],
      signer: 'withdrawWithheldAuthority',
    },
    4: { type: 'harvestWithheldTokensToMint', accounts: ['mint'], rest: 'sourceAccounts' },
    5: { type: 'setTransferFee', accounts: ['mint'], signer: 'transferFeeConfigAuthority', data: fee },
  },
  27: {
    0: { type: 'initializeConfidentialTransferMint', accounts: ['mint'] },
    1: { type: 'updateConfidentialTransferMint', accounts: ['mint'] },
    2: { type: 'configureConfidentialTransferAccount', accounts: ['account', 'mint'] },
    3: { type: 'approveConfidentialTransferAccount', accounts: ['account', 'mint'] },
    4: { type: 'emptyConfidentialTransferAccount', accounts: ['account'] },
    5: {
      type: 'depositConfidentialTransfer',
      accounts: ['account', 'mint'],
      signer: 'owner',
      data: confidentialAmount,
    },
    6: { type: 'withdrawConfidentialTransfer', accounts: ['account', 'mint'], data: confidentialAmount },
    7: { type: 'confidentialTransfer', accounts: ['source', 'mint', 'destination'] },
    8: { type: 'applyPendingConfidentialTransferBalance', accounts: ['account'] },
    9: { type: 'enableConfidentialTransferConfidentialCredits', accounts: ['account'] },
    10: { type: 'disableConfidentialTransferConfidentialCredits', accounts: ['account'] },
    11: { type: 'enableConfidentialTransferNonConfidentialCredits', accounts: ['account'] },
    12: { type: 'disableConfidentialTransferNonConfidentialCredits', accounts: ['account'] },
    13: { type: 'confidentialTransferWithFee', accounts: ['source', 'mint', 'destination'] },
  },
  28: {
    0: { type: 'initializeDefaultAccountState', accounts: ['mint'], data: accountState },
    1: { type: 'updateDefaultAccountState', accounts: ['mint'], signer: 'freezeAuthority', data: accountState },
  },
  30: {
    0: { type: 'enableRequiredMemoTransfers', accounts: ['account'], signer: 'owner' },
    1: { type: 'disableRequiredMemoTransfers', accounts: ['account'], signer: 'owner' },
  },
  33: {
    0: {
      type: 'initializeInterestBearingConfig',
      accounts: ['mint'],
      data: (read) => ({ rateAuthority: keyUnlessZero(read), rate: read.i16() }),
    },
    1: {
      type: 'updateInterestBearingConfigRate',
      accounts: ['mint'],
      signer: 'rateAuthority',
      data: (read) => ({ newRate: read.i16() }),
    },
  },
  34: {
    0: { type: 'enableCpiGuard', accounts: ['account'], signer: 'owner' },
    1: { type: 'disableCpiGuard', accounts: ['account'], signer: 'owner' },
  },
  36: pointer('TransferHook', 'programId'),
  39: pointer('MetadataPointer', 'metadataAddress'),
  40: pointer('GroupPointer', 'groupAddress'),
  41: pointer('GroupMemberPointer', 'memberAddress'),
  43: {
    0: {
      type: 'initializeScaledUiAmountConfig',
      accounts: ['mint'],
      data: (read) => ({ authority: keyUnlessZero(read), multiplier: plainDecimal(read.f64()) }),
    },
    1: {
      type: 'updateMultiplier',
      accounts: ['mint'],
      signer: 'authority',
      data: (read) => ({ newMultiplier: plainDecimal(read.f64()), newMultiplierTimestamp: read.i64() }),
    },
  },
  44: {
    0: { type: 'initializePausableConfig', accounts: ['mint'], data: (read) => ({ authority: keyUnlessZero(read) }) },
    1: { type: 'pause', accounts: ['mint'], signer: 'authority' },
    2: { type: 'resume', accounts: ['mint'], signer: 'authority' },
  },
};
