import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Address,
  address,
  createSolanaRpc,
  isSolanaError,
  type Signature,
  type SolanaError,
  address as toAddress,
} from '@solana/web3.js';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { Cache } from '../../src/gateway/cache/cache.ts';
import { member } from '../../src/gateway/upstream/json/raw-json.ts';
import { COINS, DOLLAR, WALLETS, WHALE } from '../../src/localnet/traffic/demo-accounts.ts';
import { READ_METHODS, STANDARD_METHODS } from '../../src/shared/domain/rpc-methods.ts';
import { SYSTEM_PROGRAM } from '../../src/shared/domain/well-known-addresses.ts';
import type { RpcErrorJson } from '../support/answer-json.ts';
import { anyCharacter } from '../support/any-character.ts';
import { createDocumentChecker } from '../support/assert-documented.ts';
import { type HttpAnswer, type SteppedHarness, startStepped, waitFor } from '../support/harness.ts';
import { pluck } from '../support/pluck.ts';
import { DEFECTS, withReplaced } from '../support/route-defects.ts';
import { malformedCalls, REJECTED_METHOD_NAMES } from '../support/rpc-method-spellings.ts';
import { configOf, rpcPost } from '../support/rpc-request.ts';
import { addressFromByte } from '../support/token-account-fixtures.ts';
import { untilCurrent } from '../support/until-current.ts';

/** More digits than are scanned. */
const LONG_NUMBER = '1'.repeat(5000);

t.test('json-rpc', async (t) => {
  const world = await startStepped(t, { perSlot: 1 });
  const { get, rpc, cluster, node, gateway, logged, step } = world;
  await step(160, 16); // a minute, after which there is a performance sample
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

  t.test("the answer to a JSON-RPC call is the node's own text; without `jsonrpc` the result alone", async (t) => {
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
  });

  t.test('both forms, and all ids, share one cached answer', async (t) => {
    await step(4);
    const before = node.requestCounts.get('getTokenSupply') ?? 0;
    const body = { method: 'getTokenSupply', params: [DOLLAR.mint.address] };
    const results = new Set<unknown>();
    for (const [i, form] of [
      {},
      { jsonrpc: '2.0', id: 1 },
      { jsonrpc: '2.0', id: 'x' },
      { jsonrpc: '2.0' },
    ].entries()) {
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

  const refused = async (
    t: Test,
    body: unknown,
    code: number,
    error: string,
    id: string | null = 'x',
    nodeData: object = {},
  ) => {
    const got = await rpc<unknown, RpcErrorJson>(body);
    t.equal(got.status, 200, JSON.stringify(body));
    const { message } = got.json.error;
    t.strictSame(got.json, { jsonrpc: '2.0', error: { code, message, data: { ...nodeData, error } }, id });
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
    const long = JSON.stringify({ ...base, id: 7 }).replace('7', LONG_NUMBER);
    await refused(t, long, -32600, 'invalid_request', null);
    for (const method of ['sendTransaction', 'getGenesisHash', 'getslot', ''])
      await refused(t, { ...base, method }, -32601, 'rpc_method_not_allowed');
    await refused(t, { ...base, params: { commitment: 'x' } }, -32602, 'invalid_params');
    await refused(t, { ...base, params: [2 ** 53] }, -32602, 'invalid_params');
    t.equal((await rpc({ ...base, params: null })).json.id, 'x', 'null is no parameters, as for a node');
    t.equal((await rpc({ method: 'getSlot', params: null })).status, 400, 'which the plain form refuses');
  });

  t.test("a node's error has the node's code, text and data", async (t) => {
    const calls: readonly [method: string, params: readonly unknown[], code: number][] = [
      ['getBalance', ['nobody'], -32602],
      ['getBlock', [1], -32001],
      ['getBlock', [finalized + 1_000], -32004],
      ['getSlot', [{ minContextSlot: finalized + 1_000 }], -32016],
    ];
    for (const [method, params, code] of calls) {
      const { error } = JSON.parse(await (await rpcPost(cluster.url, method, params)).text());
      t.equal(error.code, code, method);
      t.equal(Number.isInteger(error.data?.contextSlot), code === -32016, 'the one of these with data');
      const got = await refused(t, { jsonrpc: '2.0', id: 'x', method, params }, code, 'rpc_error', 'x', error.data);
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

  t.test("a node's error whose data is no JSON leaves our answers readable", async (t) => {
    const call = (slot: number) => ({ jsonrpc: '2.0', id: 'x', method: 'getBlock', params: [slot] });
    node.overrides.set('getBlock', () => ({ error: `{"code":-32009,"message":"none","data":{"a":"\n"}}` }));
    await refused(t, call(finalized - 2), -32603, 'upstream_error');
    t.match((await rpc([call(finalized - 3), call(finalized - 4)])).json, [{ id: 'x' }, { id: 'x' }]);
    node.overrides.clear();
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
    t.equal(fields?.requestId, defect.headers.get('x-request-id'));
    t.equal(defect.json.error.message, `internal error; the gateway's log has its cause as ${fields?.requestId}`);
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
      ['invalid_request', 400, rpc(`[${Array(101).fill(body).join()}]`)],
      ['invalid_request', 400, rpc('[]')],
      ['invalid_request', 400, rpc(`[${body.replace('1,', `${LONG_NUMBER},`)},${body}]`)],
    ];
    for (const [code, status, sent] of cases) {
      const got = await sent;
      t.strictSame([got.status, Object.keys(got.json), got.json.error], [status, ['error', 'message'], code]);
    }
  });

  t.test('a call counts as one request, refused or not, and 429 has the plain form', async (t) => {
    const { rpc } = await startStepped(t, { set: ['limits.free.units=11'] });
    const base = { jsonrpc: '2.0', id: 1 };
    const left: (string | null)[] = [];
    for (const method of ['getSlot', 'sendTransaction', 'getSlot', 'getSlot'])
      left.push((await rpc({ ...base, method })).headers.get('x-ratelimit-remaining'));
    t.same(left, ['10', '9', '8', '7']);
    const dear = await rpc({ ...base, method: 'getMultipleAccounts', params: [Array(100).fill(WHALE.address)] });
    t.match([dear.status, dear.json.error], [200, { code: -32603, data: { error: 'rate_limited' } }], 'by its body');
    for (let unit = 0; unit < 7; unit++) await rpc({ ...base, method: 'getSlot' });
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
        client.getTransaction(signature as Signature, { maxSupportedTransactionVersion: 0, encoding: 'json' }),
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
      getBalance: (client) => client.getBalance('nobody' as Address),
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
});

t.test('rpc-standard-profile', async (t) => {
  const world = await startStepped(t, { perSlot: 2, set: ['rpc.profile=standard'] });
  const { rpc, cluster, node, step } = world;
  await step(40, 4);
  await untilCurrent(world);
  const fits = await createDocumentChecker(world);
  const [{ address: wallet }] = WALLETS;
  const { signature = '' } = cluster.chain.transactionsOf(wallet)[0] ?? {};
  const finalized = cluster.chain.slot('finalized');
  const { hash } = cluster.chain.latestBlockhash('finalized');
  type Method = (typeof STANDARD_METHODS)[number];
  const PARAMS: { readonly [M in Method]?: readonly unknown[] } = {
    getSignatureStatuses: [[signature, '1'.repeat(64)], { searchTransactionHistory: true }],
    getMinimumBalanceForRentExemption: [165, { commitment: 'confirmed' }],
    isBlockhashValid: [hash],
    getFeeForMessage: ['AQABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4fIAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA='],
    getBlocks: [finalized - 3, finalized],
    getBlocksWithLimit: [finalized - 3, 2],
    getSlotLeaders: [finalized, 3],
    getTokenAccountsByDelegate: [wallet, { mint: DOLLAR.mint.address }, { encoding: 'jsonParsed' }],
    getInflationReward: [[wallet], { epoch: 0 }],
  };
  const call = (method: string, params: readonly unknown[] = []): Promise<HttpAnswer> =>
    rpc({ jsonrpc: '2.0', id: 1, method, params });
  const fromNode = async (method: string, params: readonly unknown[] = []): Promise<string> =>
    (await (await rpcPost(cluster.url, method, params)).text()).trim();

  t.test('a rent that is none is an error of the upstream, and not kept', async (t) => {
    const context = { slot: finalized };
    for (const threshold of [undefined, -2, 1e20, Number.NaN]) {
      const rent = Buffer.alloc(threshold === undefined ? 0 : 17);
      if (threshold !== undefined) {
        rent.writeBigUInt64LE(3480n, 0);
        rent.writeDoubleLE(threshold, 8);
      }
      const none = {
        data: [rent.toString('base64'), 'base64'],
        executable: false,
        lamports: 1,
        owner: SYSTEM_PROGRAM,
        rentEpoch: 0,
        space: rent.length,
      };
      node.overrides.set('getAccountInfo', () => ({ result: JSON.stringify({ context, value: none }) }));
      node.overrides.set('getMultipleAccounts', ([addresses]) => ({
        result: JSON.stringify({ context, value: Array(addresses.length).fill(none) }),
      }));
      const refused = await call('getMinimumBalanceForRentExemption', [0]);
      const message = /something else than the rent/;
      t.match(refused.json.error, { data: { error: 'upstream_error' }, message }, `${threshold}`);
    }
    node.overrides.clear();
    t.match((await call('getMinimumBalanceForRentExemption', [0])).json, { result: 890880 });
  });

  t.test('the answer to each method is that of the node, byte for byte', async (t) => {
    for (const method of STANDARD_METHODS) {
      const params = PARAMS[method] ?? [];
      const expected = await fromNode(method, params);
      const got = await call(method, params);
      t.equal(got.status, 200, method);
      if (JSON.parse(expected).error === undefined) t.equal(got.text, expected, method);
      else t.match(JSON.parse(got.text).error, JSON.parse(expected).error, method);
      fits(t, '/rpc', got, 'post');
      if ('result' in got.json) t.equal((await call(method, params)).headers.get('x-cache'), 'HIT', method);
    }
    t.equal((await call('getSlot')).text, await fromNode('getSlot'), 'statuses are of the processed slot');
  });

  t.test('the genesis hash is known, and one read of the rent answers for each size', async (t) => {
    await step(4);
    const counts = (): readonly unknown[] => [...node.requestCounts].filter(([method]) => method !== 'getHealth');
    await call('getMinimumBalanceForRentExemption', [0]);
    const before = counts();
    for (const size of [0, 1, 82, 165, 10_485_760])
      t.equal(
        (await call('getMinimumBalanceForRentExemption', [size])).text,
        await fromNode('getMinimumBalanceForRentExemption', [size]),
      );
    await call('getGenesisHash');
    t.strictSame(counts(), before);
    const ofConfirmed = await rpc(
      { method: 'getMinimumBalanceForRentExemption', params: [0, { commitment: 'confirmed' }] },
      { headers: { 'content-type': 'application/json', 'x-min-slot': `${cluster.chain.slot('confirmed')}` } },
    );
    t.match(ofConfirmed.json, { result: 890880 }, 'and at the commitment of the call');
    for (const params of [[-1], ['x'], [], [165, { commitment: 1 }]]) {
      const { error } = JSON.parse(await fromNode('getMinimumBalanceForRentExemption', params));
      t.match((await call('getMinimumBalanceForRentExemption', params)).json, { error });
    }
  });

  t.test('the config of blocks without an end keeps its commitment where a slot is demanded', async (t) => {
    const minContextSlot = cluster.chain.slot('confirmed');
    const config = { commitment: 'confirmed' };
    const headers = { 'content-type': 'application/json', 'x-min-slot': `${minContextSlot}` };
    for (const [params, sent] of [
      [
        [finalized, config],
        [finalized, { ...config, minContextSlot }],
      ], // of two configs a node reads the last alone
      [
        [finalized, null, config],
        [finalized, null, { ...config, minContextSlot }],
      ],
      [
        [finalized, config, null],
        [finalized, { ...config, minContextSlot }, null],
      ],
    ] as const) {
      let requested: unknown;
      node.overrides.set('getBlocks', (given) => {
        requested = given;
        return undefined;
      });
      const { json } = await rpc({ method: 'getBlocks', params }, { headers });
      t.equal((json.result as number[]).at(-1), minContextSlot);
      t.strictSame(requested, sent);
    }
    node.overrides.clear();
  });

  t.test('a scan costs as much as one of the holders of a mint', async (t) => {
    const left = async (method: string): Promise<number> =>
      Number((await call(method, [{ commitment: 'confirmed' }])).headers.get('x-ratelimit-remaining'));
    const before = await left('getVoteAccounts');
    t.equal(await left('getSupply'), before - 21);
    t.equal(await left('getSupply'), before - 22, 'a hit costs one');
  });

  t.test('what sends, simulates or scans a program is in no profile', async (t) => {
    for (const method of ['sendTransaction', 'simulateTransaction', 'requestAirdrop', 'getProgramAccounts'])
      t.match((await call(method, [wallet])).json, {
        error: { code: -32601, data: { error: 'rpc_method_not_allowed' } },
      });
  });
});

t.test('rpc-batches', async (t) => {
  const world = await startStepped(t, { perSlot: 1, set: ['limits.free.units=300', 'limits.free.rpcBytes=65536'] });
  const { rpc, cluster, node, step } = world;
  await step(40, 4);
  await untilCurrent(world);
  const fits = await createDocumentChecker(world);
  const addresses = WALLETS.map(({ address }) => address);
  const callOf = (method: string, params: readonly unknown[], id: unknown = method) => ({
    jsonrpc: '2.0',
    id,
    method,
    params,
  });
  const alone = async (call: object): Promise<string> => (await rpc(call)).text;

  t.test('each call has the answer that it has alone, in the order of the calls', async (t) => {
    const finalized = cluster.chain.slot('finalized');
    const calls = [
      callOf('getBalance', [WHALE.address], 1.5),
      callOf('getAccountInfo', [DOLLAR.mint.address, { encoding: 'jsonParsed' }]),
      callOf('getAccountInfo', [DOLLAR.mint.address, { encoding: 'base64' }]),
      callOf('getAccountInfo', [addressFromByte(9), { encoding: 'base64' }]),
      callOf('getBalance', [addressFromByte(9)]),
      callOf('getBlockTime', [finalized]),
      callOf('getBalance', ['nobody']),
      callOf('sendTransaction', []),
      callOf('getSlot', [{ minContextSlot: finalized + 1_000 }]),
    ];
    const batch = await rpc(calls);
    t.equal(batch.status, 200);
    t.equal(batch.text, `[${(await Promise.all(calls.map(alone))).join()}]`);
    t.equal(batch.headers.get('x-slot'), String(finalized));
    fits(t, '/rpc', batch, 'post');
    t.equal((await rpc(`\n [ ${JSON.stringify(calls[0])} ]`)).text, `[${await alone(calls[0] ?? {})}]`);
  });

  t.test('accounts of a batch are one call of a node', async (t) => {
    await step(4, 4);
    const before = new Map(node.requestCounts);
    const made = (method: string): number => (node.requestCounts.get(method) ?? 0) - (before.get(method) ?? 0);
    const encodings = ['base64', 'jsonParsed'];
    const config = { commitment: 'confirmed' };
    for (const encoding of encodings)
      await rpc(addresses.map((address) => callOf('getAccountInfo', [address, { ...config, encoding }])));
    await rpc(addresses.map((address) => callOf('getBalance', [address, config])));
    t.same([made('getAccountInfo'), made('getBalance'), made('getMultipleAccounts')], [0, 0, 3]);
  });

  t.test('a call that is none has an error in its place, with the id null', async (t) => {
    const slot = callOf('getSlot', []);
    const { json } = await rpc([1, null, [slot], { method: 'getSlot' }, { ...slot, jsonrpc: '1.0' }, slot]);
    t.match(json, [
      ...Array(4).fill({ error: { code: -32600 }, id: null }),
      { error: { code: -32600 }, id: 'getSlot' },
      {},
    ]);
    t.match(json, { 5: { id: 'getSlot', result: Number } });
    t.equal((await rpc([slot])).headers.get('x-cache'), 'HIT');
    t.equal((await rpc([callOf('sendTransaction', [])])).headers.get('x-cache'), 'MISS', 'no answer is no hit');
  });

  t.test('an answer for which the tier leaves no room is an error in its place', async (t) => {
    node.overrides.set('getBlock', () => ({ result: `"${'x'.repeat(40_000)}"` }));
    const calls = [callOf('getBlock', [1], 1), callOf('getBlock', [2], 2), callOf('getSlot', [])];
    const { status, text } = await rpc(calls);
    node.overrides.clear();
    t.equal(status, 200);
    const answers: readonly { readonly id: unknown; readonly error?: object }[] = JSON.parse(text);
    t.same(pluck(answers, 'id'), [1, 2, 'getSlot']);
    const errors = answers.filter(({ error }) => error !== undefined);
    const message = /^your tier gets at most 65536 bytes/;
    t.match(errors, [{ error: { data: { error: 'result_too_large' }, message } }]);
  });

  t.test('it costs one for each of its calls, and is refused as a whole where that is not left', async (t) => {
    const left = async (calls: number): Promise<HttpAnswer> => rpc(Array(calls).fill(callOf('getSlot', [])));
    const [one, many] = [await left(1), await left(20)];
    const remaining = (answer: HttpAnswer): number => Number(answer.headers.get('x-ratelimit-remaining'));
    t.equal(remaining(many), remaining(one) - 20);
    let refused = await left(100);
    for (let sent = 1; refused.status === 200 && sent < 3; sent++) refused = await left(100);
    t.match(refused, { status: 429, json: { error: 'rate_limited' } });
    t.equal((await left(1)).status, 200);
  });
});

t.test('rpc-allow-list', async (t) => {
  const { get, rpc, cluster } = await startStepped(t);

  const total = async (): Promise<number> =>
    Object.values(await cluster.control.requestCounts()).reduce((sum, calls) => sum + calls, 0);

  t.test('a method outside the 21 is 403, whatever it is, and never reaches a node', async (t) => {
    const before = await total();
    for (const method of [...REJECTED_METHOD_NAMES, ...STANDARD_METHODS]) {
      const got = await rpc({ method, params: [] });
      t.equal(got.status, 403, JSON.stringify(method));
      t.equal(got.json.error, 'rpc_method_not_allowed');
    }
    t.equal(await total(), before);
  });

  t.test('a refusal names the profile that has the method, or what to use in its place', async (t) => {
    const messageOf = async (method: string): Promise<string> => (await rpc({ method })).json.message;
    for (const method of STANDARD_METHODS)
      t.match(
        await messageOf(method),
        `${method} is a method of rpc.profile "standard", and this gateway has "strict": its operator can start it with --set rpc.profile=standard`,
      );
    const alternatives: Readonly<Record<string, RegExp>> = {
      sendTransaction:
        /^sendTransaction: slotgate sends nothing: give your client a second connection, to a node, for that$/,
      simulateTransaction: /neither sends nor simulates/,
      getBundleStatuses: /slotgate knows no bundles: .* to a block engine/,
      getProgramAccounts: /GET \/api\/v1\/token\/MINT\/holders/,
      getAssetsByOwner: /\/api\/v1\/address\/ADDRESS\/portfolio/,
      getRecentBlockhash: /nodes no longer have this method: use getLatestBlockhash/,
    };
    for (const [method, alternative] of Object.entries(alternatives)) t.match(await messageOf(method), alternative);
    for (const unknown of ['sendtransaction', '<b>', '__proto__'])
      t.match(await messageOf(unknown), /^this method is not allowed, or not spelled as Solana RPC spells it/);
  });

  t.test('an empty batch and a method that is not text are 400 and never reach a node', async (t) => {
    const before = await total();
    for (const body of malformedCalls('getClusterNodes')) t.equal((await rpc(JSON.stringify(body))).status, 400);
    t.equal(await total(), before);
  });

  t.test('of two methods in one body the last one counts, and only it is sent', async (t) => {
    const before = await cluster.control.requestCounts();
    const smuggled = await rpc('{"method":"getVersion","method":"sendTransaction"}');
    t.equal(smuggled.status, 403);
    const harmless = await rpc('{"method":"sendTransaction","jsonrpc":"2.0","id":"x","method":"getClusterNodes"}');
    t.equal(harmless.status, 200);
    const after = await cluster.control.requestCounts();
    t.equal(after['sendTransaction'], undefined);
    t.equal(after['getClusterNodes'], (before['getClusterNodes'] ?? 0) + 1);
  });

  t.test('no body thrown at /rpc reaches another method or does harm', async (t) => {
    const json = { 'content-type': 'application/json' };
    const known = new Set<unknown>([...READ_METHODS, 'getGenesisHash', 'getAgGenesisCert']);
    const key = fc.constantFrom('method', 'params', 'id', 'constructor', 'toString');
    const members = fc.dictionary(key, fc.jsonValue());
    const method = fc.oneof(fc.constantFrom<unknown>('sendTransaction', 'getProgramAccounts'), fc.json(), fc.string());
    const body = fc.oneof(
      fc
        .tuple(members, fc.constantFrom({}, { jsonrpc: '2.0' }, { jsonrpc: 2 }))
        .map(([a, b]) => JSON.stringify({ ...a, ...b })),
      fc.record({ method, params: fc.jsonValue() }).map((members) => JSON.stringify(members)),
      fc.json(),
      fc.string(),
      fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
    );
    await fc.assert(
      fc.asyncProperty(body, async (body) => {
        const { status, text, json: answer } = await get('/rpc', { method: 'POST', headers: json, body });
        const members = Object.keys(answer).join();
        return [400, 403].includes(status)
          ? members === 'error,message'
          : Array.isArray(answer)
            ? answer.every(({ error }) => [-32600, -32601, -32602].includes(error.code))
            : status === 200 && members === 'jsonrpc,error,id' && /"code":(-32600|-32601|-32602),/.test(text);
      }),
      { numRuns: 400 },
    );
    for (const name of Object.keys(await cluster.control.requestCounts())) t.ok(known.has(name), name);
    t.same(Object.keys(Object.prototype), []);
  });

  t.test('numbers, texts and deep data reach the node unchanged', async (t) => {
    const [address] = ['Vote111111111111111111111111111111111111111'];
    const slice = { encoding: 'base64', dataSlice: { offset: 1, length: 3 } };
    const { json } = await rpc<{ value: { data: [string] } }>({ method: 'getAccountInfo', params: [address, slice] });
    t.equal(Buffer.from(json.result.value.data[0], 'base64').length, 3);
  });
});

t.test('answers-of-routes', async (t) => {
  const { get, rpc, step, cluster, node } = await startStepped(t);

  interface Config {
    readonly encoding?: string;
    readonly dataSlice?: object;
    readonly minContextSlot?: number;
  }

  const accountInfo = (address: string, config: Config = {}) =>
    rpc<{ context: { slot: number } }>({
      method: 'getAccountInfo',
      params: [address, { commitment: 'confirmed', ...config }],
    });

  /** Returns the node's own answer, byte for byte. */
  async function direct(address: string, config: Config): Promise<Buffer> {
    const params = [address, { commitment: 'confirmed', ...config }];
    const response = await rpcPost(cluster.url, 'getAccountInfo', params);
    const result = member(Buffer.from(await response.arrayBuffer()), 'result');
    if (result === undefined) throw new Error('the node refuses');
    return result;
  }

  const sourceOf = (got: HttpAnswer): string | null => got.headers.get('x-cache');

  t.test("an account cached by a route is returned in the node's exact bytes", async (t) => {
    const { setup } = cluster;
    const addresses = [
      WALLETS[0]?.address ?? '',
      WHALE.address,
      addressFromByte(40),
      ...setup.lookupTable.entries,
      ...COINS.flatMap((coin) => [coin.mint.address, setup.tokenAccountOf(coin, WALLETS[0])]),
      'SysvarC1ock11111111111111111111111111111111',
      'SysvarRent111111111111111111111111111111111',
      'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
    ];
    let hits = 0;
    for (const address of new Set(addresses)) {
      const path = `/account/${address}` as const;
      await get(path); // at a slot that the node has not left
      const kept = (await get(path)).json;
      for (const encoding of ['jsonParsed', 'base64']) {
        const before = node.requestCounts.get('getMultipleAccounts') ?? 0;
        const got = await accountInfo(address, { encoding });
        t.equal(got.text, `{"result":${await direct(address, { encoding })}}`, `${address} in ${encoding}`);
        const isParsed = kept.result !== null && !Array.isArray(kept.result.data);
        const isHit = encoding === 'jsonParsed' || !isParsed;
        t.equal(sourceOf(got), isHit ? 'HIT' : 'MISS', `${address} in ${encoding}`);
        t.equal(node.requestCounts.get('getMultipleAccounts') ?? 0, before + (isHit ? 0 : 1));
        if (isHit) hits++;
      }
    }
    t.ok(hits > addresses.length);
  });

  t.test('other requests for an account go to the node', async (t) => {
    const mint = DOLLAR.mint.address;
    await get(`/account/${mint}`);
    const configs: readonly Config[] = [
      {},
      { encoding: 'base64+zstd' },
      { encoding: 'base64', dataSlice: { offset: 1, length: 3 } },
      { encoding: 'jsonParsed', dataSlice: { offset: 1, length: 3 } },
    ];
    for (const config of configs) {
      const got = await accountInfo(mint, config);
      if (got.status === 200) t.equal(got.text, `{"result":${await direct(mint, config)}}`);
      t.not(sourceOf(got), 'HIT', JSON.stringify(config));
    }
    t.equal(sourceOf(await accountInfo(mint, { encoding: 'jsonParsed' })), 'HIT');
    const minContextSlot = cluster.chain.slot('confirmed') + 50;
    t.equal((await accountInfo(mint, { encoding: 'jsonParsed', minContextSlot })).status, 503);
  });

  t.test('a text that is no address finds no answer of a route with other parameters', async (t) => {
    const address = DOLLAR.mint.address;
    await get(`/balance/${address}?commitment=confirmed`);
    t.equal(sourceOf(await rpc({ method: 'getBalance', params: [address, { commitment: 'confirmed' }] })), 'HIT');
    for (const text of [`${address}?commitment=confirmed`, `../balance/${address}`]) {
      const refused = await rpc({ method: 'getBalance', params: [text, { commitment: 'confirmed' }] });
      t.same([refused.status, refused.json.error], [400, 'rpc_error'], text);
    }
  });

  t.test('a live account costs no reads, and /rpc requests keep it live', async (t) => {
    const wallet = WALLETS[3]?.address ?? '';
    const upstream = (): number =>
      (node.requestCounts.get('getAccountInfo') ?? 0) + (node.requestCounts.get('getMultipleAccounts') ?? 0);
    const readWallet = () => accountInfo(wallet, { encoding: 'base64' });
    let quiet = 0;
    await waitFor(async () => {
      const before = upstream();
      await get(`/account/${wallet}`);
      await step();
      await get(`/account/${wallet}`);
      quiet = upstream() === before ? quiet + 1 : 0;
      return quiet === 4;
    }, 'a live account');
    const before = upstream();
    const slots: number[] = [];
    for (let i = 0; i < 70; i++) {
      const got = await readWallet();
      if (sourceOf(got) !== 'HIT') t.fail(`${sourceOf(got)} after ${i} slots`);
      slots.push(got.json.result.context.slot);
      await step();
    }
    t.ok((slots.at(-1) ?? 0) - (slots[0] ?? 0) > 60, 'its slot moves on');
    t.ok(upstream() - before <= 2, `${upstream() - before} reads in 28 seconds: its audit alone`);
  });
});

t.test('rpc-min-slot', async (t) => {
  const [{ address: wallet }] = WALLETS;
  const world = await startStepped(t, { perSlot: 1 });
  await world.step(160, 16); // a minute, after which there is a performance sample

  interface Call {
    readonly method: string;
    readonly params?: readonly unknown[];
  }

  const BALANCE: Call = { method: 'getBalance', params: [wallet, { commitment: 'confirmed' }] };

  const atLeast = ({ rpc }: SteppedHarness, slot: number | string, body: object = BALANCE): Promise<HttpAnswer> =>
    rpc(body, { headers: { 'content-type': 'application/json', 'x-min-slot': String(slot) } });

  const slotOf = (got: HttpAnswer): number => Number(got.headers.get('x-slot'));

  function isNotReached(t: Test, got: HttpAnswer, what: string): void {
    t.same([got.status, got.json.error], [503, 'min_slot_not_reached'], what);
    t.equal(got.headers.get('retry-after'), '1', what);
  }

  /** Calls of every method, at commitment confirmed where it accepts one. */
  function callsOf({ cluster }: SteppedHarness): readonly Call[] {
    const at = { commitment: 'confirmed' };
    const { signature } = cluster.chain.transactionsOf(wallet)[0] ?? {};
    const finalized = cluster.chain.slot('finalized');
    const mint = DOLLAR.mint.address;
    const params: Readonly<Record<string, readonly unknown[]>> = {
      getBalance: [wallet, at],
      getAccountInfo: [wallet, { ...at, encoding: 'base64' }],
      getMultipleAccounts: [[wallet], at],
      getTokenAccountsByOwner: [wallet, { mint }, { ...at, encoding: 'base64' }],
      getTokenAccountBalance: [cluster.setup.tokenAccountOf(DOLLAR, WALLETS[0]), at],
      getTokenSupply: [mint, at],
      getTokenLargestAccounts: [mint, at],
      getBlock: [finalized, { ...at, maxSupportedTransactionVersion: 0 }],
      getBlockTime: [finalized],
      getTransaction: [signature, { ...at, maxSupportedTransactionVersion: 0 }],
      getSignaturesForAddress: [wallet, { ...at, limit: 1 }],
      getVersion: [],
      getHealth: [],
      getClusterNodes: [],
      getRecentPerformanceSamples: [1],
      getRecentPrioritizationFees: [],
    };
    return READ_METHODS.map((method) => ({ method, params: params[method] ?? [at] }));
  }

  t.test('no method is answered from before X-Min-Slot: each is read again, or refused', async (t) => {
    const calls = callsOf(world);
    const before: HttpAnswer[] = [];
    for (const call of calls) {
      const first = await world.rpc(call);
      t.equal(first.status, 200, `${call.method} ${first.text}`);
      t.equal((await atLeast(world, slotOf(first), call)).text, first.text, call.method);
      before.push(first);
    }
    await world.step(64, 16); // the slots of the finalized answers move on, too
    for (const [i, call] of calls.entries()) {
      const first = before[i] as HttpAnswer;
      const next = await atLeast(world, slotOf(first) + 1, call);
      t.equal(next.status, 200, `${call.method} ${next.text}`);
      t.ok(slotOf(next) > slotOf(first), call.method);
      isNotReached(t, await atLeast(world, slotOf(next) + 100, call), call.method);
      t.equal((await world.rpc(call)).status, 200, 'a floor holds for its own request alone');
    }
  });

  t.test('a call that names the confirmed commitment, or can name none, is of a confirmed slot', async (t) => {
    const { chain } = world.cluster;
    await world.step(2);
    await untilCurrent(world);
    const minSlot = chain.slot('confirmed');
    t.ok(minSlot > chain.slot('finalized'));
    for (const { method, params } of callsOf(world)) {
      const got = await atLeast(world, minSlot, { method, params: params ?? [] });
      t.equal(got.status, 200, `${method} ${got.text}`);
    }
  });

  t.test('an answer that is new enough comes from the cache', async (t) => {
    const first = await atLeast(world, 0);
    const before = world.node.requestCounts.get('getMultipleAccounts') ?? 0;
    const again = await atLeast(world, slotOf(first));
    t.equal(again.headers.get('x-cache'), 'HIT');
    t.equal(world.node.requestCounts.get('getMultipleAccounts') ?? 0, before);
  });

  t.test('the request to the node has that slot where its method accepts one', async (t) => {
    const { node, cluster, step } = world;
    const requested = new Map<string, readonly unknown[]>();
    for (const method of READ_METHODS)
      node.overrides.set(method, (params) => {
        requested.set(method, params);
        return undefined;
      });
    await step(4, 4); // what is cached is old
    const minSlot = cluster.chain.slot('finalized') - 1;
    for (const call of callsOf(world)) await atLeast(world, minSlot, call);
    const bounded = [...requested]
      .filter(([, params]) => (configOf(params).minContextSlot ?? 0) >= minSlot)
      .map(([method]) => method);
    t.same(bounded.sort(), [
      'getEpochInfo', // for getBlockHeight
      'getLatestBlockhash',
      'getMultipleAccounts', // for getBalance and getAccountInfo, too
      'getSignaturesForAddress',
      'getTokenAccountsByOwner',
    ]);
    const configs: readonly (readonly [given: unknown, sent: unknown])[] = [
      [undefined, { minContextSlot: minSlot }],
      [null, { minContextSlot: minSlot }],
      [
        { commitment: 'confirmed', minContextSlot: 1 },
        { commitment: 'confirmed', minContextSlot: minSlot },
      ],
      [{ minContextSlot: 'x' }, { minContextSlot: 'x' }],
      ['x', 'x'],
    ];
    const method = 'getTokenAccountsByOwner';
    const ofMint = [wallet, { mint: COINS[1]?.mint.address }];
    for (const [given, sent] of configs) {
      await atLeast(world, minSlot, { method, params: given === undefined ? ofMint : [...ofMint, given] });
      t.strictSame(requested.get(method), [...ofMint, sent]);
    }
    await atLeast(world, minSlot, { method: 'getBalance', params: [] });
    t.strictSame(requested.get('getBalance'), [], 'the node says what is missing');
    node.overrides.clear();
  });

  t.test('the higher one of X-Min-Slot and minContextSlot counts, and the node speaks for its own', async (t) => {
    const { rpc, cluster } = world;
    const far = cluster.chain.slot('processed') + 100;
    const withParam = (minContextSlot: number): Call => ({
      method: 'getBalance',
      params: [wallet, { minContextSlot }],
    });
    const nodes = await rpc(withParam(far));
    t.equal(nodes.headers.get('x-rpc-error-code'), '-32016');
    for (const header of [far, far - 1, 0]) {
      const got = await atLeast(world, header, withParam(far));
      t.equal(got.text, nodes.text, `${header}`);
      t.equal(got.headers.get('x-rpc-error-code'), '-32016');
    }
    isNotReached(t, await atLeast(world, far + 1, withParam(far)), 'the header is the reason');
    isNotReached(t, await atLeast(world, far, withParam(1)), 'the header is the reason');
  });

  t.test('a JSON-RPC call gets -32016', async (t) => {
    const got = await atLeast(world, 99_999_999, { jsonrpc: '2.0', id: 3, ...BALANCE });
    t.equal(got.status, 200);
    const data = { contextSlot: world.cluster.chain.slot('confirmed'), error: 'min_slot_not_reached' };
    t.match(got.json, { id: 3, error: { code: -32016, data } });
    t.equal(got.headers.get('retry-after'), '60');
    t.equal(got.headers.get('x-rpc-error-code'), null, 'no node said so');
  });

  t.test('a malformed slot is refused as for GET; where there is no slot it is ignored', async (t) => {
    for (const bad of ['x', '-1', '1.5', '01', '99999999999999999999']) {
      const got = await atLeast(world, bad);
      t.same([got.status, got.json.error], [400, 'invalid_slot'], bad);
    }
    const headers = { 'content-type': 'application/json', 'x-min-slot': 'x' };
    const explained = await world.get('/explain', { method: 'POST', headers, body: '{}' });
    t.equal(explained.json.error, 'invalid_request');
    for (const path of ['/health', '/pubkey'])
      t.equal((await world.get(path, { headers: { 'x-min-slot': 'x' } })).status, 200, path);
  });

  t.test('it waits up to a second for a slot that is near', async (t) => {
    const { node, cluster, clock, step } = world;
    const questions = (): number => node.requestCounts.get('getMultipleAccounts') ?? 0;
    const near = cluster.chain.slot('confirmed') + 1;
    const before = questions();
    const soon = atLeast(world, near);
    await waitFor(() => questions() > before, 'the question');
    while (cluster.chain.slot('confirmed') < near) await step();
    const got = await soon;
    t.equal(got.status, 200);
    t.ok(slotOf(got) >= near);
    await cluster.control.pauseSlots();
    const unanswered = questions();
    let late: HttpAnswer | undefined;
    void atLeast(world, cluster.chain.slot('confirmed') + 2).then((got) => {
      late = got;
    });
    await waitFor(() => questions() > unanswered, 'the question');
    await waitFor(() => {
      clock.advance(50);
      return late !== undefined;
    }, 'the refusal');
    if (late !== undefined) isNotReached(t, late, 'after a second');
  });

  t.test("one caller's slot fails no other caller's read", async (t) => {
    const { rpc, cluster, clock } = world; // its slots stand still since the test before
    const near = cluster.chain.slot('confirmed') + 4;
    let done = false;
    const reads = WALLETS.slice(0, 20).map(({ address }) => {
      const call = { method: 'getBalance', params: [address, { commitment: 'confirmed' }] };
      return Promise.all([atLeast(world, near, call), rpc(call)]);
    });
    const all = Promise.all(reads).finally(() => {
      done = true;
    });
    await waitFor(() => {
      clock.advance(50);
      return done;
    });
    for (const [bound, free] of await all) t.same([bound.status, free.status], [503, 200]);
  });
});

t.test('rpc-monotonic-slots', async (t) => {
  const wallet = (rank: number): string => WALLETS[rank]?.address ?? '';

  interface Call {
    readonly method: string;
    readonly params: readonly unknown[];
  }

  /**
   * Records the node's current answers to these calls. The returned function makes it repeat them, as a node without new
   * slots.
   */
  async function remember({ cluster, node }: SteppedHarness, calls: readonly Call[]): Promise<() => void> {
    const recorded = new Map<string, string>();
    for (const { method, params } of calls) {
      const response = await rpcPost(cluster.url, method, params);
      recorded.set(method, `${member(Buffer.from(await response.arrayBuffer()), 'result')}`);
    }
    return () => {
      for (const [method, result] of recorded) node.overrides.set(method, () => ({ result }));
    };
  }

  /** Advances time without slots. */
  async function stand({ clock }: SteppedHarness, ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= 400) {
      clock.advance(400);
      await sleep(4);
    }
  }

  const slotOf = (got: HttpAnswer): number => Number(got.headers.get('x-slot'));
  const sourceOf = (got: HttpAnswer): string | null => got.headers.get('x-cache');

  t.test('getSlot does not go back when slots stop and the node falls back', async (t) => {
    const world = await startStepped(t);
    const { rpc, step, cluster, get } = world;
    await step(12);
    const calls = ['processed', 'confirmed', 'finalized'].map((commitment) => ({
      method: 'getSlot',
      params: [{ commitment }],
    }));
    const before = await Promise.all(calls.map((call) => rpc(call)));
    await cluster.control.pauseSlots();
    await cluster.control.skewSlots(-11);
    await stand(world, 4000);
    for (const [i, call] of calls.entries()) {
      const got = await rpc(call);
      t.equal(sourceOf(got), 'STALE');
      t.equal(got.text, before[i]?.text);
    }
    t.equal((await rpc({ method: 'getSlot' })).text, before[2]?.text, 'however it is spelled');
    await stand(world, 60_000);
    t.equal((await get('/slot')).json.error, 'stale');
    for (const call of calls) t.equal((await rpc(call)).json.error, 'stale', 'not for ever');
  });

  t.test('an answer of a node that fell back is not returned: the last one is, then none', async (t) => {
    const world = await startStepped(t);
    const { rpc, step, cluster } = world;
    const at = (commitment: string) => ({ commitment });
    const mint = cluster.setup.lookupTable.entries.at(-1);
    const calls: readonly Call[] = [
      { method: 'getBalance', params: [wallet(1), at('confirmed')] },
      { method: 'getAccountInfo', params: [wallet(1), { ...at('confirmed'), encoding: 'base58' }] },
      { method: 'getMultipleAccounts', params: [[wallet(1)], at('finalized')] },
      { method: 'getEpochInfo', params: [at('finalized')] },
      { method: 'getBlockHeight', params: [at('finalized')] },
      { method: 'getLatestBlockhash', params: [] },
      { method: 'getTokenSupply', params: [mint, at('confirmed')] },
    ];
    await step(40, 4);
    const fallBack = await remember(world, calls);
    await step(4);
    const before = await Promise.all(calls.map((call) => rpc(call)));
    for (const got of before) t.equal(got.status, 200, got.text);
    await step(4);
    fallBack();
    for (const [i, call] of calls.entries()) {
      const got = await rpc(call);
      t.equal(sourceOf(got), 'STALE', `${call.method}: ${got.text}`);
      t.equal(got.text, before[i]?.text);
      t.equal(slotOf(got), slotOf(before[i] ?? got));
    }
    await step(152, 4);
    for (const call of calls) {
      const got = await rpc(call);
      t.match(got.json, { error: 'stale' }, call.method);
      t.equal(got.headers.get('retry-after'), '1');
    }
    world.node.overrides.clear();
    for (const call of calls) t.equal(sourceOf(await rpc(call)), 'MISS');
  });

  /** A world that each of the next tests leaves without faults. */
  const world = await startStepped(t, { perSlot: 2 });

  t.test('a block height has no slot and still does not go back', async (t) => {
    const { rpc, step, node } = world;
    const fallBack = await remember(world, [
      { method: 'getBlockHeight', params: [{ commitment: 'processed' }] },
      { method: 'getEpochInfo', params: [{ commitment: 'processed' }] },
    ]);
    await step(6);
    const first = await rpc<number>({ method: 'getBlockHeight', params: [{ commitment: 'processed' }] });
    t.equal(first.status, 200);
    fallBack();
    await step();
    const second = await rpc({ method: 'getBlockHeight', params: [{ commitment: 'processed', minContextSlot: 1 }] });
    t.match(second.json, { error: 'stale' }, 'what is only processed is not given again');
    node.overrides.clear();
    t.ok(
      (await rpc<number>({ method: 'getBlockHeight', params: [{ commitment: 'processed' }] })).json.result >
        first.json.result,
    );
  });

  t.test('a list of signatures has no slot and still does not go back', async (t) => {
    const { rpc, step, node } = world;
    const call = { method: 'getSignaturesForAddress', params: [wallet(0), { commitment: 'confirmed', limit: 3 }] };
    await step(4);
    const first = await rpc(call);
    t.equal(first.status, 200);
    await step(4);
    const behind = { error: '{"code":-32016,"message":"Minimum context slot has not been reached"}' };
    node.overrides.set(
      call.method,
      ([, config]) => (Number(config?.minContextSlot) > slotOf(first) - 1 ? behind : { result: '[]' }), // from before the wallet had any
    );
    const second = await rpc(call);
    t.equal(sourceOf(second), 'STALE');
    t.equal(second.text, first.text);
    node.overrides.clear();
    t.ok(slotOf(await rpc(call)) > slotOf(first));
    for (const config of [[7], 'x', { minContextSlot: 'x' }, { minContextSlot: -1 }]) {
      const odd = await rpc({ method: call.method, params: [wallet(0), config] });
      t.equal(odd.headers.get('x-rpc-error-code'), '-32602', `the node refuses ${JSON.stringify(config)} itself`);
    }
  });

  t.test('a result too long for the cache binds later ones to its slot', async (t) => {
    const { rpc, step, cluster, node } = world;
    const long = address(addressFromByte(31));
    const account = { lamports: 1n, owner: SYSTEM_PROGRAM, executable: false, data: new Uint8Array(70_000) };
    cluster.chain.setAccount(long, account);
    await step(3);
    const config = { commitment: 'confirmed', encoding: 'base64' };
    const call = { method: 'getAccountInfo', params: [long, config] };
    const fallBack = await remember(world, [{ method: 'getMultipleAccounts', params: [[long], config] }]);
    await step(4);
    const first = await rpc(call);
    t.equal(sourceOf(first), 'MISS');
    t.ok(first.text.length > 64 * 1024);
    fallBack();
    t.match((await rpc(call)).json, { error: 'stale' });
    node.overrides.clear();
    t.ok(slotOf(await rpc(call)) >= slotOf(first));
  });

  t.test('an evicted answer still binds later ones to its slot', async (t) => {
    const world = await startStepped(t, { set: ['cache.bytes=131072'] });
    const { rpc, step } = world;
    const balance = (rank: number): Call => ({
      method: 'getBalance',
      params: [wallet(rank), { commitment: 'confirmed' }],
    });
    const config = { commitment: 'confirmed', encoding: 'base64', dataSlice: { offset: 0, length: 0 } };
    const fallBack = await remember(world, [{ method: 'getMultipleAccounts', params: [[wallet(1)], config] }]);
    await step(4);
    t.equal((await rpc(balance(1))).status, 200);
    for (let rank = 2; rank < 22; rank++) {
      for (const encoding of ['base58', 'base64', 'base64+zstd', 'jsonParsed'])
        await rpc({ method: 'getAccountInfo', params: [wallet(rank), { commitment: 'confirmed', encoding }] });
      await rpc(balance(rank));
    }
    fallBack();
    t.match((await rpc(balance(1))).json, { error: 'stale' });
  });

  t.test("a caller that requires a slot no node has reached gets the node's error", async (t) => {
    const { rpc, cluster } = world;
    const minContextSlot = cluster.chain.slot('processed') + 100;
    for (const method of ['getSlot', 'getBlockHeight', 'getEpochInfo']) {
      await rpc({ method, params: [{ commitment: 'confirmed' }] });
      const got = await rpc({ method, params: [{ commitment: 'confirmed', minContextSlot }] });
      t.equal(got.status, 503);
      t.equal(got.headers.get('x-rpc-error-code'), '-32016', method);
    }
  });

  t.test('no processed answer is served a slot later', async (t) => {
    const { rpc, step, cluster } = world;
    for (const method of ['getBalance', 'getAccountInfo']) {
      const call = { method, params: [wallet(2), { commitment: 'processed' }] };
      t.equal(sourceOf(await rpc(call)), 'MISS');
      t.equal(sourceOf(await rpc(call)), 'HIT');
      await step();
      const next = await rpc(call);
      t.equal(sourceOf(next), 'MISS', method);
      t.equal(slotOf(next), cluster.chain.slot('processed'));
    }
  });

  t.test('whatever the node does, no answer to the same call ever has an older slot', async (t) => {
    const world = await startStepped(t, { perSlot: 1, skipEvery: 7 });
    const { rpc, get, cluster } = world;
    const calls = ['processed', 'confirmed', 'finalized'].flatMap((commitment): Call[] => [
      { method: 'getSlot', params: [{ commitment }] },
      { method: 'getEpochInfo', params: [{ commitment }] },
      { method: 'getBlockHeight', params: [{ commitment }] },
      { method: 'getBalance', params: [wallet(0), { commitment }] },
      { method: 'getAccountInfo', params: [wallet(0), { commitment, encoding: 'base64' }] },
      { method: 'getLatestBlockhash', params: [{ commitment }] },
    ]);
    calls.push({ method: 'getHealth', params: [] }, { method: 'getVersion', params: [] });
    const newest = new Map<Call, number>();
    const read = async (call: Call): Promise<void> => {
      const got = await rpc<{ context?: { slot: number }; absoluteSlot?: number } | null>(call);
      if (got.status !== 200) return;
      const before = newest.get(call) ?? 0;
      const slot = slotOf(got);
      const inside = got.json.result?.context?.slot ?? got.json.result?.absoluteSlot ?? slot;
      if (inside !== slot) throw new Error(`${JSON.stringify(call)} has ${inside} under ${slot}`);
      if (slot < before) throw new Error(`${JSON.stringify(call)} went from ${before} back to ${slot}`);
      newest.set(call, slot);
    };
    const warm = (commitment: string) => Promise.all([get(`/balance/${wallet(0)}?commitment=${commitment}`)]);
    const { control } = cluster;
    const deed = fc.oneof(
      { weight: 4, arbitrary: fc.integer({ min: 1, max: 5 }).map((slots) => () => stand(world, slots * 400)) },
      { weight: 2, arbitrary: fc.integer({ min: -40, max: 0 }).map((slots) => () => control.skewSlots(slots)) },
      { weight: 1, arbitrary: fc.integer({ min: 0, max: 12 }).map((slots) => () => control.lagBehind(slots)) },
      { weight: 1, arbitrary: fc.integer({ min: 1, max: 4 }).map((calls) => () => control.failMinContextSlot(calls)) },
      { weight: 2, arbitrary: fc.constantFrom('confirmed', 'finalized').map((commitment) => () => warm(commitment)) },
      { weight: 6, arbitrary: fc.subarray(calls, { minLength: 1 }).map((some) => () => Promise.all(some.map(read))) },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(deed, { minLength: 5, maxLength: 30 }), async (deeds) => {
        for (const work of deeds) await work();
      }),
      { numRuns: 8, endOnFailure: true },
    );
    await waitFor(() => newest.size > 0);
    t.ok(newest.size === calls.length, 'all were answered at some time');
  });
});
