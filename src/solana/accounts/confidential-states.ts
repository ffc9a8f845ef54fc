import type { ByteReader } from '../codec/byte-reader.ts';
import { flag, isZero, keyUnlessZero } from '../codec/pod.ts';

const ELGAMAL_KEY = 32;
const ELGAMAL_CIPHERTEXT = 64;
const AES_CIPHERTEXT = 36;

/** Encrypted amounts and the keys to them are shown in base64. */
const sealed = (from: ByteReader, length: number): string => base64(from.bytes(length));

function sealedUnlessZero(from: ByteReader, length: number): string | null {
  const bytes = from.bytes(length);
  return isZero(bytes) ? null : base64(bytes);
}

const base64 = (bytes: Uint8Array): string => btoa(String.fromCharCode(...bytes));

/**
 * How the extensions that hide amounts are read, by the name of the extension.
 * https://github.com/solana-program/token-2022/tree/main/interface/src/extension (`confidential_*`)
 */
export const CONFIDENTIAL_STATES = {
  confidentialTransferMint: (from: ByteReader) => ({
    authority: keyUnlessZero(from),
    autoApproveNewAccounts: flag(from),
    auditorElgamalPubkey: sealedUnlessZero(from, ELGAMAL_KEY),
  }),
  confidentialTransferAccount: (from: ByteReader) => ({
    approved: flag(from),
    elgamalPubkey: sealed(from, ELGAMAL_KEY),
    pendingBalanceLo: sealed(from, ELGAMAL_CIPHERTEXT),
    pendingBalanceHi: sealed(from, ELGAMAL_CIPHERTEXT),
    availableBalance: sealed(from, ELGAMAL_CIPHERTEXT),
    decryptableAvailableBalance: sealed(from, AES_CIPHERTEXT),
    allowConfidentialCredits: flag(from),
    allowNonConfidentialCredits: flag(from),
    pendingBalanceCreditCounter: from.u64(),
    maximumPendingBalanceCreditCounter: from.u64(),
    expectedPendingBalanceCreditCounter: from.u64(),
    actualPendingBalanceCreditCounter: from.u64(),
  }),
  confidentialTransferFeeConfig: (from: ByteReader) => ({
    authority: keyUnlessZero(from),
    withdrawWithheldAuthorityElgamalPubkey: sealed(from, ELGAMAL_KEY),
    harvestToMintEnabled: flag(from),
    withheldAmount: sealed(from, ELGAMAL_CIPHERTEXT),
  }),
  confidentialTransferFeeAmount: (from: ByteReader) => ({ withheldAmount: sealed(from, ELGAMAL_CIPHERTEXT) }),
  confidentialMintBurn: (from: ByteReader) => ({
    confidentialSupply: sealed(from, ELGAMAL_CIPHERTEXT),
    decryptableSupply: sealed(from, AES_CIPHERTEXT),
    supplyElgamalPubkey: sealed(from, ELGAMAL_KEY),
    pendingBurn: sealed(from, ELGAMAL_CIPHERTEXT),
  }),
};
