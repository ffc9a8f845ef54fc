import { createSolanaRpc, isSolanaError, type SolanaError, address as toAddress } from '@solana/web3.js';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { Cache } from '../../src/cache/cache.ts';
import { READ_METHODS } from '../../src/domain/rpc-methods.ts';
import { DOLLAR, WALLETS, WHALE } from '../../src/localnet/traffic/demo-accounts.ts';
import { anyCharacter } from '../support/any-character.ts';
import { createDocumentChecker } from '../support/assert-documented.ts';
import { type HttpAnswer, startStepped } from '../support/harness.ts';
import { DEFECTS, withReplaced } from '../support/route-defects.ts';
import { rpcPost } from '../support/rpc-request.ts';
import { untilCurrent } from '../support/until-current.ts';

const world = await startStepped(t, { perSlot: 2 });
const { get, rpc, cluster, node, gateway, logged, step } = world;
await step(160, 4); // a minute, after which there is a performance sample
await untilCurrent(world);
const fits = await createDocumentChecker(world);
const [{ address: wallet }] = WALLETS;
const { signature = '' } = cluster.chain.transactionsOf(wallet)[0] ?? {};
const finalized = cluster.chain.slot('finalized');

type Method = (typeof READ_METHODS)[number];

const confirmed = { commitment: 'confirmed' };
const PARAMS: { readonly [M in Method]?: readonly unknown[] } = {
  getBalance: [wallet, confirmed],
  getAccountInfo: [wallet, { ...confirmed, encoding: 'base64' }],
  getMultipleAccounts: [[wallet, WHALE.address]],
  getTokenAccountsByOwner: [wallet, { mint: DOLLAR.mint.address }, { encoding: 'jsonParsed' }],
  getTokenAccountBalance: [cluster.setup.tokenAccountOf(DOLLAR, WALLETS[0])],
  getTokenSupply: [DOLLAR.mint.address],
  getTokenLargestAccounts: [DOLLAR.mint.address],
  getBlock: [finalized, { maxSupportedTransactionVersion: 0 }],
  getBlockTime: [finalized],
  getTransaction: [signature, { maxSupportedTransactionVersion: 0 }],
  getSignaturesForAddress: [wallet, { limit: 3 }],
};

const call = (method: string, params: readonly unknown[] = []): Promise<HttpAnswer> =>
  rpc({ jsonrpc: '2.0', id: 1, method, params });

t.test(
  "the answer to a JSON-RPC call is the node's own, byte for byte; without `jsonrpc` it is the result alone",
  async (t) => {
    for (const method of READ_METHODS) {
      const params = PARAMS[method] ?? [];
      const whole = (await (await rpcPost(cluster.url, method, params)).text()).trim();
      const got = await call(method, params);
      t.equal(got.text, whole, method);
      t.equal(got.status, 200);
      fits(t, '/rpc', got, 'post');
      const plain = await rpc({ method, params });
      t.equal(plain.text, whole.replace('"jsonrpc":"2.0",', '').replace(/,"id":1\}$/, '}'), method);
      fits(t, '/rpc', plain, 'post');
      for (const name of ['x-slot', 'cache-control', 'content-type'])
        t.equal(got.headers.get(name), plain.headers.get(name), `${method} ${name}`);
    }
  },
);

t.test('both forms, and all ids, share one cached answer', async (t) => {
  await step(4);
  const before = node.requestCounts.get('getTokenSupply') ?? 0;
  const body = { method: 'getTokenSupply', params: [DOLLAR.mint.address] };
  const results = new Set<unknown>();
  for (const [i, form] of [{}, { jsonrpc: '2.0', id: 1 }, { jsonrpc: '2.0', id: 'x' }, { jsonrpc: '2.0' }].entries()) {
    const got = await rpc({ ...form, ...body });
    t.equal(got.headers.get('x-cache'), i === 0 ? 'MISS' : 'HIT');
    results.add(JSON.stringify(got.json.result));
  }
  t.equal(results.size, 1);
  t.equal(node.requestCounts.get('getTokenSupply') ?? 0, before + 1);
});

const idOf = ({ text }: HttpAnswer): string | undefined => /"id":(.*)\}$/s.exec(text)?.[1];

t.test('an id comes back as it was written', async (t) => {
  const ids = ['1', '0', '-1', '1.0', '1e2', '18446744073709551616', '9007199254740993', '""', '"7"', '"\\u0061\\n"'];
  for (const id of [...ids, '"\\ud800"', '"é"', '"id\\":2"', 'null', `"${'x'.repeat(1000)}"`]) {
    for (const method of ['getSlot', 'sendTransaction']) {
      const got = await rpc(`{ "id" : ${id} , "jsonrpc":"2.0","method":"${method}"}`);
      t.equal(got.status, 200);
      t.equal(idOf(got), id);
    }
  }
  t.equal(idOf(await rpc('{"jsonrpc":"2.0","id":1,"method":"getSlot","id":2}')), '2', 'the last one counts');
  t.equal(idOf(await rpc('{"jsonrpc":"2.0","method":"getSlot","\\u0069d":3}')), '3');
  t.equal(idOf(await rpc('{"jsonrpc":"2.0","method":"getSlot"}')), 'null', 'a notification is answered');
});

t.test('whatever members a call has, its answer is JSON with the id of the call', async () => {
  const scalar = fc.oneof(
    fc.string(),
    fc.string({ unit: anyCharacter }),
    fc.double(),
    fc.maxSafeInteger(),
    fc.constant(null),
  );
  // A body that names a prototype is no JSON here ('what is refused before the body is read').
  const other = fc
    .dictionary(fc.constantFrom('a', 'result', 'error', 'ids', 'Id'), fc.jsonValue())
    .filter((members) => !/"(__proto__|constructor)":/.test(JSON.stringify(members)));
  const method = fc.constantFrom('getSlot', 'getVersion', 'sendTransaction');
  await fc.assert(
    fc.asyncProperty(scalar, other, method, async (id, more, method) => {
      const { status, json } = await rpc({ ...more, jsonrpc: '2.0', method, id });
      const isEqual = Object.is(json.id, JSON.parse(JSON.stringify(id)));
      return status === 200 && isEqual && 'result' in json === (method !== 'sendTransaction');
    }),
    { numRuns: 80 },
  );
});

const refused = async (t: Test, body: unknown, code: number, error: string, id: string | null = 'x') => {
  const got = await rpc(body);
  t.equal(got.status, 200, JSON.stringify(body));
  const { message } = got.json.error ?? {};
  t.strictSame(got.json, { jsonrpc: '2.0', error: { code, message, data: { error } }, id });
  t.same(Object.keys(got.json), ['jsonrpc', 'error', 'id'], 'in the order of a node');
  t.match(message, /\w/);
  t.equal(got.headers.get('cache-control'), 'no-store');
  fits(t, '/rpc', got, 'post');
  return got;
};

t.test('a call that is refused gets the code of JSON-RPC and ours', async (t) => {
  const base = { jsonrpc: '2.0', id: 'x', method: 'getSlot' };
  await refused(t, { ...base, method: 7 }, -32600, 'invalid_request');
  await refused(t, { jsonrpc: '2.0', id: 'x' }, -32600, 'invalid_request');
  for (const jsonrpc of ['1.0', 2, null, '2', {}]) await refused(t, { ...base, jsonrpc }, -32600, 'invalid_request');
  for (const id of [{}, [1], true]) await refused(t, { ...base, id }, -32600, 'invalid_request', null);
  for (const method of ['sendTransaction', 'getGenesisHash', 'getslot', ''])
    await refused(t, { ...base, method }, -32601, 'rpc_method_not_allowed');
  await refused(t, { ...base, params: { commitment: 'x' } }, -32602, 'invalid_params');
  await refused(t, { ...base, params: [2 ** 53] }, -32602, 'invalid_params');
  t.equal((await rpc({ ...base, params: null })).json.id, 'x', 'null is no parameters, as for a node');
  t.equal((await rpc({ method: 'getSlot', params: null })).status, 400, 'which the plain form refuses');
});

t.test("a node's error has the node's code and text", async (t) => {
  const calls: readonly [method: string, params: readonly unknown[], code: number][] = [
    ['getBalance', ['nobody'], -32602],
    ['getBlock', [1], -32001],
    ['getBlock', [finalized + 1_000], -32004],
    ['getSlot', [{ minContextSlot: finalized + 1_000 }], -32016],
  ];
  for (const [method, params, code] of calls) {
    const { error } = (await (await rpcPost(cluster.url, method, params)).json()) as any;
    t.equal(error.code, code, method);
    const got = await refused(t, { jsonrpc: '2.0', id: 'x', method, params }, code, 'rpc_error');
    t.equal(got.json.error.message, error.message);
    t.equal(got.headers.get('x-rpc-error-code'), String(code));
    const plain = await rpc({ method, params });
    t.strictSame(plain.json, { error: 'rpc_error', message: `${code}: ${error.message}` });
    t.not(plain.status, 200);
    t.equal(got.headers.get('retry-after'), plain.headers.get('retry-after'));
    fits(t, '/rpc', plain, 'post');
  }
  const again = { jsonrpc: '2.0', id: 'again', method: 'getBalance', params: ['nobody'] };
  const before = node.requestCounts.get('getBalance');
  await refused(t, again, -32602, 'rpc_error', 'again');
  t.equal(node.requestCounts.get('getBalance'), before, 'from the cache, with the id of this call');
});

t.test('what goes wrong behind the gateway is -32603 and says more in data', async (t) => {
  const body = { jsonrpc: '2.0', id: 'x', method: 'getVersion' };
  node.overrides.set('getBlockTime', () => ({ result: 'no JSON' }));
  await refused(t, { ...body, method: 'getBlockTime', params: [finalized - 1] }, -32603, 'upstream_error');
  node.overrides.clear();
  const defect = await withReplaced(Cache.prototype, 'get', DEFECTS.throws, () =>
    refused(t, body, -32603, 'internal_error'),
  );
  const { level, fields } = logged.at(-1) ?? {};
  t.equal(level, 'error');
  t.equal(fields.requestId, defect.headers.get('x-request-id'));
  t.equal(defect.json.error.message, `internal error; the gateway's log has its cause as ${fields.requestId}`);
});

t.test('what is refused before the body is read, or can be, keeps its status and form', async (t) => {
  const body = '{"jsonrpc":"2.0","id":1,"method":"getSlot"}';
  const json = { 'content-type': 'application/json' };
  const cases: readonly [code: string, status: number, sent: Promise<HttpAnswer>][] = [
    ['invalid_api_key', 401, rpc(body, { headers: { ...json, 'x-api-key': 'k' } })],
    ['unsupported_media_type', 415, rpc(body, { headers: { 'content-type': 'text/plain' } })],
    ['payload_too_large', 413, rpc(body + ' '.repeat(200_000))],
    ['invalid_nonce', 400, rpc(body, { headers: { ...json, 'x-receipt-nonce': 'n'.repeat(16) } })],
    ['method_not_allowed', 405, get('/rpc')],
    ['invalid_json', 400, rpc(body.slice(0, -1))],
    ['invalid_json', 400, rpc(`${body.slice(0, -1)},"__proto__":{}}`)],
    ['invalid_request', 400, rpc(`[${body}]`)],
    ['invalid_request', 400, rpc('[]')],
  ];
  for (const [code, status, sent] of cases) {
    const got = await sent;
    t.strictSame([got.status, Object.keys(got.json), got.json.error], [status, ['error', 'message'], code]);
  }
});

t.test('a call counts as one request, refused or not, and 429 has the plain form', async (t) => {
  const { rpc } = await startStepped(t, { perSlot: 0, set: ['limits.free.requests=4'] });
  const base = { jsonrpc: '2.0', id: 1 };
  const left: (string | null)[] = [];
  for (const method of ['getSlot', 'sendTransaction', 'getSlot', 'getSlot'])
    left.push((await rpc({ ...base, method })).headers.get('x-ratelimit-remaining'));
  t.same(left, ['3', '2', '1', '0']);
  const limited = await rpc({ ...base, method: 'getSlot' });
  t.same([limited.status, limited.json.error], [429, 'rate_limited']);
});

t.test('@solana/kit reads through the gateway as from a node', async (t) => {
  const open = (url: string) => createSolanaRpc(url);
  const clients = [open(`${gateway.url}/api/v1/rpc`), open(cluster.url)] as const;
  await untilCurrent(world);
  const owner = toAddress(wallet);
  const mint = toAddress(DOLLAR.mint.address);
  const reads: { readonly [name: string]: (client: ReturnType<typeof open>) => { send(): Promise<unknown> } } = {
    getBalance: (client) => client.getBalance(toAddress(WHALE.address)),
    getAccountInfo: (client) => client.getAccountInfo(owner, { encoding: 'base64' }),
    getMultipleAccounts: (client) => client.getMultipleAccounts([owner, mint], { encoding: 'jsonParsed' }),
    getSlot: (client) => client.getSlot({ commitment: 'confirmed' }),
    getBlockHeight: (client) => client.getBlockHeight(),
    getEpochInfo: (client) => client.getEpochInfo(),
    getLatestBlockhash: (client) => client.getLatestBlockhash(),
    getTokenAccountsByOwner: (client) => client.getTokenAccountsByOwner(owner, { mint }, { encoding: 'jsonParsed' }),
    getTokenSupply: (client) => client.getTokenSupply(mint),
    getTransaction: (client) =>
      client.getTransaction(signature as any, { maxSupportedTransactionVersion: 0, encoding: 'json' }),
    getBlock: (client) => client.getBlock(BigInt(finalized), { maxSupportedTransactionVersion: 0 }),
    getSignaturesForAddress: (client) => client.getSignaturesForAddress(owner, { limit: 2 }),
    getVersion: (client) => client.getVersion(),
    getHealth: (client) => client.getHealth(),
  };
  for (const [name, read] of Object.entries(reads)) {
    const [got, expected] = await Promise.all(clients.map((client) => read(client).send()));
    t.strictSame(got, expected, name);
  }
  const { value } = await clients[0].getBalance(toAddress(WHALE.address)).send();
  t.equal(value, 9007199254740993n, 'every digit');
  const failures: { readonly [name: string]: (client: ReturnType<typeof open>) => { send(): Promise<unknown> } } = {
    getBalance: (client) => client.getBalance('nobody' as any),
    getBlock: (client) => client.getBlock(1n, { maxSupportedTransactionVersion: 0 }),
    getSlot: (client) => client.getSlot({ minContextSlot: BigInt(finalized + 1_000) }),
  };
  for (const [name, read] of Object.entries(failures)) {
    const [got, expected] = await Promise.all(
      clients.map((client) =>
        read(client)
          .send()
          .then(
            () => undefined,
            (thrown: SolanaError) => thrown,
          ),
      ),
    );
    t.ok(isSolanaError(got), name);
    t.equal(got?.context.__code, expected?.context.__code, name);
  }
});
