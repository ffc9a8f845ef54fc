import type { ByteReader } from '../codec/byte-reader.ts';
import { plainDecimal } from '../codec/decimal.ts';
import { flag, keyUnlessZero } from '../codec/pod.ts';
import { ACCOUNT_STATES } from './account-state.ts';
import { CONFIDENTIAL_STATES } from './confidential-states.ts';

const transferFee = (from: ByteReader) => ({
  epoch: from.u64(),
  maximumFee: from.u64(),
  transferFeeBasisPoints: from.u16(),
});

/**
 * How each extension's value is read, by the name of the extension.
 * Members and spelling: https://github.com/anza-xyz/agave/blob/master/account-decoder/src/parse_token_extension.rs
 * Order in the bytes: https://github.com/solana-program/token-2022/tree/main/interface/src/extension
 */
export const EXTENSION_STATES = {
  ...CONFIDENTIAL_STATES,
  transferFeeConfig: (from: ByteReader) => ({
    transferFeeConfigAuthority: keyUnlessZero(from),
    withdrawWithheldAuthority: keyUnlessZero(from),
    withheldAmount: from.u64(),
    olderTransferFee: transferFee(from),
    newerTransferFee: transferFee(from),
  }),
  transferFeeAmount: (from: ByteReader) => ({ withheldAmount: from.u64() }),
  mintCloseAuthority: (from: ByteReader) => ({ closeAuthority: keyUnlessZero(from) }),
  /** A number that is no state reads as uninitialized there too. */
  defaultAccountState: (from: ByteReader) => ({ accountState: ACCOUNT_STATES[from.u8()] ?? 'uninitialized' }),
  memoTransfer: (from: ByteReader) => ({ requireIncomingTransferMemos: flag(from) }),
  interestBearingConfig: (from: ByteReader) => ({
    rateAuthority: keyUnlessZero(from),
    initializationTimestamp: from.i64(),
    preUpdateAverageRate: from.i16(),
    lastUpdateTimestamp: from.i64(),
    currentRate: from.i16(),
  }),
  cpiGuard: (from: ByteReader) => ({ lockCpi: flag(from) }),
  permanentDelegate: (from: ByteReader) => ({ delegate: keyUnlessZero(from) }),
  transferHook: (from: ByteReader) => ({ authority: keyUnlessZero(from), programId: keyUnlessZero(from) }),
  transferHookAccount: (from: ByteReader) => ({ transferring: flag(from) }),
  metadataPointer: (from: ByteReader) => ({ authority: keyUnlessZero(from), metadataAddress: keyUnlessZero(from) }),
  tokenMetadata: (from: ByteReader) => ({
    updateAuthority: keyUnlessZero(from),
    mint: from.key(),
    name: from.string(),
    symbol: from.string(),
    uri: from.string(),
    additionalMetadata: from.list(() => [from.string(), from.string()] as const),
  }),
  groupPointer: (from: ByteReader) => ({ authority: keyUnlessZero(from), groupAddress: keyUnlessZero(from) }),
  groupMemberPointer: (from: ByteReader) => ({ authority: keyUnlessZero(from), memberAddress: keyUnlessZero(from) }),
  tokenGroup: (from: ByteReader) => ({
    updateAuthority: keyUnlessZero(from),
    mint: from.key(),
    size: from.u64(),
    maxSize: from.u64(),
  }),
  tokenGroupMember: (from: ByteReader) => ({ mint: from.key(), group: from.key(), memberNumber: from.u64() }),
  /** The multipliers are text, so that the digits of the double survive. */
  scaledUiAmountConfig: (from: ByteReader) => ({
    authority: keyUnlessZero(from),
    multiplier: plainDecimal(from.f64()),
    newMultiplierEffectiveTimestamp: from.i64(),
    newMultiplier: plainDecimal(from.f64()),
  }),
  pausableConfig: (from: ByteReader) => ({ authority: keyUnlessZero(from), paused: flag(from) }),
  permissionedBurnConfig: (from: ByteReader) => ({ authority: keyUnlessZero(from) }),
};
