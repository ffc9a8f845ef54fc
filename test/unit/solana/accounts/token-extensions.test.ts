import bs58 from 'bs58';
import t from 'tap';
import { decodeExtensions } from '../../../../src/solana/accounts/token-extensions.ts';

/** Returns `length` bytes of the value `byte`. */
const filled = (byte: number, length = 32): number[] => Array<number>(length).fill(byte);
const key = (byte: number): string => bs58.encode(Uint8Array.from(filled(byte)));
const base64 = (byte: number, length: number): string => Buffer.from(filled(byte, length)).toString('base64');
const text = (value: string): number[] => [Buffer.byteLength(value), 0, 0, 0, ...Buffer.from(value)];
const u64 = (value: bigint): number[] => [...new Uint8Array(BigUint64Array.of(value).buffer)];
const f64 = (value: number): number[] => [...new Uint8Array(Float64Array.of(value).buffer)];

const entry = (kind: number, value: readonly number[]): number[] => [
  kind,
  0,
  value.length & 0xff,
  value.length >> 8,
  ...value,
];
const read = (...entries: readonly number[][]) => decodeExtensions(Uint8Array.from(entries.flat()));

const MAX = 2n ** 64n - 1n;

const EXTENSIONS: readonly (readonly [number, readonly number[], unknown])[] = [
  [
    1,
    [...filled(1), ...filled(0), ...u64(MAX), ...u64(3n), ...u64(MAX), 0x10, 0x27, ...u64(4n), ...u64(5n), 1, 0],
    {
      extension: 'transferFeeConfig',
      state: {
        transferFeeConfigAuthority: key(1),
        withdrawWithheldAuthority: null,
        withheldAmount: MAX,
        olderTransferFee: { epoch: 3n, maximumFee: MAX, transferFeeBasisPoints: 10_000 },
        newerTransferFee: { epoch: 4n, maximumFee: 5n, transferFeeBasisPoints: 1 },
      },
    },
  ],
  [2, u64(7n), { extension: 'transferFeeAmount', state: { withheldAmount: 7n } }],
  [3, filled(1), { extension: 'mintCloseAuthority', state: { closeAuthority: key(1) } }],
  [3, filled(0), { extension: 'mintCloseAuthority', state: { closeAuthority: null } }],
  [
    4,
    [...filled(1), 1, ...filled(2)],
    {
      extension: 'confidentialTransferMint',
      state: { authority: key(1), autoApproveNewAccounts: true, auditorElgamalPubkey: base64(2, 32) },
    },
  ],
  [
    5,
    [
      ...[1, ...filled(1), ...filled(2, 64), ...filled(3, 64), ...filled(4, 64), ...filled(5, 36), 1, 0],
      ...[...u64(6n), ...u64(65_536n), ...u64(8n), ...u64(9n)],
    ],
    {
      extension: 'confidentialTransferAccount',
      state: {
        approved: true,
        elgamalPubkey: base64(1, 32),
        pendingBalanceLo: base64(2, 64),
        pendingBalanceHi: base64(3, 64),
        availableBalance: base64(4, 64),
        decryptableAvailableBalance: base64(5, 36),
        allowConfidentialCredits: true,
        allowNonConfidentialCredits: false,
        pendingBalanceCreditCounter: 6n,
        maximumPendingBalanceCreditCounter: 65_536n,
        expectedPendingBalanceCreditCounter: 8n,
        actualPendingBalanceCreditCounter: 9n,
      },
    },
  ],
  [6, [2], { extension: 'defaultAccountState', state: { accountState: 'frozen' } }],
  [6, [9], { extension: 'defaultAccountState', state: { accountState: 'uninitialized' } }],
  [7, [], { extension: 'immutableOwner' }],
  [8, [1], { extension: 'memoTransfer', state: { requireIncomingTransferMemos: true } }],
  [9, [], { extension: 'nonTransferable' }],
  [
    10,
    [...filled(1), ...u64(10n), 0xf4, 0x01, ...u64(MAX), 0xff, 0xff],
    {
      extension: 'interestBearingConfig',
      state: {
        rateAuthority: key(1),
        initializationTimestamp: 10n,
        preUpdateAverageRate: 500,
        lastUpdateTimestamp: -1n,
        currentRate: -1,
      },
    },
  ],
  [11, [0], { extension: 'cpiGuard', state: { lockCpi: false } }],
  [12, filled(1), { extension: 'permanentDelegate', state: { delegate: key(1) } }],
  [13, [], { extension: 'nonTransferableAccount' }],
  [14, [...filled(1), ...filled(2)], { extension: 'transferHook', state: { authority: key(1), programId: key(2) } }],
  [15, [1], { extension: 'transferHookAccount', state: { transferring: true } }],
  [
    16,
    [...filled(0), ...filled(2), 1, ...filled(3, 64)],
    {
      extension: 'confidentialTransferFeeConfig',
      state: {
        authority: null,
        withdrawWithheldAuthorityElgamalPubkey: base64(2, 32),
        harvestToMintEnabled: true,
        withheldAmount: base64(3, 64),
      },
    },
  ],
  [17, filled(1, 64), { extension: 'confidentialTransferFeeAmount', state: { withheldAmount: base64(1, 64) } }],
  [
    18,
    [...filled(1), ...filled(2)],
    { extension: 'metadataPointer', state: { authority: key(1), metadataAddress: key(2) } },
  ],
  [
    19,
    [
      ...filled(0),
      ...filled(2),
      ...text('Ünï'),
      ...text('U'),
      ...text(''),
      1,
      0,
      0,
      0,
      ...text('colour'),
      ...text('red'),
    ],
    {
      extension: 'tokenMetadata',
      state: {
        updateAuthority: null,
        mint: key(2),
        name: 'Ünï',
        symbol: 'U',
        uri: '',
        additionalMetadata: [['colour', 'red']],
      },
    },
  ],
  [20, [...filled(1), ...filled(2)], { extension: 'groupPointer', state: { authority: key(1), groupAddress: key(2) } }],
  [
    21,
    [...filled(1), ...filled(2), ...u64(3n), ...u64(MAX)],
    { extension: 'tokenGroup', state: { updateAuthority: key(1), mint: key(2), size: 3n, maxSize: MAX } },
  ],
  [
    22,
    [...filled(1), ...filled(2)],
    { extension: 'groupMemberPointer', state: { authority: key(1), memberAddress: key(2) } },
  ],
  [
    23,
    [...filled(1), ...filled(2), ...u64(3n)],
    { extension: 'tokenGroupMember', state: { mint: key(1), group: key(2), memberNumber: 3n } },
  ],
  [
    24,
    [...filled(1, 64), ...filled(2, 36), ...filled(3), ...filled(4, 64)],
    {
      extension: 'confidentialMintBurn',
      state: {
        confidentialSupply: base64(1, 64),
        decryptableSupply: base64(2, 36),
        supplyElgamalPubkey: base64(3, 32),
        pendingBurn: base64(4, 64),
      },
    },
  ],
  [
    25,
    [...filled(1), ...f64(1.5), ...u64(9n), ...f64(1e21)],
    {
      extension: 'scaledUiAmountConfig',
      state: {
        authority: key(1),
        multiplier: '1.5',
        newMultiplierEffectiveTimestamp: 9n,
        newMultiplier: '1000000000000000000000',
      },
    },
  ],
  [26, [...filled(1), 1], { extension: 'pausableConfig', state: { authority: key(1), paused: true } }],
  [27, [], { extension: 'pausableAccount' }],
  [28, filled(1), { extension: 'permissionedBurnConfig', state: { authority: key(1) } }],
];

for (const [kind, value, expected] of EXTENSIONS) {
  t.test(
    `extension ${kind} is decoded as ${JSON.stringify((expected as { extension: string }).extension)}`,
    async (t) => {
      t.strictSame(read(entry(kind, value)), [expected]);
    },
  );
}

t.test('every extension type up to the last has an example', async (t) => {
  t.strictSame(
    [...new Set(EXTENSIONS.map(([kind]) => kind))],
    Array.from({ length: 28 }, (_, i) => i + 1),
  );
});

t.test('extensions keep their stored order', async (t) => {
  t.strictSame(
    read(entry(7, []), entry(2, u64(1n)), entry(27, [])).map(({ extension }) => extension),
    ['immutableOwner', 'transferFeeAmount', 'pausableAccount'],
  );
});

t.test('an unknown or malformed extension is unparseable, and the next one is decoded', async (t) => {
  const unparseable = { extension: 'unparseableExtension' };
  t.strictSame(read(entry(999 & 0xff, [1, 2, 3]), entry(7, [])), [unparseable, { extension: 'immutableOwner' }]);
  t.strictSame(read(entry(3, filled(1, 31))), [unparseable], 'a byte short');
  t.strictSame(read(entry(3, filled(1, 33))), [unparseable], 'a byte long');
  t.strictSame(read(entry(19, [...filled(0, 64), 0xff, 0xff, 0xff, 0xff])), [unparseable], 'a name of four gigabytes');
  t.strictSame(read(entry(19, [...filled(0, 64), 1, 0, 0, 0, 0xff, ...filled(0, 12)])), [unparseable], 'not UTF-8');
});

t.test('the list ends at a zero type, at the end of data, and where it is cut off', async (t) => {
  t.strictSame(read(entry(7, []), [0, 0, 0, 0], entry(9, [])), [{ extension: 'immutableOwner' }]);
  t.strictSame(read(entry(7, []), [9, 0]), [{ extension: 'immutableOwner' }]);
  t.strictSame(read(entry(7, []), [2, 0, 200, 0, 1]), [{ extension: 'immutableOwner' }]);
  t.strictSame(read(), []);
});
