import { EXTENSION_TYPES } from '../accounts/extension-types.ts';
import { TOKEN_ACCOUNT_STATES } from '../accounts/token-account-states.ts';
import type { ByteReader } from '../codec/byte-reader.ts';
import { formatDouble } from '../codec/format-decimal.ts';
import { readOptionalPubkey } from '../codec/spl-pod.ts';
import {
  CONFIDENTIAL_FEE_INSTRUCTIONS,
  CONFIDENTIAL_SUPPLY_INSTRUCTIONS,
  CONFIDENTIAL_TRANSFER_INSTRUCTIONS,
  PERMISSIONED_CONFIDENTIAL_BURN,
} from './confidential-instructions.ts';
import type { InstructionLayout, ParsedInfo } from './instruction-layout.ts';

/** Names that extensions have in instructions, where they differ from those in accounts. */
const NAMES_IN_INSTRUCTIONS: Readonly<Record<string, string>> = {
  scaledUiAmountConfig: 'scaledUiAmount',
  pausableConfig: 'pausable',
  permissionedBurnConfig: 'permissionedBurn',
};

function readExtensionType(reader: ByteReader): string {
  const name = EXTENSION_TYPES[reader.u16()];
  if (name === undefined) throw new RangeError('no extension');
  return NAMES_IN_INSTRUCTIONS[name] ?? name;
}

const readExtensionTypes = (reader: ByteReader): ParsedInfo => ({
  extensionTypes: reader.untilEnd(() => readExtensionType(reader)),
});

/** Token-2022 instructions with a single one-byte tag. */
export const EXTENSION_INSTRUCTIONS: Readonly<Record<number, InstructionLayout>> = {
  21: {
    type: 'getAccountDataSize',
    accounts: ['mint'],
    data: (reader) => (reader.remaining === 0 ? {} : readExtensionTypes(reader)),
  },
  25: {
    type: 'initializeMintCloseAuthority',
    accounts: ['mint'],
    data: (reader) => ({ newAuthority: reader.option(() => reader.pubkey()) }),
  },
  29: {
    type: 'reallocate',
    accounts: ['account', 'payer', 'systemProgram'],
    signer: 'owner',
    data: readExtensionTypes,
  },
  31: { type: 'createNativeMint', accounts: ['payer', 'nativeMint', 'systemProgram'] },
  32: { type: 'initializeNonTransferableMint', accounts: ['mint'] },
  35: {
    type: 'initializePermanentDelegate',
    accounts: ['mint'],
    data: (reader) => ({ delegate: reader.pubkey() }),
  },
};

/** Returns a reader of optional addresses under these names; zero addresses are left out. */
const readOptionalPubkeys =
  (...names: string[]) =>
  (reader: ByteReader): ParsedInfo =>
    Object.fromEntries(
      names.map((name) => [name, readOptionalPubkey(reader)] as const).filter(([, key]) => key !== null),
    );

const readTransferFee = (reader: ByteReader): ParsedInfo => ({
  transferFeeBasisPoints: reader.u16(),
  maximumFee: reader.u64(),
});
const readAccountState = (reader: ByteReader): ParsedInfo => ({ accountState: TOKEN_ACCOUNT_STATES[reader.u8()] });

const PERMISSIONED_BURN_ACCOUNTS = ['account', 'mint', 'permissionedBurnAuthority'];

const pointerLayouts = (name: string, address: string): Readonly<Record<number, InstructionLayout>> => ({
  0: { type: `initialize${name}`, accounts: ['mint'], data: readOptionalPubkeys('authority', address) },
  1: { type: `update${name}`, accounts: ['mint'], signer: 'authority', data: readOptionalPubkeys(address) },
});

/** Token-2022 instructions with two one-byte tags, by the first, then the second. */
export const NESTED_EXTENSION_INSTRUCTIONS: Readonly<Record<number, Readonly<Record<number, InstructionLayout>>>> = {
  26: {
    0: {
      type: 'initializeTransferFeeConfig',
      accounts: ['mint'],
      data: (reader) => {
        const transferFeeConfigAuthority = reader.option(() => reader.pubkey()) ?? undefined;
        const withdrawWithheldAuthority = reader.option(() => reader.pubkey()) ?? undefined;
        return { transferFeeConfigAuthority, withdrawWithheldAuthority, ...readTransferFee(reader) };
      },
    },
    1: {
      type: 'transferCheckedWithFee',
      accounts: ['source', 'mint', 'destination'],
      signer: 'authority',
      data: (reader, formatAmount) => {
        const amount = reader.u64();
        const scale = { decimals: reader.u8() };
        return { tokenAmount: formatAmount(amount, scale), feeAmount: formatAmount(reader.u64(), scale) };
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
    5: { type: 'setTransferFee', accounts: ['mint'], signer: 'transferFeeConfigAuthority', data: readTransferFee },
  },
  27: CONFIDENTIAL_TRANSFER_INSTRUCTIONS,
  28: {
    0: { type: 'initializeDefaultAccountState', accounts: ['mint'], data: readAccountState },
    1: { type: 'updateDefaultAccountState', accounts: ['mint'], signer: 'freezeAuthority', data: readAccountState },
  },
  30: {
    0: { type: 'enableRequiredMemoTransfers', accounts: ['account'], signer: 'owner' },
    1: { type: 'disableRequiredMemoTransfers', accounts: ['account'], signer: 'owner' },
  },
  33: {
    0: {
      type: 'initializeInterestBearingConfig',
      accounts: ['mint'],
      data: (reader) => ({ rateAuthority: readOptionalPubkey(reader), rate: reader.i16() }),
    },
    1: {
      type: 'updateInterestBearingConfigRate',
      accounts: ['mint'],
      signer: 'rateAuthority',
      data: (reader) => ({ newRate: reader.i16() }),
    },
  },
  34: {
    0: { type: 'enableCpiGuard', accounts: ['account'], signer: 'owner' },
    1: { type: 'disableCpiGuard', accounts: ['account'], signer: 'owner' },
  },
  36: pointerLayouts('TransferHook', 'programId'),
  37: CONFIDENTIAL_FEE_INSTRUCTIONS,
  39: pointerLayouts('MetadataPointer', 'metadataAddress'),
  40: pointerLayouts('GroupPointer', 'groupAddress'),
  41: pointerLayouts('GroupMemberPointer', 'memberAddress'),
  42: CONFIDENTIAL_SUPPLY_INSTRUCTIONS,
  43: {
    0: {
      type: 'initializeScaledUiAmountConfig',
      accounts: ['mint'],
      data: (reader) => ({ authority: readOptionalPubkey(reader), multiplier: formatDouble(reader.f64()) }),
    },
    1: {
      type: 'updateMultiplier',
      accounts: ['mint'],
      signer: 'authority',
      data: (reader) => ({ newMultiplier: formatDouble(reader.f64()), newMultiplierTimestamp: reader.i64() }),
    },
  },
  44: {
    0: {
      type: 'initializePausableConfig',
      accounts: ['mint'],
      data: (reader) => ({ authority: readOptionalPubkey(reader) }),
    },
    1: { type: 'pause', accounts: ['mint'], signer: 'authority' },
    2: { type: 'resume', accounts: ['mint'], signer: 'authority' },
  },
  46: {
    0: {
      type: 'initializePermissionedBurnConfig',
      accounts: ['mint'],
      data: (reader) => ({ authority: reader.pubkey() }),
    },
    1: {
      type: 'permissionedBurn',
      accounts: PERMISSIONED_BURN_ACCOUNTS,
      signer: 'authority',
      data: (reader) => ({ amount: reader.u64().toString() }),
    },
    2: {
      type: 'permissionedBurnChecked',
      accounts: PERMISSIONED_BURN_ACCOUNTS,
      signer: 'authority',
      data: (reader, formatAmount) => ({ tokenAmount: formatAmount(reader.u64(), { decimals: reader.u8() }) }),
    },
    3: PERMISSIONED_CONFIDENTIAL_BURN,
  },
};
