import type { ByteReader } from '../codec/byte-reader.ts';
import { formatDouble } from '../codec/format-decimal.ts';
import { readOptionalPubkey, readPodBool } from '../codec/spl-pod.ts';
import { CONFIDENTIAL_EXTENSION_DECODERS } from './confidential-extension-decoders.ts';
import { TOKEN_ACCOUNT_STATES } from './token-account-states.ts';

const decodeTransferFee = (reader: ByteReader) => ({
  epoch: reader.u64(),
  maximumFee: reader.u64(),
  transferFeeBasisPoints: reader.u16(),
});

/**
 * Decoders of each extension's value, by name.
 * Members and spelling: https://github.com/anza-xyz/agave/blob/master/account-decoder/src/parse_token_extension.rs
 * Order of the bytes: https://github.com/solana-program/token-2022/tree/main/interface/src/extension
 */
export const EXTENSION_DECODERS = {
  ...CONFIDENTIAL_EXTENSION_DECODERS,
  transferFeeConfig: (reader: ByteReader) => ({
    transferFeeConfigAuthority: readOptionalPubkey(reader),
    withdrawWithheldAuthority: readOptionalPubkey(reader),
    withheldAmount: reader.u64(),
    olderTransferFee: decodeTransferFee(reader),
    newerTransferFee: decodeTransferFee(reader),
  }),
  transferFeeAmount: (reader: ByteReader) => ({ withheldAmount: reader.u64() }),
  mintCloseAuthority: (reader: ByteReader) => ({ closeAuthority: readOptionalPubkey(reader) }),
  /** An unknown state number counts as uninitialized, as in nodes. */
  defaultAccountState: (reader: ByteReader) => ({ accountState: TOKEN_ACCOUNT_STATES[reader.u8()] ?? 'uninitialized' }),
  memoTransfer: (reader: ByteReader) => ({ requireIncomingTransferMemos: readPodBool(reader) }),
  interestBearingConfig: (reader: ByteReader) => ({
    rateAuthority: readOptionalPubkey(reader),
    initializationTimestamp: reader.i64(),
    preUpdateAverageRate: reader.i16(),
    lastUpdateTimestamp: reader.i64(),
    currentRate: reader.i16(),
  }),
  cpiGuard: (reader: ByteReader) => ({ lockCpi: readPodBool(reader) }),
  permanentDelegate: (reader: ByteReader) => ({ delegate: readOptionalPubkey(reader) }),
  transferHook: (reader: ByteReader) => ({
    authority: readOptionalPubkey(reader),
    programId: readOptionalPubkey(reader),
  }),
  transferHookAccount: (reader: ByteReader) => ({ transferring: readPodBool(reader) }),
  metadataPointer: (reader: ByteReader) => ({
    authority: readOptionalPubkey(reader),
    metadataAddress: readOptionalPubkey(reader),
  }),
  tokenMetadata: (reader: ByteReader) => ({
    updateAuthority: readOptionalPubkey(reader),
    mint: reader.pubkey(),
    name: reader.borshString(),
    symbol: reader.borshString(),
    uri: reader.borshString(),
    additionalMetadata: reader.vec(() => [reader.borshString(), reader.borshString()] as const),
  }),
  groupPointer: (reader: ByteReader) => ({
    authority: readOptionalPubkey(reader),
    groupAddress: readOptionalPubkey(reader),
  }),
  groupMemberPointer: (reader: ByteReader) => ({
    authority: readOptionalPubkey(reader),
    memberAddress: readOptionalPubkey(reader),
  }),
  tokenGroup: (reader: ByteReader) => ({
    updateAuthority: readOptionalPubkey(reader),
    mint: reader.pubkey(),
    size: reader.u64(),
    maxSize: reader.u64(),
  }),
  tokenGroupMember: (reader: ByteReader) => ({
    mint: reader.pubkey(),
    group: reader.pubkey(),
    memberNumber: reader.u64(),
  }),
  /** Multipliers are text to keep the digits of the double. */
  scaledUiAmountConfig: (reader: ByteReader) => ({
    authority: readOptionalPubkey(reader),
    multiplier: formatDouble(reader.f64()),
    newMultiplierEffectiveTimestamp: reader.i64(),
    newMultiplier: formatDouble(reader.f64()),
  }),
  pausableConfig: (reader: ByteReader) => ({ authority: readOptionalPubkey(reader), paused: readPodBool(reader) }),
  permissionedBurnConfig: (reader: ByteReader) => ({ authority: readOptionalPubkey(reader) }),
};
