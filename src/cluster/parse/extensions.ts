import { ACCOUNT_STATES } from '../../chain/account-state.ts';
import { ByteReader } from '../../chain/byte-reader.ts';
import { EXTENSION_KINDS } from '../../chain/extension-kinds.ts';
import type { Fields } from '../../chain/instructions/layout.ts';
import { keyUnlessZero } from '../../chain/pod.ts';

/** Where the extensions of a Token-2022 mint or account begin: behind the account's kind, which follows an account's length. */
const START = 166;

type Kind = (typeof EXTENSION_KINDS)[number];

const transferFee = (read: ByteReader): Fields => ({
  epoch: read.u64(),
  maximumFee: read.u64(),
  transferFeeBasisPoints: read.u16(),
});

/** The state of each kind that a node shows; those that carry nothing have none. */
const STATES: Partial<Record<Kind, ((read: ByteReader) => Fields) | 'empty'>> = {
  transferFeeConfig: (read) => ({
    transferFeeConfigAuthority: keyUnlessZero(read),
    withdrawWithheldAuthority: keyUnlessZero(read),
    withheldAmount: read.u64(),
    olderTransferFee: transferFee(read),
    newerTransferFee: transferFee(read),
  }),
  transferFeeAmount: (read) => ({ withheldAmount: read.u64() }),
  mintCloseAuthority: (read) => ({ closeAuthority: keyUnlessZero(read) }),
  defaultAccountState: (read) => ({ accountState: ACCOUNT_STATES[read.u8()] }),
  immutableOwner: 'empty',
  memoTransfer: (read) => ({ requireIncomingTransferMemos: read.u8() === 1 }),
  nonTransferable: 'empty',
  interestBearingConfig: (read) => ({
    rateAuthority: keyUnlessZero(read),
    initializationTimestamp: read.i64(),
    preUpdateAverageRate: read.i16(),
    lastUpdateTimestamp: read.i64(),
    currentRate: read.i16(),
  }),
  cpiGuard: (read) => ({ lockCpi: read.u8() === 1 }),
  permanentDelegate: (read) => ({ delegate: keyUnlessZero(read) }),
  nonTransferableAccount: 'empty',
  transferHook: (read) => ({ authority: keyUnlessZero(read), programId: keyUnlessZero(read) }),
  transferHookAccount: (read) => ({ transferring: read.u8() === 1 }),
  metadataPointer: (read) => ({ authority: keyUnlessZero(read), metadataAddress: keyUnlessZero(read) }),
  tokenMetadata: (read) => ({
    updateAuthority: keyUnlessZero(read),
    mint: read.key(),
    name: read.string(),
    symbol: read.string(),
    uri: read.string(),
    additionalMetadata: read.times(read.u32(), () => [read.string(), read.string()]),
  }),
  groupPointer: (read) => ({ authority: keyUnlessZero(read), groupAddress: keyUnlessZero(read) }),
  groupMemberPointer: (read) => ({ authority: keyUnlessZero(read), memberAddress: keyUnlessZero(read) }),
  scaledUiAmountConfig: (read) => ({
    authority: keyUnlessZero(read),
    multiplier: `${read.f64()}`,
    newMultiplierEffectiveTimestamp: read.i64(),
    newMultiplier: `${read.f64()}`,
  }),
  pausableConfig: (read) => ({ authority: keyUnlessZero(read), paused: read.u8() === 1 }),
  pausableAccount: 'empty',
};

/** An extension's kind and its bytes. */
export interface Extension {
  readonly kind: Kind | undefined;
  readonly bytes: Uint8Array;
}

/** The extensions in the data of a Token-2022 mint or account, in the order they are stored. */
export function extensionsIn(data: Uint8Array): Extension[] {
  const found: Extension[] = [];
  if (data.length <= START) return found;
  const read = new ByteReader(data, START);
  while (read.left >= 4) {
    const kind = read.u16();
    if (kind === 0) break;
    found.push({ kind: EXTENSION_KINDS[kind], bytes: read.bytes(read.u16()) });
  }
  return found;
}

/** An extension as a node shows it; one whose state it does not know is named unparseable there too. */
export function parseExtension({ kind, bytes }: Extension): Fields {
  const state = kind === undefined ? undefined : STATES[kind];
  if (state === undefined) return { extension: 'unparseableExtension' };
  return state === 'empty' ? { extension: kind } : { extension: kind, state: state(new ByteReader(bytes)) };
}
