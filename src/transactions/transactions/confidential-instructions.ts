import type { ByteReader } from '../codec/byte-reader.ts';
import {
  AES_CIPHERTEXT_BYTES,
  ELGAMAL_CIPHERTEXT_BYTES,
  ELGAMAL_KEY_BYTES,
  readEncrypted,
  readOptionalEncrypted,
} from '../codec/encrypted-fields.ts';
import { readOptionalPubkey, readPodBool } from '../codec/spl-pod.ts';
import { type InstructionLayout, type ParsedInfo, readSignerFields } from './instruction-layout.ts';

type Layouts = Readonly<Record<number, InstructionLayout>>;

const readBalance = (reader: ByteReader): string => readEncrypted(reader, AES_CIPHERTEXT_BYTES);
const readKey = (reader: ByteReader): string => readEncrypted(reader, ELGAMAL_KEY_BYTES);

/** Reads the distance to a proof instruction; zero if the proof is in an account instead. */
const readOffset = (reader: ByteReader): number => (reader.u8() << 24) >> 24;

/** Reads the offsets of proofs, in the order of the data. */
const readOffsets = (reader: ByteReader, names: readonly string[]): Readonly<Record<string, number>> =>
  Object.fromEntries(names.map((name) => [`${name}InstructionOffset`, readOffset(reader)]));

/**
 * Names the accounts behind the first ones: the sysvar if a proof is an instruction, then accounts of proofs, then
 * the signer. As in nodes, an account before the last one counts as a proof, though it might be the multisig's.
 */
function nameProofAccounts(
  accounts: readonly string[],
  offsets: Readonly<Record<string, number>>,
  proofAccounts: readonly string[],
  signers: readonly string[],
): ParsedInfo {
  const hasProofInstruction = Object.values(offsets).some((offset) => offset !== 0);
  const names = [...(hasProofInstruction ? ['instructionsSysvar'] : []), ...proofAccounts];
  const proofs = names.slice(0, Math.max(0, accounts.length - signers.length));
  const fields = Object.fromEntries(proofs.map((name, index) => [name, accounts[index]]));
  const [signer = '', ...others] = signers.toReversed();
  const further = Object.fromEntries(others.map((name, index) => [name, accounts[proofs.length + index]]));
  return { ...fields, ...further, ...readSignerFields(signer, accounts.slice(proofs.length + others.length)) };
}

const TRANSFER_PROOFS = ['equalityProof', 'ciphertextValidityProof', 'rangeProof'];
const FEE_PROOFS = [
  'equalityProof',
  'transferAmountCiphertextValidityProof',
  'feeSigmaProof',
  'feeCiphertextValidityProof',
  'rangeProof',
];

/** Returns a reader of an encrypted balance, the encrypted amount in two parts, and the proofs. */
const readHiddenAmount =
  (balanceName: string, first: number, proofs: readonly string[], suffix: string, signers: readonly string[]) =>
  (reader: ByteReader, _: unknown, accounts: readonly string[]): ParsedInfo => {
    const balance = readBalance(reader);
    reader.bytes(2 * ELGAMAL_CIPHERTEXT_BYTES); // the amount for the auditor, which nodes leave out
    const offsets = readOffsets(reader, proofs);
    const proofAccounts = proofs.map((name) => `${name}${suffix}`);
    return {
      [balanceName]: balance,
      ...offsets,
      ...nameProofAccounts(accounts.slice(first), offsets, proofAccounts, signers),
    };
  };

/** Returns a reader of one proof: in the account at `first`, or in an instruction that the sysvar there shows. */
const readOneProof =
  (first: number, proofAccount: string, readData: (reader: ByteReader) => ParsedInfo) =>
  (reader: ByteReader, _: unknown, accounts: readonly string[]): ParsedInfo => {
    const info = readData(reader);
    const proofInstructionOffset = readOffset(reader);
    const place = proofInstructionOffset === 0 ? proofAccount : 'instructionsSysvar';
    const record =
      proofInstructionOffset !== 0 && accounts.length > first + 2 ? { recordAccount: accounts[first + 1] } : {};
    const signer = first + 1 + Object.keys(record).length;
    return {
      ...info,
      proofInstructionOffset,
      [place]: accounts[first],
      ...record,
      ...readSignerFields('owner', accounts.slice(signer)),
    };
  };

const creditsLayout = (type: string): InstructionLayout => ({ type, accounts: ['account'], signer: 'owner' });

/** Instructions on hidden balances by the tag after 27. Source: agave, `extension/confidential_transfer.rs`. */
const CONFIDENTIAL_TRANSFER_INSTRUCTIONS: Layouts = {
  0: {
    type: 'initializeConfidentialTransferMint',
    accounts: ['mint'],
    data: (reader) => {
      const authority = readOptionalPubkey(reader);
      return {
        ...(authority === null ? {} : { authority }),
        autoApproveNewAccounts: readPodBool(reader),
        auditorElGamalPubkey: readOptionalEncrypted(reader, ELGAMAL_KEY_BYTES),
      };
    },
  },
  1: {
    type: 'updateConfidentialTransferMint',
    accounts: ['mint', 'confidentialTransferMintAuthority'],
    data: (reader) => ({
      autoApproveNewAccounts: readPodBool(reader),
      auditorElGamalPubkey: readOptionalEncrypted(reader, ELGAMAL_KEY_BYTES),
    }),
  },
  2: {
    type: 'configureConfidentialTransferAccount',
    accounts: ['account', 'mint'],
    data: readOneProof(2, 'proofContextStateAccount', (reader) => ({
      decryptableZeroBalance: readBalance(reader),
      maximumPendingBalanceCreditCounter: reader.u64(),
    })),
  },
  3: {
    type: 'approveConfidentialTransferAccount',
    accounts: ['account', 'mint', 'confidentialTransferAuditorAuthority'],
  },
  4: {
    type: 'emptyConfidentialTransferAccount',
    accounts: ['account'],
    data: readOneProof(1, 'proofContextStateAccount', () => ({})),
  },
  // nodes name the accounts of these two wrongly (source, destination, mint); the program has these
  5: {
    type: 'depositConfidentialTransfer',
    accounts: ['account', 'mint'],
    signer: 'owner',
    data: (reader) => ({ amount: reader.u64(), decimals: reader.u8() }),
  },
  6: {
    type: 'withdrawConfidentialTransfer',
    accounts: ['account', 'mint'],
    data: (reader, _, accounts) => {
      const [amount, decimals] = [reader.u64(), reader.u8()];
      const newDecryptableAvailableBalance = readBalance(reader);
      const proofs = ['equalityProof', 'rangeProof'];
      const offsets = readOffsets(reader, proofs);
      const proofAccounts = proofs.map((name) => `${name}Account`);
      const parties = nameProofAccounts(accounts.slice(2), offsets, proofAccounts, ['owner']);
      return { amount, decimals, newDecryptableAvailableBalance, ...offsets, ...parties };
    },
  },
  7: {
    type: 'confidentialTransfer',
    accounts: ['source', 'mint', 'destination'],
    data: readHiddenAmount('newSourceDecryptableAvailableBalance', 3, TRANSFER_PROOFS, 'Account', ['owner']),
  },
  8: {
    type: 'applyPendingConfidentialTransferBalance',
    accounts: ['account'],
    signer: 'owner',
    data: (reader) => ({
      expectedPendingBalanceCreditCounter: reader.u64(),
      newDecryptableAvailableBalance: readBalance(reader),
    }),
  },
  9: creditsLayout('enableConfidentialTransferConfidentialCredits'),
  10: creditsLayout('disableConfidentialTransferConfidentialCredits'),
  11: creditsLayout('enableConfidentialTransferNonConfidentialCredits'),
  12: creditsLayout('disableConfidentialTransferNonConfidentialCredits'),
  13: {
    type: 'confidentialTransferWithFee',
    accounts: ['source', 'mint', 'destination'],
    data: readHiddenAmount('newSourceDecryptableAvailableBalance', 3, FEE_PROOFS, 'Account', ['owner']),
  },
  14: { type: 'configureConfidentialAccountWithRegistry', accounts: ['account', 'mint', 'registry'] },
};

/** Instructions on hidden transfer fees by the tag after 37. Source: agave, `extension/confidential_transfer_fee.rs`. */
const CONFIDENTIAL_FEE_INSTRUCTIONS: Layouts = {
  0: {
    type: 'initializeConfidentialTransferFeeConfig',
    accounts: ['mint'],
    data: (reader) => {
      const authority = readOptionalPubkey(reader);
      const key = readOptionalEncrypted(reader, ELGAMAL_KEY_BYTES);
      return { ...(authority === null ? {} : { authority }), withdrawWithheldAuthorityElGamalPubkey: key };
    },
  },
  1: {
    type: 'withdrawWithheldConfidentialTransferTokensFromMint',
    accounts: ['mint', 'feeRecipient'],
    data: (reader, _, accounts) => {
      const proofInstructionOffset = readOffset(reader);
      const place = proofInstructionOffset === 0 ? 'proofContextStateAccount' : 'instructionsSysvar';
      return {
        proofInstructionOffset,
        newDecryptableAvailableBalance: readBalance(reader),
        [place]: accounts[2],
        ...readSignerFields('withdrawWithheldAuthority', accounts.slice(3)),
      };
    },
  },
  2: {
    type: 'withdrawWithheldConfidentialTransferTokensFromAccounts',
    accounts: ['mint', 'feeRecipient'],
    data: (reader, _, accounts) => {
      const firstSource = accounts.length - reader.u8();
      if (firstSource < 4) throw new RangeError('accounts are missing');
      const proofInstructionOffset = readOffset(reader);
      const place = proofInstructionOffset === 0 ? 'proofContextStateAccount' : 'instructionsSysvar';
      return {
        proofInstructionOffset,
        newDecryptableAvailableBalance: readBalance(reader),
        [place]: accounts[2],
        ...readSignerFields('withdrawWithheldAuthority', accounts.slice(3, firstSource)),
        sourceAccounts: accounts.slice(firstSource),
      };
    },
  },
  3: { type: 'harvestWithheldConfidentialTransferTokensToMint', accounts: ['mint'], rest: 'sourceAccounts' },
  4: creditsLayout('enableConfidentialTransferFeeHarvestToMint'),
  5: creditsLayout('disableConfidentialTransferFeeHarvestToMint'),
};

/** Instructions on a hidden supply by the tag after 42. Source: agave, `extension/confidential_mint_burn.rs`. */
const CONFIDENTIAL_SUPPLY_INSTRUCTIONS: Layouts = {
  0: {
    type: 'initializeConfidentialMintBurnMint',
    accounts: ['mint'],
    data: (reader) => ({ supplyElGamalPubkey: readKey(reader), decryptableSupply: readBalance(reader) }),
  },
  1: {
    type: 'rotateConfidentialMintBurnSupplyElGamalPubkey',
    accounts: ['mint'],
    data: (reader, _, accounts) => {
      const newSupplyElGamalPubkey = readKey(reader);
      const proofInstructionOffset = readOffset(reader);
      const place = proofInstructionOffset === 0 ? 'proofAccount' : 'instructionsSysvar';
      const signers = readSignerFields('owner', accounts.slice(2));
      return { newSupplyElGamalPubkey, proofInstructionOffset, [place]: accounts[1], ...signers };
    },
  },
  2: {
    type: 'updateConfidentialMintBurnDecryptableSupply',
    accounts: ['mint'],
    signer: 'owner',
    data: (reader) => ({ newDecryptableSupply: readBalance(reader) }),
  },
  3: {
    type: 'confidentialMint',
    accounts: ['destination', 'mint'],
    data: readHiddenAmount('newDecryptableSupply', 2, TRANSFER_PROOFS, 'RecordAccount', ['owner']),
  },
  // nodes call the account from which is burned the destination
  4: {
    type: 'confidentialBurn',
    accounts: ['destination', 'mint'],
    data: readHiddenAmount('newDecryptableAvailableBalance', 2, TRANSFER_PROOFS, 'RecordAccount', ['owner']),
  },
  5: { type: 'applyPendingBurn', accounts: ['mint'], signer: 'owner' },
};

/** The burn of a hidden amount that another authority must sign, too. Source: agave, `extension/permissioned_burn.rs`. */
const PERMISSIONED_CONFIDENTIAL_BURN: InstructionLayout = {
  type: 'permissionedConfidentialBurn',
  accounts: ['account', 'mint'],
  data: readHiddenAmount('newDecryptableAvailableBalance', 2, TRANSFER_PROOFS, 'ContextStateAccount', [
    'authority',
    'permissionedBurnAuthority',
  ]),
};

/** All of them by their two tags. */
export const CONFIDENTIAL_INSTRUCTIONS: Readonly<Record<number, Layouts>> = {
  27: CONFIDENTIAL_TRANSFER_INSTRUCTIONS,
  37: CONFIDENTIAL_FEE_INSTRUCTIONS,
  42: CONFIDENTIAL_SUPPLY_INSTRUCTIONS,
  46: { 3: PERMISSIONED_CONFIDENTIAL_BURN },
};
