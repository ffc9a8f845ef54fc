import t from 'tap';
import { parseExactJson } from '../../src/domain/parse-exact-json.ts';
import { toJson } from '../../src/domain/to-json.ts';
import { TOKEN_PROGRAM } from '../../src/domain/well-known-addresses.ts';
import { createDocumentChecker } from '../support/assert-documented.ts';
import { type HttpAnswer, startStepped } from '../support/harness.ts';
import { recordedTransactions } from '../support/recorded-transactions.ts';
import { addressOf, type SyntheticCall, syntheticRecord, u64Bytes } from '../support/synthetic-transaction.ts';

const world = await startStepped(t);
const { get, cluster, step } = world;
await step(40, 4);
const fits = await createDocumentChecker(world);

const post = (body: string): Promise<HttpAnswer> =>
  get('/explain', { method: 'POST', headers: { 'content-type': 'application/json' }, body });
const explain = (tx: unknown, logs?: readonly string[]): Promise<HttpAnswer> => post(toJson({ tx, logs }));
const recorded = new Map(recordedTransactions('transactions').map(({ name, result }) => [name, result]));

const sent = 'tx/2kHbPUGzehen_jsonParsed';
const FAILED = 'tx/2M5hpf4CNdfV_json';

t.test('a record of getTransaction is told in words, in either encoding', async (t) => {
  const got = await explain(recorded.get(sent));
  t.equal(got.text, '{"explanation":"4Y5Y…xmgy sent 0.024922118 SOL to 3eF3…h899. The fee was 0.000005 SOL."}');
  fits(t, '/explain', got, 'post');
  t.equal(got.headers.get('x-slot'), null, 'it is about no slot');
  t.equal(got.headers.get('cache-control'), 'no-store');
  t.match((await explain(recorded.get('tx/31ycbQtF5EEi_json'))).json.explanation, /swapped 10 SOL .* on OKX/);
});

t.test('what /tx answers is told the same, as it is or enhanced', async (t) => {
  const { signature = '' } = cluster.chain.block(cluster.chain.slot('finalized'))?.transactions[0] ?? {};
  const { text } = await get(`/tx/${signature}?enhanced=1`);
  const { result } = parseExactJson(text) as { result: { enhanced: unknown } }; // as the document says
  const whole = await explain(result);
  t.match(whole.json.explanation, /fee of|fee was/);
  t.equal((await explain(result.enhanced)).text, whole.text);
});

t.test('a transfer in a batch of the token program is told, raw or decoded', async (t) => {
  const [wallet, shop, tokens, shopTokens] = [1, 2, 11, 12].map(addressOf) as [string, string, string, string];
  const usdc = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';
  const info = { source: tokens, destination: shopTokens, amount: '2500000', authority: wallet };
  const batch = { type: 'batch', info: { instructions: [{ type: 'transfer', info }] } };
  const calls: SyntheticCall[] = [
    { programId: TOKEN_PROGRAM, accounts: [tokens, shopTokens, wallet], data: [255, 3, 9, 3, ...u64Bytes(2_500_000n)] },
    { programId: TOKEN_PROGRAM, program: 'spl-token', parsed: batch },
  ];
  for (const call of calls) {
    const record = syntheticRecord({
      calls: [call],
      signers: [wallet],
      tokens: [
        { account: tokens, mint: usdc, owner: wallet, before: 9_000_000n, after: 6_500_000n },
        { account: shopTokens, mint: usdc, owner: shop, before: 0n, after: 2_500_000n },
      ],
    });
    t.match((await explain(record)).json.explanation, /sent 2\.5 USDC to 8qbH…VfeR/);
  }
});

t.test('an enhanced view of a version that listed fewer facts is still explained', async (t) => {
  const { signature = '' } = cluster.chain.block(cluster.chain.slot('finalized'))?.transactions[0] ?? {};
  const { text } = await get(`/tx/${signature}?enhanced=1`);
  const { result } = parseExactJson(text) as { result: { enhanced: Record<string, unknown> } }; // as the document says
  const { authorityChanges, confidentialTransfers, ...earlier } = result.enhanced;
  t.strictSame([authorityChanges, confidentialTransfers], [[], []]);
  t.equal((await explain(earlier)).text, (await explain(result)).text);
});

t.test('logs that come beside a record tell why it failed', async (t) => {
  const program = '94U5AHQMKkV5txNJ17QPXWoh474PheGou6cNP2FEuL1d';
  const logs = [
    `Program ${program} invoke [1]`,
    'Program log: Error: the market is closed',
    `Program ${program} failed: custom program error: 0x1`,
  ];
  t.match((await explain(recorded.get(FAILED), logs)).json.explanation, /failed: the market is closed/);
});

t.test('nothing is asked of the cluster for it', async (t) => {
  const before = await cluster.control.requestCounts();
  await explain(recorded.get(sent));
  t.strictSame(await cluster.control.requestCounts(), before);
});

t.test('what is no transaction is refused', async (t) => {
  const refused = async (body: string, status: number, code: string): Promise<void> => {
    const got = await post(body);
    t.strictSame([got.status, got.json.error], [status, code], body.slice(0, 60));
    fits(t, '/explain', got, 'post');
  };
  for (const body of ['', '{', '{"tx":{"__proto__":{}}}', '['.repeat(9000)]) await refused(body, 400, 'invalid_json');
  const wrong = [
    'null',
    '[]',
    '{}',
    '{"tx":null}',
    '{"tx":[]}',
    '{"tx":"5J…"}',
    '{"tx":{}}',
    '{"tx":{"transaction":{}}}',
  ];
  wrong.push('{"tx":{"description":"x","type":"SWAP"}}', `{"tx":{"transaction":["AAAA","base64"]}}`);
  wrong.push(toJson({ tx: recorded.get(sent), logs: 'all' }), toJson({ tx: recorded.get(sent), logs: [1] }));
  for (const body of wrong) await refused(body, 400, 'invalid_request');
});

t.test('whoever posts something else is told what to post, and where a signature is explained', async (t) => {
  const told = async (body: unknown): Promise<string> => (await post(toJson(body))).json.message;
  const { signature = '' } = cluster.chain.block(cluster.chain.slot('finalized'))?.transactions[0] ?? {};
  for (const body of [{ signature }, { tx: signature }, { signature: 'x', tx: 7 }]) {
    const message = await told(body);
    t.match(message, 'GET /api/v1/tx/SIG?enhanced=1');
    t.match(message, '`enhanced.description`');
    t.match(message, 'post the `result` of GET /api/v1/tx/SIG');
  }
  const whole = (await get(`/tx/${signature}`)).json;
  for (const body of [{}, [], null, whole, whole.result, { tx: whole }, { tx: {} }]) {
    const message = await told(body);
    t.match(message, 'post the `result` of GET /api/v1/tx/SIG');
    t.notMatch(message, 'enhanced=1');
  }
  t.match((await explain(whole.result)).json.explanation, /fee/, 'one way that it names');
  t.match((await get(`/tx/${signature}?enhanced=1`)).json.result.enhanced.description, /\w/, 'and the other');
});

t.test('a text that would take minutes to decode is refused at once', async (t) => {
  const endless = 'z'.repeat(200_000);
  const message = {
    accountKeys: ['payer', 'program'],
    instructions: [{ programIdIndex: 1, accounts: [0], data: endless }],
  };
  for (const tx of [{ transaction: endless }, { transaction: { signatures: ['s'], message }, meta: null }]) {
    t.equal((await explain(tx)).json.error, 'invalid_request');
  }
  const logged = {
    transaction: { signatures: ['s'], message: { accountKeys: ['payer'] } },
    meta: { logMessages: [endless] },
  };
  t.equal((await explain(logged)).status, 200, 'logs are only read');
});

t.test('a body whose cost would grow without bound is refused, and names the bound', async (t) => {
  const accountKeys = Array.from({ length: 800 }, (_, i) => ({ pubkey: `signer${i}`, signer: true }));
  const record = { transaction: { signatures: ['s'], message: { accountKeys } }, meta: null };
  const refused = await explain(record);
  t.strictSame([refused.status, refused.json.error], [400, 'invalid_request']);
  t.match(refused.json.message, /at most 256 accounts/);

  const { signature = '' } = cluster.chain.block(cluster.chain.slot('finalized'))?.transactions[0] ?? {};
  const { text } = await get(`/tx/${signature}?enhanced=1`);
  const { result } = parseExactJson(text) as { result: { enhanced: { readonly accountData: readonly object[] } } }; // as the document says
  const { enhanced } = result;
  const [account = {}] = enhanced.accountData;
  const transfer = { fromUserAccount: 'a', toUserAccount: 'b', amount: '1' };
  for (const [members, reason] of [
    [{ signers: Array(20).fill('s') }, /19 signers/],
    [{ accountData: Array(257).fill(account) }, /256 accounts/],
    [{ nativeTransfers: Array(1025).fill(transfer) }, /1024 transfers/],
    [{ nativeTransfers: [{ ...transfer, amount: '9'.repeat(41) }] }, /40 digits/],
  ] as const) {
    const got = await explain({ ...enhanced, ...members });
    t.strictSame([got.status, got.json.error], [400, 'invalid_request']);
    t.match(got.json.message, reason);
  }
});

t.test('a body may have 256 KiB', async (t) => {
  const padded = (length: number): string => {
    const body = toJson({ tx: recorded.get(sent), pad: '' }); // outside of `tx`, so it is not decoded
    return body.replace(/""\}$/, `"${'x'.repeat(length - Buffer.byteLength(body))}"}`);
  };
  t.equal((await post(padded(256 * 1024))).status, 200);
  t.equal((await post(padded(256 * 1024 + 1))).json.error, 'payload_too_large');
});

t.test('a mint that claims more decimals than a byte holds gets no text of that length', async (t) => {
  const swap = toJson(recorded.get('tx/31ycbQtF5EEi_json'));
  const hostile = swap.replace(/"decimals":\d+/g, '"decimals":400000000');
  t.not(hostile, swap);
  const got = await post(`{"tx":${hostile}}`);
  t.equal(got.status, 200);
  t.match(got.json.explanation, /swapped/);
});
