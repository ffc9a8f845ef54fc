import t from 'tap';
import { WALLETS } from '../../src/localnet/traffic/demo-accounts.ts';
import { KNOWN_PROGRAMS } from '../../src/solana/programs/known-programs.ts';
import { startStepped } from '../support/harness.ts';

const { get, cluster, node, logged, step } = await startStepped(t, { perSlot: 6 });
await step(60, 4);
t.beforeEach(() => node.overrides.clear());
const [{ address }] = WALLETS;

/** Has the node show a transaction otherwise than it was. */
async function shown(signature: string, change: (record: any) => void): Promise<void> {
  const body = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'getTransaction',
    params: [signature, { encoding: 'jsonParsed', commitment: 'confirmed', maxSupportedTransactionVersion: 1 }],
  });
  const answer = await fetch(cluster.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
  const { result } = (await answer.json()) as any;
  change(result);
  node.overrides.set('getTransaction', ([asked]) =>
    asked === signature ? { result: JSON.stringify(result) } : undefined,
  );
}

const misread = () => logged.filter(({ message }) => message.includes('could not be decoded'));
const succeeded = () =>
  cluster.chain
    .transactionsOf(address)
    .filter(({ slot, error }) => error === null && slot <= cluster.chain.slot('confirmed'))
    .reverse();

t.test('a record that can not be read has no meaning, is served all the same, and is logged once', async (t) => {
  const [{ signature = '' } = {}] = succeeded();
  await shown(signature, (record) => {
    record.transaction.message.accountKeys = 7;
  });
  const { status, json } = await get(`/tx/${signature}?enhanced=1`);
  t.equal(status, 200);
  t.equal(json.result.enhanced, null);
  t.equal(json.result.transaction.message.accountKeys, 7);
  t.match(misread(), [{ level: 'warn', fields: { signature } }]);
  t.ok(misread()[0]?.fields.err instanceof Error);
  await step(4, 4);
  t.equal((await get(`/tx/${signature}?enhanced=1`)).status, 200);
  t.equal(misread().length, 1);
});

t.test('nor does it take the rest of its page of transfers along', async (t) => {
  const [, { signature: before = '' } = {}, { signature = '' } = {}] = succeeded();
  const pageBelow = async (cursor: string) =>
    (await get(`/address/${address}/history?type=transfers&limit=25&before=${cursor}`)).json.result;
  await shown(signature, (record) => {
    record.transaction.message.accountKeys = 7;
  });
  const page = await pageBelow(before);
  t.ok(page.scanned > 10 && page.rows.length > 0);
  const rest = await pageBelow(signature);
  const unmarked = (rows: any[]) => rows.map((row) => ({ ...row, confirmationStatus: '' }));
  t.same(unmarked(page.rows), unmarked(rest.rows.slice(0, page.rows.length)));
});

t.test('what can be read and not be judged is UNKNOWN, with its facts, and logged', async (t) => {
  const unread = WALLETS.slice(1)
    .flatMap((wallet) => cluster.chain.transactionsOf(String(wallet.address)))
    .find(({ error, accountKeys }) => error === null && !accountKeys.includes(address)); // no page has had it
  const { signature = '', fee } = unread ?? {};
  await shown(signature, ({ transaction, meta }) => {
    // so short that it is decoded in this thread, which has the broken table
    transaction.message.accountKeys.length = 3;
    transaction.message.instructions.length = 0;
    for (const name of ['preBalances', 'postBalances']) meta[name].length = 3;
    for (const name of ['innerInstructions', 'preTokenBalances', 'postTokenBalances', 'logMessages']) meta[name] = [];
  });
  const lookUp = KNOWN_PROGRAMS.get;
  Object.defineProperty(KNOWN_PROGRAMS, 'get', {
    configurable: true,
    value(id: string) {
      if (/\binterpretTransaction\b/.test(new Error().stack ?? '')) throw new TypeError('a broken table');
      return lookUp.call(this, id);
    },
  });
  t.teardown(() => Reflect.deleteProperty(KNOWN_PROGRAMS, 'get'));
  const { status, json } = await get(`/tx/${signature}?enhanced=1`);
  t.equal(status, 200);
  t.match(json.result.enhanced, { type: 'UNKNOWN', signature, fee: Number(fee), status: 'success' });
  t.ok(json.result.enhanced.accountData.length > 0);
  t.match(misread().at(-1), { level: 'warn', fields: { signature, err: { message: 'a broken table' } } });
});
