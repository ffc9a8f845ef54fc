import type { ByteReader } from '../codec/byte-reader.ts';
import {
  AES_CIPHERTEXT_BYTES,
  ELGAMAL_CIPHERTEXT_BYTES,
  ELGAMAL_KEY_BYTES,
  readEncrypted,
  readOptionalEncrypted,
} from '../codec/encrypted-fields.ts';
import { readOptionalPubkey, readPodBool } from '../codec/spl-pod.ts';

/**
 * Decoders of the extensions that hide amounts, by name.
 * https://github.com/solana-program/token-2022/tree/main/interface/src/extension (`confidential_*`)
 */
export const CONFIDENTIAL_EXTENSION_DECODERS = {
  confidentialTransferMint: (reader: ByteReader) => ({
    authority: readOptionalPubkey(reader),
    autoApproveNewAccounts: readPodBool(reader),
    auditorElgamalPubkey: readOptionalEncrypted(reader, ELGAMAL_KEY_BYTES),
  }),
  confidentialTransferAccount: (reader: ByteReader) => ({
    approved: readPodBool(reader),
    elgamalPubkey: readEncrypted(reader, ELGAMAL_KEY_BYTES),
    pendingBalanceLo: readEncrypted(reader, ELGAMAL_CIPHERTEXT_BYTES),
    pendingBalanceHi: readEncrypted(reader, ELGAMAL_CIPHERTEXT_BYTES),
    availableBalance: readEncrypted(reader, ELGAMAL_CIPHERTEXT_BYTES),
    decryptableAvailableBalance: readEncrypted(reader, AES_CIPHERTEXT_BYTES),
    allowConfidentialCredits: readPodBool(reader),
    allowNonConfidentialCredits: readPodBool(reader),
    pendingBalanceCreditCounter: reader.u64(),
    maximumPendingBalanceCreditCounter: reader.u64(),
    expectedPendingBalanceCreditCounter: reader.u64(),
    actualPendingBalanceCreditCounter: reader.u64(),
  }),
  confidentialTransferFeeConfig: (reader: ByteReader) => ({
    authority: readOptionalPubkey(reader),
    withdrawWithheldAuthorityElgamalPubkey: readEncrypted(reader, ELGAMAL_KEY_BYTES),
    harvestToMintEnabled: readPodBool(reader),
    withheldAmount: readEncrypted(reader, ELGAMAL_CIPHERTEXT_BYTES),
  }),
  confidentialTransferFeeAmount: (reader: ByteReader) => ({
    withheldAmount: readEncrypted(reader, ELGAMAL_CIPHERTEXT_BYTES),
  }),
  confidentialMintBurn: (reader: ByteReader) => ({
    confidentialSupply: readEncrypted(reader, ELGAMAL_CIPHERTEXT_BYTES),
    decryptableSupply: readEncrypted(reader, AES_CIPHERTEXT_BYTES),
    supplyElgamalPubkey: readEncrypted(reader, ELGAMAL_KEY_BYTES),
    pendingBurn: readEncrypted(reader, ELGAMAL_CIPHERTEXT_BYTES),
  }),
};
