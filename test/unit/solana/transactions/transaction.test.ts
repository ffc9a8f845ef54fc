import {
  AccountRole,
  address,
  appendTransactionMessageInstruction,
  blockhash,
  compileTransaction,
  createTransactionMessage,
  getTransactionEncoder,
  pipe,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
} from '@solana/web3.js';
import fc from 'fast-check';
import t from 'tap';
import { toJson } from '../../../../src/domain/to-json.ts';
import { extractTransfers } from '../../../../src/solana/analysis/extract-transfers.ts';
import { inExecutionOrder } from '../../../../src/solana/transactions/instruction.ts';
import {
  normalizeTransaction,
  readTransaction,
  type Transaction,
} from '../../../../src/solana/transactions/transaction.ts';
import { recordedTransactions } from '../../../support/recorded-transactions.ts';

const recorded = recordedTransactions('transactions');

/** A recording whose recorder added the loaded accounts to the message's own and left them in `loadedAddresses`, too. */
const EDITED = 'tx/JiqYGkWcYu8G_json';

t.test('every recorded transaction is parsed', async (t) => {
  const odd: string[] = [];
  for (const { name, transaction } of [...recorded, ...recordedTransactions('mainnet-block')]) {
    const { accounts, instructions, preBalances, postBalances } = transaction;
    const known = new Set(accounts.map(({ address }) => address));
    const named = inExecutionOrder(instructions).flatMap((call) => [call.programId, ...call.accounts]);
    const whole = [preBalances, postBalances].every(({ length }) => length === accounts.length);
    if (!whole || named.some((address) => !known.has(address))) odd.push(name);
  }
  t.strictSame(odd, [EDITED]);
});

t.test('every known instruction is decoded, except those that their program refuses', async (t) => {
  const unread = recorded.flatMap(({ name, transaction }) =>
    inExecutionOrder(transaction.instructions).flatMap(({ program, parsed }) =>
      program !== null && parsed === null ? [`${name}: ${program}`] : [],
    ),
  );
  t.strictSame(unread, []);
});

t.test('a transaction is parsed alike in every encoding', async (t) => {
  const seen = new Map<string, { name: string; transaction: Transaction }>();
  let pairs = 0;
  for (const { name, transaction } of recorded) {
    if (name.startsWith('tx-rebuilt/')) continue;
    const [signature = ''] = transaction.signatures;
    const first = seen.get(signature);
    seen.set(signature, { name, transaction });
    if (first === undefined) continue;
    pairs++;
    const words = name.includes('jsonParsed') || first.name.includes('jsonParsed');
    const [one, other] = words
      ? [summarize(first.transaction), summarize(transaction)]
      : [first.transaction, transaction];
    if (toJson(one) !== toJson(other)) t.strictSame(one, other, `${first.name} and ${name}`);
  }
  t.ok(pairs > 80, `${pairs} pairs`);
});

/** Returns the members that all encodings have: `jsonParsed` drops the bytes of decoded instructions and some spellings. */
function summarize(transaction: Transaction): object {
  const { instructions, accounts, ...rest } = transaction;
  return {
    ...rest,
    accounts: accounts.map(({ address, signer }) => ({ address, signer })),
    instructions: inExecutionOrder(instructions).map(({ programId, index, innerIndex, parsed }) => {
      const { vote, towerSync, ...rest } = parsed?.info ?? {}; // the votes, which are not decoded from bytes
      const info = Object.entries(rest).sort(([a], [b]) => (a < b ? -1 : 1));
      return { programId, index, innerIndex, type: parsed?.type, info };
    }),
  };
}

t.test('lamports beyond 2^53 keep their digits', async (t) => {
  const { postBalances, fee } = readTransaction(
    toJson({
      transaction: { signatures: ['1'], message: { accountKeys: ['a'], header: {}, instructions: [] } },
      meta: { fee: 9007199254740993n, postBalances: [18446744073709551615n] },
    }),
  );
  t.equal(fee, 9007199254740993n);
  t.strictSame(postBalances, [18446744073709551615n]);
});

t.test('a transaction without a record of its effects has no fee, balances or logs', async (t) => {
  const transaction = { signatures: ['1'], message: { accountKeys: ['a'], instructions: [] } };
  const bare = readTransaction(toJson({ transaction, meta: null }));
  t.match(bare, { fee: null, err: null, preTokenBalances: null, logs: null, slot: null, version: 'legacy' });
});

t.test('a version 1 transaction is parsed like any other', async (t) => {
  const [payer, receiver] = [
    'HB7Dv9XLM1bD5p8kyGnyMnH9Gk67Rv3CjzheJfTL8bMk',
    'BWbHzqYBnWmU6kRg8Upi61hq3gf5u8F3hB886MBhg7wh',
  ];
  const transfer = {
    programAddress: address('11111111111111111111111111111111'),
    accounts: [
      { address: address(payer), role: AccountRole.WRITABLE_SIGNER },
      { address: address(receiver), role: AccountRole.WRITABLE },
    ],
    data: Uint8Array.of(2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 32, 0), // 2^53 + 1 lamports
  };
  const message = pipe(
    createTransactionMessage({ version: 1 }),
    (draft) => setTransactionMessageFeePayer(address(payer), draft),
    (draft) => setTransactionMessageLifetimeUsingBlockhash(LIFETIME, draft),
    (draft) => appendTransactionMessageInstruction(transfer, draft),
  );
  const bytes = getTransactionEncoder().encode(compileTransaction(message));
  const transaction = [Buffer.from(bytes).toString('base64'), 'base64'];
  const read = readTransaction(toJson({ transaction, meta: { err: null, fee: 5000 }, version: 1 }));
  t.match(read, { version: 1, feePayer: payer, recentBlockhash: LIFETIME.blockhash });
  t.match(extractTransfers(read), [{ fromUserAccount: payer, toUserAccount: receiver, amount: 9007199254740993n }]);
});

const LIFETIME = { blockhash: blockhash('4vJ9JU1bJJE96FWSJKvHsmmFADCg4gpZQff4P3bkLKi'), lastValidBlockHeight: 0n };

t.test('a record of any shape is parsed without an error', async () => {
  const indexes = fc.array(fc.oneof(fc.integer(), fc.string(), fc.constant(null)));
  const anything = fc.oneof(fc.anything(), indexes);
  const instruction = fc.record(
    { programIdIndex: fc.nat(3), accounts: indexes, data: fc.string(), parsed: anything, stackHeight: anything },
    { requiredKeys: [] },
  );
  const calls = fc.array(fc.record({ index: fc.nat(2), instructions: fc.array(instruction) }));
  const balances = fc.oneof(anything, fc.array(fc.record({ accountIndex: fc.integer(), uiTokenAmount: anything })));
  const record = fc.record({
    transaction: fc.record({
      signatures: fc.constant(['signature']),
      message: fc.record({
        accountKeys: fc.constant(['payer', '11111111111111111111111111111111', 'other']),
        instructions: fc.oneof(anything, fc.array(instruction)),
      }),
    }),
    meta: fc.record(
      {
        fee: anything,
        innerInstructions: fc.oneof(anything, calls),
        preBalances: anything,
        preTokenBalances: balances,
        postTokenBalances: balances,
        loadedAddresses: anything,
        logMessages: anything,
        returnData: anything,
      },
      { requiredKeys: [] },
    ),
  });
  fc.assert(
    fc.property(record, (value) => {
      extractTransfers(normalizeTransaction(value));
    }),
  );
});

t.test('a value that is not a transaction is refused', async (t) => {
  for (const json of ['null', '[]', '{"transaction":["AAAA","base64"]}', '{"transaction":{"signatures":["1"]}}']) {
    t.throws(() => readTransaction(json), json);
  }
});
