import t from 'tap';
import { readTransaction } from '../../../../src/solana/transactions/transaction.ts';
import { findExceededBound } from '../../../../src/solana/transactions/transaction-bounds.ts';
import { recordedTransactions } from '../../../support/recorded-transactions.ts';

const ADDRESS = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
const times = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value);
const record = (message: object, meta: object = {}, signatures = ['s']) => ({
  transaction: { signatures, message: { accountKeys: [ADDRESS], ...message } },
  meta,
});

t.test('every recorded transaction is within the bounds', async (t) => {
  const recordings = recordedTransactions('transactions');
  t.ok(recordings.length > 50);
  for (const { name, result } of recordings) t.equal(findExceededBound(result), undefined, name);
});

t.test('each bound has its last allowed count', async (t) => {
  const signer = { pubkey: ADDRESS, signer: true };
  const call = { programIdIndex: 0, accounts: [], data: '' };
  const inner = (count: number) => ({ innerInstructions: [{ index: 0, instructions: times(count, call) }] });
  const bounds: [number, string, (count: number) => object][] = [
    [256, 'accounts', (count) => record({ accountKeys: times(count, ADDRESS) })],
    [255, 'accounts', (count) => record({}, { loadedAddresses: { writable: [], readonly: times(count, ADDRESS) } })],
    [19, 'signers', (count) => record({ accountKeys: times(count, signer) })],
    [19, 'signers', (count) => record({ header: { numRequiredSignatures: count } })],
    [19, 'signers', (count) => record({}, {}, times(count, 's'))],
    [1024, 'instructions', (count) => record({ instructions: times(count, call) })],
    [1023, 'instructions', (count) => record({ instructions: [call] }, inner(count))],
    [256, 'balances', (count) => record({}, { postTokenBalances: times(count, {}) })],
    [256, 'accounts', (count) => record({ instructions: [{ ...call, accounts: times(count, 0) }] })],
    [13_987, 'bytes of data', (count) => record({ instructions: [{ ...call, data: 'z'.repeat(count) }] })],
    [
      13_987,
      'bytes of data',
      (count) => record({}, { innerInstructions: [{ instructions: [{ data: 'z'.repeat(count) }] }] }),
    ],
    [5595, 'bytes', (count) => ({ transaction: 'z'.repeat(count) })],
    [5595, 'bytes', (count) => ({ transaction: ['z'.repeat(count), 'base64'] })],
    [44, 'characters', (count) => record({ accountKeys: ['x'.repeat(count)] })],
  ];
  for (const [most, noun, of] of bounds) {
    t.equal(findExceededBound(of(most)), undefined, `${most} ${noun}`);
    t.match(findExceededBound(of(most + 1)), new RegExp(`at most \\d+ ${noun}$`), `${most + 1} ${noun}`);
  }
});

t.test('a record of a node that exceeds a bound is no transaction', async (t) => {
  const json = JSON.stringify(record({ accountKeys: times(257, ADDRESS) }));
  t.throws(() => readTransaction(json), new TypeError('a transaction has at most 256 accounts'));
});

t.test('what is no transaction at all exceeds nothing', async (t) => {
  for (const value of [null, 1, 'x', [], {}, { transaction: null }, { transaction: { message: 7 }, meta: 'x' }])
    t.equal(findExceededBound(value), undefined);
});
