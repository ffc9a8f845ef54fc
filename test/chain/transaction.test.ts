import t from 'tap';
import { inOrder } from '../../src/chain/instruction.ts';
import { readTransaction, type Transaction } from '../../src/chain/transaction.ts';
import { toJson } from '../../src/domain/json.ts';
import { recording, recordings } from './corpus.ts';

const recorded = recordings('transactions').map(recording);

/** Its recorder wrote the loaded accounts among the message's own and left them in `loadedAddresses`, too. */
const EDITED = 'tx/JiqYGkWcYu8G_json';

t.test('every recorded transaction is read', async (t) => {
  for (const { name, transaction } of [...recorded, ...recordings('mainnet-block').map(recording)]) {
    const { accounts, instructions, preBalances, postBalances } = transaction;
    const known = new Set(accounts.map(({ address }) => address));
    const named = inOrder(instructions).flatMap((call) => [call.programId, ...call.accounts]);
    if (named.some((address) => !known.has(address))) t.fail(`${name} names an account that it does not have`);
    for (const balances of [preBalances, postBalances]) {
      if (balances.length !== accounts.length && name !== EDITED) t.fail(`${name} has ${balances.length} balances`);
    }
  }
});

t.test('every known instruction is read, but for what its program does not take', async (t) => {
  const unread = recorded.flatMap(({ name, transaction }) =>
    inOrder(transaction.instructions).flatMap(({ program, parsed }) =>
      program !== null && parsed === null ? [`${name}: ${program}`] : [],
    ),
  );
  t.strictSame(unread, []);
});

t.test('a transaction reads the same in every encoding', async (t) => {
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
    const [one, other] = words ? [inWords(first.transaction), inWords(transaction)] : [first.transaction, transaction];
    if (toJson(one) !== toJson(other)) t.strictSame(one, other, `${first.name} and ${name}`);
  }
  t.ok(pairs > 80, `${pairs} pairs`);
});

/** What all encodings have: `jsonParsed` drops the bytes of what it can read, and the spelling of some members. */
function inWords(transaction: Transaction): object {
  const { instructions, accounts, ...rest } = transaction;
  return {
    ...rest,
    accounts: accounts.map(({ address, signer }) => ({ address, signer })),
    instructions: inOrder(instructions).map(({ programId, index, innerIndex, parsed }) => {
      const { vote, towerSync, ...rest } = parsed?.info ?? {}; // what validators voted for, which is not read from bytes
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

t.test('a transaction of which the node kept no record says so', async (t) => {
  const transaction = { signatures: ['1'], message: { accountKeys: ['a'], instructions: [] } };
  const bare = readTransaction(toJson({ transaction, meta: null }));
  t.match(bare, { fee: null, err: null, preTokenBalances: null, logs: null, slot: null, version: 'legacy' });
});

t.test('what is no transaction is refused', async (t) => {
  for (const json of ['null', '[]', '{"transaction":["AAAA","base64"]}', '{"transaction":{"signatures":["1"]}}']) {
    t.throws(() => readTransaction(json), json);
  }
});
