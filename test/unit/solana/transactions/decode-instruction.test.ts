import bs58 from 'bs58';
import t from 'tap';
import { MEMO_PROGRAM, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../../../src/domain/well-known-addresses.ts';
import { decodeInstruction } from '../../../../src/solana/transactions/decode-instruction.ts';

/** Returns 32 bytes of the value `byte`. */
const filled = (byte: number): number[] => Array<number>(32).fill(byte);
const key = (byte: number): string => bs58.encode(Uint8Array.from(filled(byte)));
const f64 = (value: number): number[] => [...new Uint8Array(Float64Array.of(value).buffer)];
const u64 = (value: bigint): number[] => [...new Uint8Array(BigUint64Array.of(value).buffer)];

const read = (program: string, accounts: readonly string[], ...data: readonly number[]) =>
  decodeInstruction(program, accounts, Uint8Array.from(data));

t.test('a multiplier is written in plain digits, as in the decoded mint', async (t) => {
  for (const [multiplier, text] of [
    [1.5, '1.5'],
    [1e21, '1000000000000000000000'],
    [1.5e-7, '0.00000015'],
    [Number.POSITIVE_INFINITY, 'inf'],
  ] as const) {
    t.strictSame(read(TOKEN_2022_PROGRAM, ['mint'], 43, 0, ...filled(1), ...f64(multiplier)), {
      type: 'initializeScaledUiAmountConfig',
      info: { mint: 'mint', authority: key(1), multiplier: text },
    });
    t.strictSame(read(TOKEN_2022_PROGRAM, ['mint', 'owner'], 43, 1, ...f64(multiplier), ...u64(9n)), {
      type: 'updateMultiplier',
      info: { mint: 'mint', newMultiplier: text, newMultiplierTimestamp: 9n, authority: 'owner' },
    });
  }
});

t.test('an amount with more decimals than a node can divide by has no uiAmount', async (t) => {
  const info = (decimals: number) =>
    read(TOKEN_PROGRAM, ['source', 'mint', 'to', 'owner'], 12, ...u64(5n), decimals)?.info['tokenAmount'];
  t.strictSame(info(1), { amount: '5', decimals: 1, uiAmount: 0.5, uiAmountString: '0.5' });
  t.strictSame(info(20), { amount: '5', decimals: 20, uiAmount: null, uiAmountString: '0.00000000000000000005' });
});

t.test('instructions that their program would refuse are not decoded', async (t) => {
  const newOwner = (flag: number) => read(TOKEN_PROGRAM, ['account', 'owner'], 6, 2, flag, ...filled(1));
  t.strictSame(newOwner(1)?.info['newAuthority'], key(1));
  t.equal(newOwner(2), null, 'a flag is 0 or 1');
  t.strictSame(read(MEMO_PROGRAM, [], 0x68, 0x69), { type: 'memo', info: { memo: 'hi' } });
  t.equal(read(MEMO_PROGRAM, [], 0xff), null, 'a memo is UTF-8');
  t.equal(read(TOKEN_PROGRAM, ['mint'], 24, 0xff), null, 'an amount given as text is UTF-8');
});
