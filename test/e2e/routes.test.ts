import { once } from 'node:events';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { Unpackr } from 'msgpackr';
import t from 'tap';
import { WebSocket } from 'ws';
import { createClient } from '../../src/client/client.ts';
import type { NetworkHistoryRead } from '../../src/gateway/network-history/network-history.ts';
import { COINS, DOLLAR, NONCE, WALLETS, WHALE } from '../../src/localnet/traffic/demo-accounts.ts';
import { parseExactJson } from '../../src/shared/domain/parse-exact-json.ts';
import { CLOCK_SYSVAR, TOKEN_PROGRAM } from '../../src/shared/domain/well-known-addresses.ts';
import { startDigitProxy } from '../support/digit-proxy.ts';
import { type SteppedHarness, startStepped, waitFor } from '../support/harness.ts';
import { rpcRequest } from '../support/rpc-request.ts';

t.test('rest-routes', async (t) => {
  const world = await startStepped(t, { perSlot: 1 });
  const { get, rpc, cluster, clock, gateway, step } = world;
  await step(160, 4); // a minute, after which there is a performance sample

  const NOBODY = '4'.repeat(44);
  const wallet = WALLETS[0].address;
  const parsed = { encoding: 'jsonParsed' };

  const INTEGER = /^\d+$/;

  t.test('every answer matches the OpenAPI document', async (t) => {
    const document: { openapi: string; paths: object } = JSON.parse((await get('/openapi.json')).text);
    t.equal(document.openapi, '3.1.0');
    const ajv = new Ajv2020({ strict: false, formats: { int64: true } });
    ajv.addSchema(document, 'document');
    const schemaOf = (path: string, method = 'get', status = 200) => {
      const pointer = [path, method, 'responses', status, 'content', 'application/json', 'schema']
        .map((part) => String(part).replaceAll('~', '~0').replaceAll('/', '~1'))
        .join('/');
      return ajv.compile({ $ref: `document#/paths/${pointer}` });
    };
    const signature = cluster.chain.transactionsOf(wallet)[0]?.signature;
    const answers: readonly [path: string, ...targets: string[]][] = [
      ['/slot', '/slot'],
      ['/epoch', '/epoch', '/epoch?commitment=finalized'],
      ['/health', '/health'],
      ['/receipt-vectors.json', '/receipt-vectors.json'],
      ['/performance', '/performance'],
      ['/priority-fee', '/priority-fee'],
      ['/network', '/network'],
      [
        '/network/history',
        '/network/history',
        '/network/history?step=slot&span=5m',
        '/network/history?step=10&span=7d',
      ],
      ['/balance/{addr}', `/balance/${wallet}`, `/balance/${NOBODY}?commitment=processed`],
      ['/balances', `/balances?addresses=${wallet},${NOBODY}`],
      ['/account/{addr}', ...[wallet, NOBODY, CLOCK_SYSVAR, TOKEN_PROGRAM, NONCE.address].map((a) => `/account/${a}`)],
      ['/address/{addr}/history', `/address/${wallet}/history`, `/address/${wallet}/history?type=transfers`],
      ['/block/{slot}', `/block/${cluster.chain.slot('finalized')}`],
      ['/leaders/{slot}', `/leaders/${cluster.chain.slot('finalized')}`],
      ['/tx/{sig}', `/tx/${signature}`, `/tx/${signature}?enhanced=1`],
      ['/token-accounts/{owner}', `/token-accounts/${wallet}`, `/token-accounts/${NOBODY}?commitment=finalized`],
      ['/token/{mint}', ...COINS.map(({ mint }) => `/token/${mint.address}`)],
      ['/address/{addr}/portfolio', `/address/${wallet}/portfolio`, `/address/${NOBODY}/portfolio`],
      [
        '/token/{mint}/holders',
        `/token/${DOLLAR.mint.address}/holders`,
        `/token/${DOLLAR.mint.address}/holders?page=2`,
      ],
      ['/search', ...[wallet, DOLLAR.mint.address, '1000000', '5'.repeat(88)].map((q) => `/search?q=${q}`)],
      ['/pubkey', '/pubkey'],
    ];
    t.same(
      new Set(Object.keys(document.paths)),
      new Set([...answers.map(([path]) => path), '/rpc', '/explain', '/stream']),
      'all routes are in the document, and here',
    );
    for (const [path, ...targets] of answers) {
      const fits = schemaOf(path);
      for (const target of targets) {
        const { status, json } = await get(target);
        t.equal(status, 200, target);
        t.ok(fits(json), `${target} ${ajv.errorsText(fits.errors)}`);
      }
      t.notOk(fits({ result: 'something else' }), `${path} is described closely`);
    }
    t.ok(schemaOf('/rpc', 'post')((await rpc({ method: 'getSlot' })).json));
    const refusal = schemaOf('/balance/{addr}', 'get', 400);
    t.ok(refusal((await get('/balance/x')).json));
    t.notOk(refusal({ error: 'no_such_code', message: '' }));
  });

  t.test('/slot is the newest processed slot', async (t) => {
    const { json } = await get('/slot');
    t.equal(json.result, cluster.chain.slot('processed'));
    t.equal(json.slot, json.result);
    t.same(Object.keys(json), ['result', 'slot', 'receipt']);
  });

  t.test('/epoch has the names of getEpochInfo and three more', async (t) => {
    for (const commitment of ['processed', 'confirmed', 'finalized'] as const) {
      const { json } = await get(`/epoch?commitment=${commitment}`);
      const { chain } = cluster;
      const slot = chain.slot(commitment);
      const slotIndex = slot % 8192;
      t.equal(json.slot, slot);
      t.equal(json.receipt.commitment, commitment);
      const { estimatedEndTime, ...info } = json.result;
      t.same(info, {
        epoch: Math.floor(slot / 8192),
        slotIndex,
        slotsInEpoch: 8192,
        absoluteSlot: slot,
        blockHeight: chain.newestBlock(commitment)?.height,
        transactionCount: chain.newestBlock(commitment)?.transactionCount,
        epochProgress: Number((slotIndex / 8192).toFixed(6)),
        slotsRemaining: 8192 - slotIndex,
      });
      const remainingSec = estimatedEndTime - clock.now() / 1000;
      t.ok(Math.abs(remainingSec / ((8192 - slotIndex) * 0.4) - 1) < 0.2, `${remainingSec} s`); // slots are measured as they arrive
    }
  });

  t.test('/leaders names each leader with its first slot, and the slots without a schedule', async (t) => {
    const first = cluster.chain.slot('confirmed') + 50;
    const { json } = await get(`/leaders/${first}`);
    t.same(json.result, [{ slot: first, leader: cluster.chain.identity }]);
    t.equal(json.slot, cluster.chain.slot('confirmed'));
    const [a, b] = [WALLETS[0].address, WALLETS[1].address];
    const { node } = world;
    node.overrides.set('getSlotLeaders', () => ({
      result: JSON.stringify([a, ...Array(4).fill(b), ...Array(11).fill(a)]),
    }));
    const { json: mixed } = await get(`/leaders/${first + 1}`);
    t.same(mixed.result, [
      { slot: first + 1, leader: a },
      { slot: first + 2, leader: b },
      { slot: first + 6, leader: a },
    ]);
    node.overrides.set('getSlotLeaders', () => ({ result: JSON.stringify([a]) }));
    t.equal((await get(`/leaders/${first + 2}`)).status, 502, 'a node that leaves some out is not believed');
    node.overrides.delete('getSlotLeaders');
    const { slotIndex, absoluteSlot } = (await get('/epoch?commitment=confirmed')).json.result;
    const end = absoluteSlot - slotIndex + 2 * 8192;
    node.overrides.set('getEpochInfo', ([{ commitment }]) =>
      commitment === 'finalized' ? undefined : { error: '{"code":-32603,"message":"schedules follow the root"}' },
    );
    const last = await get(`/leaders/${end - 3}`);
    node.overrides.delete('getEpochInfo');
    t.same(last.json.result, [{ slot: end - 3, leader: cluster.chain.identity }], 'of the last slots that are known');
    t.match(await get(`/leaders/${end}`), { status: 404, json: { error: 'not_found' } });
    const later = await get(`/leaders/${first + 3 * 8192}`);
    t.match(later, { status: 404, json: { error: 'not_found' } });
  });

  t.test('/performance has rates beside the names of getRecentPerformanceSamples', async (t) => {
    const { json } = await get('/performance');
    t.ok(json.result.length >= 1);
    for (const row of json.result) {
      t.same(Object.keys(row), [
        'slot',
        'numTransactions',
        'numNonVoteTransactions',
        'numSlots',
        'samplePeriodSecs',
        'tps',
        'nonVoteTps',
        'slotTimeMs',
      ]);
      t.equal(row.tps, Number((row.numTransactions / row.samplePeriodSecs).toFixed(1)));
      t.equal(row.slotTimeMs, Number(((row.samplePeriodSecs * 1000) / row.numSlots).toFixed(1)));
    }
  });

  t.test('/priority-fee describes its sample', async (t) => {
    let fees: number[] = [];
    const zeroShare = (): number => Number((fees.filter((fee) => fee === 0).length / fees.length).toFixed(6));
    const sample = async () => (await get('/priority-fee')).json.result;
    const agree = async (): Promise<boolean> => {
      await step(4, 4); // it is refreshed each second
      const { json } = await rpc<{ prioritizationFee: number }[]>({
        method: 'getRecentPrioritizationFees',
        params: [[]],
      });
      fees = json.result.map((row) => row.prioritizationFee);
      return (await sample()).zeroShare === zeroShare();
    };
    await waitFor(agree, 'the sample of these blocks');
    const result = await sample();
    t.equal(result.unit, 'microLamportsPerComputeUnit');
    t.equal(result.method, 'min-per-slot');
    t.equal(result.slotsSampled, 150);
    t.equal(result.zeroShare, zeroShare());
    t.equal(result.priorityFeeEstimate, result.percentiles['50']);
    const { min, low, medium, high, veryHigh, unsafeMax } = result.priorityFeeLevels;
    t.same(
      [min, low, medium, high, veryHigh, unsafeMax],
      ['0', '25', '50', '75', '95', '100'].map((percent) => result.percentiles[percent]),
    );
    t.equal(unsafeMax, Math.max(...fees));
  });

  t.test('/network is a summary of the cluster, without a receipt', async (t) => {
    await step(); // the previous slots came in one window of the throttle
    const { text, json } = await get('/network');
    const { result } = json;
    t.same(Object.keys(json), ['result', 'slot']);
    t.equal(text, `{"result":${JSON.stringify(result)},"slot":${result.slot}}`);
    t.equal(result.slot, cluster.chain.slot('processed'));
    t.equal(result.epoch * 8192 + result.slotIndex, result.slot);
    t.equal(result.updatedAt, clock.now());
    t.equal(result.health, 'ok');
    t.equal(result.consensus, 'tower');
    const later = await step().then(() => get('/network'));
    t.equal(later.json.result.seq, result.seq + 1);
    t.equal(later.json.result.stream, result.stream);
  });

  t.test('/network/history has rows without gaps, as short as its span allows', async (t) => {
    const read = async (query: string) => {
      const { json } = await get(`/network/history${query}`);
      return json as unknown as { readonly slot: number; readonly result: NetworkHistoryRead };
    };
    const { result, slot } = await read('?step=slot&span=5m');
    t.match(result, { step: 'slot', span: '5m' });
    t.ok(result.rows.length > 50, `${result.rows.length} rows`);
    t.ok(
      result.rows.every((row) => row.slot <= slot),
      'none is newer than the answer',
    );
    for (const [i, row] of result.rows.slice(1).entries()) t.equal(row.slot - row.slots, result.rows[i]?.slot);
    const steps = ['?step=slot&span=1h', '?step=10&span=24h', '', '?span=24h', '?step=10&span=7d'];
    t.strictSame(await Promise.all(steps.map(async (query) => (await read(query)).result.step)), [10, 60, 60, 60, 600]);
    const [minute] = (await read('?step=60&span=1h')).result.rows;
    t.match(minute, { health: 'ok', consensus: 'tower', nodeVersion: null, slots: Number, skippedSlots: Number });
    t.equal((minute?.endedAt ?? 1) % 60_000, 0);
    for (const query of ['?step=1', '?step=600', '?span=1d', '?span='])
      t.match(await get(`/network/history${query}`), { status: 400, json: { error: 'invalid_query' } }, query);
  });

  t.test('/balance has every digit, and 0 for a missing account', async (t) => {
    const whale = await get(`/balance/${WHALE.address}`);
    t.match(whale.text, '{"result":{"lamports":9007199254740993,"sol":"9007199.254740993"},"slot":');
    t.same((await get(`/balance/${NOBODY}`)).json.result, { lamports: 0, sol: '0' });
  });

  t.test('/account has every digit, and null for a missing account', async (t) => {
    const whale = await get(`/account/${WHALE.address}`);
    t.ok(
      whale.text.startsWith(
        `{"result":{"address":"${WHALE.address}","kind":"system","lamports":9007199254740993,"sol":"9007199.254740993",` +
          `"owner":"11111111111111111111111111111111","executable":false,"rentEpoch":"18446744073709551615","space":0,` +
          `"data":["","base64"]},"slot":`,
      ),
      whale.text,
    );
    t.equal((await get(`/account/${NOBODY}`)).json.result, null);
  });

  t.test('/account names the kind of each account', async (t) => {
    const { tokenAccountOf, lookupTable } = cluster.setup;
    const kinds: Record<string, string> = {
      [wallet]: 'system',
      [CLOCK_SYSVAR]: 'sysvar',
      [NONCE.address]: 'nonce',
      [lookupTable.address]: 'address-lookup-table',
      [TOKEN_PROGRAM]: 'bpf-upgradeable-loader',
      '11111111111111111111111111111111': 'native-program',
    };
    for (const coin of COINS) {
      const program = coin.program === TOKEN_PROGRAM ? 'spl-token' : 'spl-token-2022';
      kinds[coin.mint.address] = `${program}:mint`;
      kinds[tokenAccountOf(coin, WALLETS[0])] = `${program}:account`;
    }
    for (const [address, kind] of Object.entries(kinds)) {
      const { result } = (await get(`/account/${address}`)).json;
      t.equal(result.kind, kind, address);
      t.equal(result.address, address);
    }
  });

  t.test('parsed data has sorted members and keeps its digits', async (t) => {
    const { text } = await get(`/account/${DOLLAR.mint.address}`);
    t.match(text, /"data":\{"parsed":\{"info":\{"decimals":6,"freezeAuthority":"[^"]+","isInitialized":true,/);
  });

  t.test('numbers beyond the range of a double pass through /rpc digit for digit, in every encoding', async (t) => {
    const address = WHALE.address;
    const lamports = '"lamports":9007199254740993';
    const rent = '"rentEpoch":18446744073709551615';
    t.match((await rpc({ method: 'getBalance', params: [address] })).text, /"value":9007199254740993\}\}$/);
    const encodings = [undefined, 'base58', 'base64', 'base64+zstd', 'jsonParsed'];
    for (const encoding of encodings) {
      const config = encoding === undefined ? [] : [{ encoding }];
      const one = await rpc({ method: 'getAccountInfo', params: [address, ...config] });
      t.match(one.text, lamports, `${encoding}`);
      t.match(one.text, rent);
      const two = await rpc({ method: 'getMultipleAccounts', params: [[address, address], ...config] });
      t.equal(two.text.split(lamports).length, 3, `${encoding} twice`);
      t.equal(two.text.split(rent).length, 3);
    }
  });

  t.test("a call through /rpc returns the node's exact bytes", async (t) => {
    await step(8); // answers cached by other tests have expired
    const { chain } = cluster;
    await step(3); // a cached answer may be a slot behind the node
    const signature = chain.transactionsOf(wallet).at(-1)?.signature;
    const calls: readonly [method: string, params?: unknown[]][] = [
      ['getAccountInfo', [wallet, parsed]],
      ['getMultipleAccounts', [[wallet, NOBODY], parsed]],
      ['getHealth'],
      ['getVersion'],
      ['getClusterNodes'],
      ['getBlockProduction'],
      ['getRecentPerformanceSamples', [3]],
      ['getRecentPrioritizationFees', [[]]],
      ['getTokenAccountsByOwner', [wallet, { programId: TOKEN_PROGRAM }, parsed]],
      ['getTokenAccountBalance', [cluster.setup.tokenAccountOf(DOLLAR, WALLETS[0])]],
      ['getTokenSupply', [DOLLAR.mint.address]],
      ['getTokenLargestAccounts', [DOLLAR.mint.address]],
      ['getBlock', [chain.slot('finalized'), { maxSupportedTransactionVersion: 0 }]],
      ['getBlockTime', [chain.slot('finalized')]],
      ['getBlockHeight'],
      ['getTransaction', [signature, { commitment: 'confirmed', maxSupportedTransactionVersion: 0 }]],
      ['getSignaturesForAddress', [wallet, { limit: 5 }]],
      ['getLatestBlockhash'],
      ['getSlot'],
      ['getEpochInfo'],
      ['getBalance', [wallet]],
    ];
    t.equal(new Set(calls.map(([method]) => method)).size, 21);
    for (const [method, params = []] of calls) {
      const result = await rpcRequest(cluster.url, method, params);
      const passed = await rpc({ method, params });
      t.equal(passed.status, 200, method);
      t.same(passed.json, { result }, method);
      t.equal(passed.headers.get('cache-control'), 'no-store');
      t.match(passed.headers.get('x-slot'), INTEGER);
      t.match(passed.headers.get('x-cache'), /^(MISS|HIT|BYPASS)$/);
    }
  });

  t.test('/pubkey returns the signing key', async (t) => {
    const { text, json, headers } = await get('/pubkey');
    t.equal(text, `{"publicKey":"${gateway.publicKey}","algorithm":"ed25519"}`);
    const { kid } = (await get('/slot')).json.receipt;
    t.same((await get(`/pubkey?kid=${kid}`)).json, json);
    t.match(headers.get('cache-control'), 'max-age');
    t.equal((await get('/pubkey?kid=0000000000000000')).json.error, 'unknown_key');
    t.equal((await get('/pubkey?kid=ABC')).json.error, 'invalid_query');
  });

  t.test('/health names the cluster, and no URL', async (t) => {
    const { json, text } = await get('/health');
    t.same(json, {
      result: {
        status: 'ok',
        cluster: cluster.genesisHash,
        slot: cluster.chain.slot('processed'),
        slotAgeMs: 0,
        behindSlots: null,
        upstreams: [
          {
            id: 'node-1',
            operator: 'node-1',
            status: 'ok',
            slot: cluster.chain.slot('processed'),
            behindSlots: 0,
            ws: 'up',
          },
        ],
        operators: null,
        cacheWarm: true,
        problems: [],
        embedded: null,
        geyser: null,
        version: json.result.version,
        engine: json.result.engine,
        uptimeSec: json.result.uptimeSec,
      },
    });
    t.match(json.result.version, /^\d+\.\d+\.\d+$/);
    t.match(json.result.engine, { name: /^(uws|uws-pack|node)$/, version: /^\d+\.\d+\.\d+$/ });
    t.notMatch(text, '127.0.0.1');
  });
});

t.test('large-integers', async (t) => {
  const COUNT = 18_446_744_073_709_551_615n; // 2^64 - 1
  const NON_VOTES = 9_007_199_254_740_993n; // 2^53 + 1, which no double holds
  const LARGE = {
    transactionCount: `${COUNT}`,
    numTransactions: `${COUNT}`,
    numNonVoteTransactions: `${NON_VOTES}`,
    samplePeriodSecs: '60',
    prioritizationFee: `${NON_VOTES}`,
    fee: `${COUNT}`,
  };

  const world: SteppedHarness = await startStepped(t, {
    perSlot: 1,
    proxyUrl: (url) => startDigitProxy(t, url, LARGE),
  });
  const { get, rpc, gateway, step } = world;

  interface Sample {
    readonly numTransactions: bigint;
    readonly tps: number;
    readonly samplePeriodSecs: number;
  }

  /** What the tests read of results, every digit. */
  interface ExactResult {
    readonly transactionCount: bigint;
    readonly priorityFeeLevels: { readonly unsafeMax: bigint };
    readonly transactions: { readonly count: number; readonly feesLamports: bigint };
  }

  /** Parses an answer whose result the document describes. */
  const exactResult = <R = ExactResult>(text: string): R => (parseExactJson(text) as { result: R }).result;

  const resultOf = async <R = ExactResult>(path: string): Promise<R> => {
    const { status, text } = await get(path);
    t.equal(status, 200, path);
    return exactResult<R>(text);
  };

  async function frameOf(query: string): Promise<Buffer> {
    const socket = new WebSocket(`${gateway.url.replace('http', 'ws')}/api/v1/stream${query}`);
    t.teardown(() => socket.terminate());
    const [data] = await once(socket, 'message');
    return data;
  }

  const hasFailed = ({ message }: { message: string }): boolean => message.startsWith('a part of the pipeline failed');

  t.test('a gateway over a node with counts beyond 2^53 starts, is healthy, and serves every digit', async (t) => {
    t.equal((await get('/health')).json.result.status, 'ok');
    t.equal((await resultOf('/epoch')).transactionCount, COUNT);
    for (const commitment of ['processed', 'confirmed', 'finalized'])
      t.equal((await resultOf(`/epoch?commitment=${commitment}`)).transactionCount, COUNT);
    t.equal((await resultOf('/network')).transactionCount, COUNT);
    await step(200, 20); // a sample a minute
    await waitFor(async () => (await resultOf<Sample[]>('/performance')).length > 0, 'a sample');
    const [sample] = await resultOf<[Sample]>('/performance');
    t.match(sample, { numTransactions: COUNT, numNonVoteTransactions: NON_VOTES });
    t.equal(Number(sample.tps), Number((Number(COUNT) / sample.samplePeriodSecs).toFixed(1)), 'a rate is a double');
    t.equal((await resultOf('/priority-fee')).priorityFeeLevels.unsafeMax, NON_VOTES);
    t.notOk(world.logged.some(hasFailed));
  });

  t.test('a block with such fees sums them', async (t) => {
    const { cluster } = world;
    await step(2);
    const newest = cluster.chain.slot('confirmed');
    const blocks = await Promise.all([0, 1, 2, 3, 4].map((back) => resultOf(`/block/${newest - back}`)));
    const { transactions } = blocks.find(({ transactions }) => transactions.count > 0) ?? {}; // some blocks are empty
    t.equal(transactions?.feesLamports, COUNT * BigInt(transactions?.count ?? 0));
  });

  t.test('/rpc passes them on, from its cache too', async (t) => {
    await get('/epoch');
    const call = { method: 'getEpochInfo', params: [{ commitment: 'confirmed' }] };
    const first = await rpc<object>(call);
    t.equal(exactResult(first.text).transactionCount, COUNT);
    t.equal(first.headers.get('x-cache'), 'HIT');
    t.same(Object.keys(first.json.result), [
      'absoluteSlot',
      'blockHeight',
      'epoch',
      'slotIndex',
      'slotsInEpoch',
      'transactionCount',
    ]);
    const samples = await rpc({ method: 'getRecentPerformanceSamples', params: [1] });
    t.equal(exactResult<[Sample]>(samples.text)[0].numTransactions, COUNT);
  });

  t.test('frames of the stream have every digit, also as MessagePack', async (t) => {
    const json = exactResult((await frameOf('')).toString());
    t.equal(json.transactionCount, COUNT);
    const unpackr = new Unpackr({ useRecords: false, int64AsType: 'bigint' });
    t.equal(unpackr.unpack(await frameOf('?format=msgpack')).result.transactionCount, COUNT);
  });

  t.test('the SDK reads them as bigint', async (t) => {
    const { publicKey, cluster } = gateway;
    const client = createClient({ url: gateway.url, publicKey, cluster, maxAgeMs: Number.POSITIVE_INFINITY });
    t.equal((await client.get('/epoch')).result.transactionCount, COUNT);
    t.equal((await client.get('/network')).result.transactionCount, COUNT);
  });

  t.test('a count that no u64 holds fails its read; a rate of any size is in the frames, which go on', async (t) => {
    await frameOf('?format=msgpack'); // its connection stays open
    Object.assign(LARGE, { transactionCount: `${COUNT + 1n}`, samplePeriodSecs: '1' });
    await step(200, 20);
    await waitFor(async () => {
      await step(1);
      return Number((await resultOf<Sample>('/network')).tps) === 2 ** 64;
    }, 'a sample');
    t.ok(world.logged.some(hasFailed));
    const unpackr = new Unpackr({ useRecords: false, int64AsType: 'bigint' });
    t.match(unpackr.unpack(await frameOf('?format=msgpack')).result, { tps: 2 ** 64, transactionCount: COUNT });
  });
});
