import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { type Address, address } from '@solana/web3.js';
import bs58 from 'bs58';
import t from 'tap';
import { verifyReceipt } from '../../src/client/verify/verify-receipt.ts';
import { COINS, DOLLAR, GOLD, POINTS, TOLL, TREASURY, WALLETS } from '../../src/localnet/traffic/demo-accounts.ts';
import { deriveKeypair } from '../../src/localnet/traffic/demo-keypair.ts';
import { PRICE_FEEDS, PYTH_PUSH_ORACLE } from '../../src/localnet/traffic/demo-price-feeds.ts';
import {
  METADATA_PROGRAM,
  STAKE_PROGRAM,
  SYSTEM_PROGRAM,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
} from '../../src/shared/domain/well-known-addresses.ts';
import { findMetadataAddress } from '../../src/transactions/accounts/metaplex-metadata-account.ts';
import {
  findAssociatedTokenAddress,
  findProgramAddress,
} from '../../src/transactions/accounts/program-derived-address.ts';
import { findPriceFeedAddress } from '../../src/transactions/accounts/pyth-price.ts';
import { encodeKey } from '../../src/transactions/codec/base58-key.ts';
import type { JsonAt } from '../support/answer-json.ts';
import { assertRefusedWithoutUpstream } from '../support/assert-documented.ts';
import {
  type HttpAnswer,
  type RequestOptions,
  type SteppedHarness,
  startStepped,
  waitFor,
} from '../support/harness.ts';
import { HOSTILE_NAMES } from '../support/hostile-names.ts';
import { accountReads, keepLive } from '../support/keep-live.ts';
import { pluck } from '../support/pluck.ts';
import { metadataFixture, mintFixture, tokenAccountFixture } from '../support/token-account-fixtures.ts';

t.test('balances', async (t) => {
  const WALLET = WALLETS[0].address;

  const unused = (byte: number): string => bs58.encode(Buffer.alloc(32, byte));

  const FORTY = [WALLET, ...Array.from({ length: 39 }, (_, i) => unused(i + 1))];

  const pathOf = (addresses: readonly string[], more = '') =>
    `/balances?addresses=${addresses.join('%2C')}${more}` as const;

  /** A world in which only the tests change balances, and no audit reads them. */
  const quiet = await startStepped(t, { set: ['live.auditMs=3600000'] });

  /** Addresses without an account that no other test of the quiet world uses. */
  const fresh = (first: number, count: number): readonly string[] =>
    Array.from({ length: count }, (_, i) => unused(first + i));

  const recorded = ({ cluster }: SteppedHarness, addresses: readonly string[], slot: number): readonly number[] =>
    addresses.map((address) => Number(cluster.chain.accountAt(address, slot)?.lamports ?? 0n));

  const lamportsIn = ({ json }: HttpAnswer<JsonAt<'/balances'>>): readonly number[] =>
    json.result.map(({ lamports }) => lamports);

  const setLamports = ({ cluster }: SteppedHarness, address: string, lamports: bigint): void =>
    cluster.chain.setAccount(address, { owner: SYSTEM_PROGRAM, executable: false, data: new Uint8Array(0), lamports });

  t.test('balances are in the order requested, at one slot, signed; 0 where there is no account', async (t) => {
    const { gateway, get } = quiet;
    const order = [unused(9), WALLET, WALLETS[1]?.address ?? ''];
    const { json, text, headers } = await get(`/balances?addresses=${order.join(',')}`);
    const [missing, ...others] = json.result;
    t.strictSame(missing, { address: order[0], lamports: 0, sol: '0' });
    const kinds = others.map(({ address, sol }) => [address, typeof sol]);
    t.strictSame(
      kinds,
      order.slice(1).map((address) => [address, 'string']),
    );
    t.strictSame(pluck(json.result, 'lamports'), recorded(quiet, order, json.slot));
    t.equal(headers.get('x-slot'), String(json.slot));
    t.match(json.receipt, { request: `GET /api/v1${pathOf(order)}`, claim: 'observed/1', commitment: 'confirmed' });
    const expected = { publicKeys: [gateway.publicKey], cluster: gateway.cluster };
    for (const comma of [',', '%2C', '%2c']) {
      const request = `GET ${gateway.url}/api/v1/balances?addresses=${order.join(comma)}`;
      t.equal(verifyReceipt(text, { ...expected, request }).slot, json.slot, `verified as pasted with ${comma}`);
    }
    const reversed = order.toReversed();
    t.throws(() => verifyReceipt(text, { ...expected, request: `GET /api/v1${pathOf(reversed)}` }), {
      code: 'request',
    });
    t.strictSame(lamportsIn(await get(pathOf(reversed))), lamportsIn(await get(pathOf(order))).toReversed());
    t.equal((await get(pathOf(order))).headers.get('x-cache'), 'HIT', 'every spelling is one request');
  });

  t.test('a finalized answer is exact', async (t) => {
    const world = quiet;
    await world.step(40, 4);
    const { json } = await world.get(pathOf([WALLET, unused(1)], '&commitment=finalized'));
    t.match(json.receipt, { claim: 'exact/1', commitment: 'finalized' });
    t.strictSame(pluck(json.result, 'lamports'), recorded(world, [WALLET, unused(1)], json.slot));
  });

  t.test('an answer is what the chain records at its slot, at each commitment (I1)', async (t) => {
    const world = await startStepped(t, { perSlot: 1 });
    const addresses = WALLETS.map(({ address }) => address).slice(0, 12);
    for (let i = 0; i < 25; i++) {
      for (const commitment of ['processed', 'confirmed', 'finalized'] as const) {
        const answer = await world.get(pathOf(addresses, `&commitment=${commitment}`));
        const { slot } = answer.json;
        t.strictSame(lamportsIn(answer), recorded(world, addresses, slot), `${commitment} at ${slot}`);
        t.ok(slot <= world.cluster.chain.slot(commitment));
      }
      await world.step();
    }
  });

  t.test('a miss of 40 is one call; forty live accounts cost none, and the slot advances (I2)', async (t) => {
    const world = quiet;
    const path = pathOf(FORTY, '&commitment=confirmed');
    const beforeMiss = await accountReads(world);
    t.equal((await world.get(path)).headers.get('x-cache'), 'MISS');
    t.equal(await accountReads(world), beforeMiss + 1);
    await keepLive(world, path);
    const before = await accountReads(world);
    const slots: number[] = [];
    for (let i = 0; i < 10; i++) {
      await world.step();
      const answer = await world.get(path);
      t.strictSame(lamportsIn(answer), recorded(world, FORTY, answer.json.slot));
      slots.push(answer.json.slot);
    }
    const [other = '', another = ''] = FORTY.toReversed();
    t.equal((await world.get(pathOf([other, WALLET, another]))).status, 200, 'other batches of these accounts');
    t.equal((await world.get(`/balance/${other}`)).status, 200, 'and single ones are live, too');
    t.equal(await accountReads(world), before, 'no upstream call at all');
    const [first = 0, last = 0] = [slots[0], slots.at(-1)];
    t.ok(last - first >= 7, `${slots}`);
  });

  t.test('after a change of one member the next answers have it, soon from memory again', async (t) => {
    const world = quiet;
    const addresses = fresh(60, 12);
    const path = pathOf(addresses);
    await keepLive(world, path);
    let newestSlot = 0;
    for (const lamports of [5n, 0n, 7n]) {
      setLamports(world, addresses[3] ?? '', lamports);
      for (let i = 0; i < 6; i++) {
        await world.step();
        const answer = await world.get(path);
        t.strictSame(lamportsIn(answer), recorded(world, addresses, answer.json.slot), `at ${answer.json.slot}`);
        t.ok(answer.json.slot >= newestSlot, 'never back (I7)');
        newestSlot = answer.json.slot;
      }
      t.equal(lamportsIn(await world.get(path))[3], Number(lamports));
      const before = await accountReads(world);
      await world.step();
      await world.get(path);
      t.equal(await accountReads(world), before);
    }
  });

  t.test('a change between two reads is answered from memory once its slot is known of all', async (t) => {
    const world = quiet;
    const addresses = fresh(80, 5);
    const path = pathOf(addresses);
    await keepLive(world, path);
    await world.step(3); // nobody reads: the entry is not hot
    setLamports(world, addresses[2] ?? '', 11n);
    const before = await accountReads(world);
    await world.step(5);
    const answer = await world.get(path);
    t.equal(lamportsIn(answer)[2], 11);
    t.strictSame(lamportsIn(answer), recorded(world, addresses, answer.json.slot));
    t.equal(await accountReads(world), before, 'rebuilt from memory');
  });

  t.test('X-Min-Slot gets an answer that is not older, or a refusal that no other caller shares', async (t) => {
    const world = quiet;
    const path = pathOf(fresh(90, 5));
    const atLeast = (slot: number, target = path) => world.get(target, { headers: { 'x-min-slot': String(slot) } });
    const first = await world.get(path);
    const { slot } = first.json;
    t.match(first.headers.get('vary'), /x-min-slot/i, 'nor does a shared cache give an older one');
    t.equal((await atLeast(slot)).headers.get('x-cache'), 'HIT');
    await world.step(4);
    t.ok((await atLeast(slot + 2)).json.slot >= slot + 2);
    t.match((await atLeast(slot + 1000)).json, { error: 'min_slot_not_reached' });
    const ahead = world.cluster.chain.slot('confirmed') + 1;
    const [mine, strangers] = [pathOf([unused(101), unused(102)]), pathOf([unused(103)])];
    const before = await accountReads(world);
    const pending = atLeast(ahead, strangers);
    t.equal((await world.get(mine)).status, 200, 'beside a read that no node can answer yet');
    await waitFor(async () => (await accountReads(world)) >= before + 2, 'both requests');
    while (world.cluster.chain.slot('confirmed') < ahead) await world.step();
    const { text, json } = await pending;
    t.ok(json.slot >= ahead, text);
  });

  t.test('If-None-Match gets a 304 while no balance has changed', async (t) => {
    const world = quiet;
    const addresses = fresh(110, 3);
    const path = pathOf(addresses);
    const { headers, json } = await world.get(path);
    await world.step(4);
    const unchanged = await world.get(path, { headers: { 'if-none-match': headers.get('etag') ?? '' } });
    t.equal(unchanged.status, 304);
    t.ok(Number(unchanged.headers.get('x-slot')) > json.slot);
    t.match(JSON.parse(unchanged.headers.get('x-receipt') ?? ''), { digest: json.receipt.digest });
    setLamports(world, addresses[1] ?? '', 3n);
    await world.step(4);
    t.equal((await world.get(path, { headers: { 'if-none-match': headers.get('etag') ?? '' } })).status, 200);
  });

  t.test('forty addresses of the greatest length fit; what is invalid is named', async (t) => {
    const { get } = quiet;
    const longest = Array.from({ length: 41 }, (_, i) => bs58.encode(Buffer.alloc(32, 0xff).fill(i, 31)));
    t.ok(longest.every(({ length }) => length === 44));
    t.equal((await get(pathOf(longest.slice(0, 40), '&commitment=finalized'))).json.result.length, 40);
    const refused = async (query: string, error: string, message: RegExp): Promise<void> => {
      const { status, json } = await get(`/balances${query}`);
      t.match([status, json.error], [400, error], query.slice(0, 60));
      t.match(json.message, message);
    };
    await refused('', 'invalid_query', /1 to 40 addresses/);
    await refused('?addresses=', 'invalid_query', /1 to 40 addresses/);
    await refused(`?addresses=${longest.join('%2C')}`, 'invalid_query', /1 to 40 addresses/);
    await refused(`?addresses=${WALLET},x`, 'invalid_address', /item 2 of addresses/);
    await refused(`?addresses=${WALLET},`, 'invalid_address', /item 2 of addresses/);
    await refused(`?addresses=${WALLET},+${unused(1)}`, 'invalid_address', /item 2 of addresses/);
    await refused(`?addresses=${WALLET}+${unused(1)}`, 'invalid_address', /item 1 of addresses/);
    await refused(
      `?addresses=${unused(1)},${WALLET},${unused(1)}`,
      'invalid_query',
      /item 3 of addresses repeats item 1/,
    );
    await refused(`?addresses=${WALLET}&addresses=${unused(1)}`, 'invalid_query', /repeated.*addresses=A,B$/);
    await refused(`?addresses=${WALLET}&commitment=max`, 'invalid_query', /commitment/);
    await refused(`?addresses=${WALLET}&limit=1`, 'invalid_query', /addresses, commitment/);
  });

  t.test('a hit costs one unit, a miss one for ten addresses, and what is not left costs nothing', async (t) => {
    const { get } = await startStepped(t, { set: ['limits.free.units=22'] });
    let left = 22;
    const costs = async (units: number, path: string, what: string, init: RequestOptions = {}): Promise<HttpAnswer> => {
      left -= units;
      const answer = await get(path, init);
      t.equal(Number(answer.headers.get('x-ratelimit-remaining')), left, what);
      return answer;
    };
    const nonce = { headers: { 'x-receipt-nonce': 'n0nce-of_16-char' } };
    const forty = pathOf(FORTY);
    await costs(1, pathOf(FORTY.slice(0, 10)), 'ten');
    await costs(2, pathOf(FORTY.slice(0, 11)), 'eleven');
    t.equal((await costs(4, forty, 'a miss')).headers.get('x-cache'), 'MISS');
    const { headers } = await costs(1, forty, 'a hit');
    t.equal(headers.get('x-cache'), 'HIT');
    await costs(1, forty.replaceAll('%2C', ','), 'a hit in another spelling');
    await costs(1, forty, 'HEAD', { method: 'HEAD' });
    t.equal((await costs(2, forty, 'a nonce', nonce)).json.receipt.nonce, 'n0nce-of_16-char');
    await costs(5, pathOf(FORTY.toReversed()), 'a miss with a nonce', nonce);
    const etag = { headers: { 'if-none-match': headers.get('etag') ?? '' } };
    t.equal((await costs(1, forty, 'a 304', etag)).status, 304);
    t.equal((await costs(1, `${forty}%2Cx`, 'what is invalid')).status, 400);
    await costs(2, pathOf(FORTY.slice(0, 20)), 'twenty');
    await costs(1, forty, 'the last');
    for (const init of [{}, nonce, etag, { method: 'HEAD' }])
      t.equal((await costs(0, forty, 'nothing is charged', init)).status, 429);
    t.equal(left, 0);
  });

  t.test('two hundred wallets that are kept live cost five units, however they are combined', async (t) => {
    const world = await startStepped(t, { set: ['live.auditMs=3600000', 'limits.free.units=100000'] });
    const wallets = Array.from({ length: 200 }, (_, i) => unused(i + 1));
    const pathsOf = (first: number): readonly string[] =>
      [0, 1, 2, 3, 4].map((i) =>
        pathOf(Array.from({ length: 40 }, (_, j) => wallets[(first + 40 * i + j) % 200] ?? '')),
      );
    const remaining = async (): Promise<number> =>
      Number((await world.get('/health')).headers.get('x-ratelimit-remaining'));
    const unitsOf = async (paths: readonly string[]): Promise<number> => {
      const before = await remaining();
      for (const path of paths) await world.get(path);
      return before - (await remaining());
    };
    t.equal(await unitsOf(pathsOf(0)), 20, 'none is live');
    for (const path of pathsOf(0)) await keepLive(world, path);
    t.equal(await unitsOf(pathsOf(0)), 5, 'hits');
    t.equal(await unitsOf(pathsOf(20)), 5, 'other calls of the same wallets: no address goes to a node');
  });

  t.test('when the session is lost the answer is immediately stale (I6)', async (t) => {
    const world = quiet;
    const path = pathOf(fresh(120, 3));
    await keepLive(world, path);
    const { slot } = (await world.get(path)).json;
    await world.cluster.control.delayResponses(2000);
    await world.cluster.control.dropWebSockets();
    await waitFor(async () => (await world.get(path)).headers.get('x-cache') === 'STALE', 'the loss');
    t.equal((await world.get(path)).json.slot, slot, 'claims what was proven, and no more');
  });
});

t.test('large-lists', async (t) => {
  const { get, cluster, node, step } = await startStepped(t);
  const MOST = 10_000;
  const ADDRESS = encodeKey(Buffer.alloc(32, 9));
  const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

  /** Number of owners used, so that no request hits the cache. */
  let owners = 0;
  const owner = () => '23456789A'.charAt(owners++).repeat(44);

  /** Returns an address by a number, in whose order they are: the last digits of one address. */
  const numbered = (i: number): string =>
    ADDRESS.slice(0, -3) + [3364, 58, 1].map((place) => BASE58[Math.floor(i / place) % 58]).join('');

  /** Returns token accounts of one owner as a node lists them; each has its number as amount. Default: all of one mint. */
  function listed(owner: string, from: number, count: number, mintOf?: (i: number) => string): string[] {
    const { data } = tokenAccountFixture(owner, 0, GOLD.mint.address);
    return Array.from({ length: count }, (_, i) => {
      data.writeBigUInt64LE(BigInt(from + i), 64);
      if (mintOf !== undefined) data.set(bs58.decode(mintOf(from + i)));
      const account = `"data":["${data.toString('base64')}","base64"],"executable":false,"lamports":2039280`;
      const program = `"owner":"${GOLD.program}","rentEpoch":18446744073709551615,"space":165`;
      return `{"account":{${account},${program}},"pubkey":"${numbered(from + i)}"}`;
    });
  }

  /** Sets the node's lists of the classic token program and of Token-2022. */
  function lists(classic: readonly string[], newer: readonly string[]): void {
    node.overrides.set('getTokenAccountsByOwner', ([, { programId, mint }]) => {
      const rows = programId === TOKEN_PROGRAM || mint !== undefined ? classic : newer;
      return { result: `{"context":{"slot":${cluster.chain.slot('confirmed')}},"value":[${rows}]}` };
    });
  }

  const tooLarge = async (target: string): Promise<void> => {
    const { status, json } = await get(target);
    t.strictSame([status, json.error], [413, 'result_too_large'], target.replace(/\d{44}/, 'owner'));
    t.same(Object.keys(json), ['error', 'message']);
  };

  t.test('ten thousand accounts are listed in order and summed, charged by the hundred, not read ahead', async (t) => {
    const holder = owner();
    lists(listed(holder, 0, MOST - 1), listed(holder, MOST - 1, 1));
    const { status, json, headers } = await get(`/token-accounts/${holder}`);
    t.equal(status, 200);
    const left = (from: Headers): number => Number(from.get('x-ratelimit-remaining'));
    const hit = await get(`/token-accounts/${holder}`);
    const bytesRead = 4; // MiB beyond the first
    const bytesSent = left(headers) - left(hit.headers); // 1 for the request, and its MiB
    const rows = MOST + 1; // its mint, too
    t.equal(
      Number(headers.get('x-ratelimit-limit')) - left(headers),
      bytesSent + Math.ceil(rows / 100) - 1 + 1 + bytesRead,
    );
    const reads = node.requestCounts.get('getTokenAccountsByOwner');
    await step(2);
    t.equal(node.requestCounts.get('getTokenAccountsByOwner'), reads, 'its next reader pays for it');
    const sorted = Array.from({ length: MOST }, (_, i) => numbered(i));
    t.ok(pluck(json.result, 'address').join() === sorted.join(), 'compared as text: t.same takes a second');
    const seventySeventh = numbered(77);
    t.equal(json.result.find(({ address }) => address === seventySeventh)?.tokenAmount.amount, '77');
    const portfolio = (await get(`/address/${holder}/portfolio`)).json.result;
    t.match(portfolio.items, [{ mint: GOLD.mint.address, accounts: MOST - 1, amount: `${(MOST * (MOST - 1)) / 2}` }]);
  });

  t.test("a portfolio and a list of one owner, read together, share the node's lists", async (t) => {
    const holder = owner();
    lists(listed(holder, 0, 3), []);
    const before = node.requestCounts.get('getTokenAccountsByOwner') ?? 0;
    const targets = [`/token-accounts/${holder}`, `/address/${holder}/portfolio`];
    const answers = await Promise.all(targets.map((target) => get(target)));
    t.same(pluck(answers, 'status'), [200, 200]);
    t.equal(node.requestCounts.get('getTokenAccountsByOwner'), before + 2, 'one of each token program');
  });

  t.test('a portfolio of a thousand tokens is valued; one more is refused, which is remembered', async (t) => {
    const [fitting, refused] = [owner(), owner()];
    lists(listed(fitting, 0, 1001, numbered), []); // one of them empty
    const { status, json } = await get(`/address/${fitting}/portfolio`);
    t.strictSame([status, json.result.items.length], [200, 1000]);
    lists(listed(refused, 1, 1001, numbered), []);
    const readJson = async (path: string, init?: RequestOptions): Promise<unknown> => (await get(path, init)).json;
    const message =
      'the address holds more than 1,000 different tokens, the most that are valued: list them with /token-accounts/OWNER, or those of one mint with ?mint=MINT';
    const refusal = { error: 'result_too_large', message };
    t.same(await readJson(`/address/${refused}/portfolio`), refusal);
    const before = new Map(node.requestCounts);
    const latest = { headers: { 'x-min-slot': String(cluster.chain.slot('confirmed')) } };
    t.same(await readJson(`/address/${refused}/portfolio`), refusal);
    t.same(await readJson(`/address/${refused}/portfolio`, latest), refusal);
    t.same(node.requestCounts, before, 'at no cost');
  });

  t.test('one more is too many: of both programs together, of one, of one mint', async () => {
    for (const [classic, newer] of [
      [MOST + 1, 0],
      [MOST, 1],
    ] as const) {
      const holder = owner();
      lists(listed(holder, 0, classic), listed(holder, MOST + 1, newer));
      await tooLarge(`/token-accounts/${holder}`);
      await tooLarge(`/address/${holder}/portfolio`);
      if (newer === 0) await tooLarge(`/token-accounts/${holder}?mint=${GOLD.mint.address}`);
    }
  });

  t.test('an answer of a node above the size limit is refused unread', async () => {
    const small = await startStepped(t, { set: ['upstreamPolicy.maxBytes=100000'] });
    const holder = owner();
    const rows = listed(holder, 0, 1000);
    small.node.overrides.set('getTokenAccountsByOwner', () => ({
      result: `{"context":{"slot":${small.cluster.chain.slot('confirmed')}},"value":[${rows}]}`,
    }));
    const { status, json } = await small.get(`/token-accounts/${holder}`);
    t.strictSame([status, json.error], [413, 'result_too_large']);
  });

  t.test('a block of five megabytes is read once, then it is a hit', async (t) => {
    const slot = cluster.chain.slot('finalized') - 1;
    const keys = Array.from({ length: 30 }, (_, i) => ({
      pubkey: numbered(i),
      signer: i === 0,
      writable: i < 20,
      source: 'transaction',
    }));
    const signature = (i: number): string =>
      bs58.encode(Buffer.concat([Buffer.alloc(60, 7), Buffer.from([9, 9, i >> 8, i])]));
    const meta = { err: null, fee: 5000, computeUnitsConsumed: 150, preBalances: [], postBalances: [] };
    const transactions = Array.from({ length: 1500 }, (_, i) => ({
      transaction: { signatures: [signature(i)], accountKeys: keys },
      meta: i % 10 === 0 ? { ...meta, err: 'AccountInUse' } : meta,
      version: 0,
    }));
    const block = {
      blockhash: numbered(1),
      previousBlockhash: numbered(2),
      parentSlot: slot - 1,
      blockHeight: 9,
      blockTime: 1_700_000_000,
      rewards: [{ pubkey: numbered(3), lamports: 3_750_000, postBalance: 1, rewardType: 'Fee', commission: null }],
      transactions,
    };
    const result = JSON.stringify(block);
    t.ok(result.length > 5_000_000, `${result.length} bytes`);
    node.overrides.set('getBlock', () => ({ result }));
    const first = await get(`/block/${slot}`);
    t.strictSame([first.status, first.headers.get('x-cache')], [200, 'MISS']);
    t.match(first.json.result.transactions, {
      count: 1500,
      failedCount: 150,
      feesLamports: 7_500_000,
      computeUnitsConsumed: 225_000,
    });
    t.equal(first.json.result.transactions.signatures.length, 50);
    const again = await get(`/block/${slot}`);
    t.strictSame([again.headers.get('x-cache'), again.text], ['HIT', first.text]);
    t.equal(node.requestCounts.get('getBlock'), 1);
  });

  t.test('what costs more than one unit is not read ahead: its next reader pays for it', async (t) => {
    const [dear, cheap] = [owner(), owner()];
    const reads = new Map<string, number>();
    node.overrides.set('getTokenAccountsByOwner', ([holder, { programId }]) => {
      reads.set(holder, (reads.get(holder) ?? 0) + 1);
      const rows = programId === TOKEN_PROGRAM ? listed(holder, 0, holder === dear ? 100 : 99) : []; // and their mint
      return { result: `{"context":{"slot":${cluster.chain.slot('confirmed')}},"value":[${rows}]}` };
    });
    for (const holder of [dear, cheap, dear, cheap]) await get(`/token-accounts/${holder}`);
    await step();
    await waitFor(() => (reads.get(cheap) ?? 0) > 2, 'the cheap one to be read ahead');
    t.equal(reads.get(dear), 2);
  });
});

t.test('nft', async (t) => {
  const mintNamed = (name: string): Address => address(findProgramAddress(TOKEN_PROGRAM, [name]));
  const picture = mintNamed('picture');
  const edition = mintNamed('edition');
  const [collector, other] = ['collector', 'other collector'].map((name) => deriveKeypair(name).address) as [
    Address,
    Address,
  ];

  // A price of one dollar is configured, which must not count for an NFT.
  const { get, cluster, node, step } = await startStepped(t, {
    set: ['prices.sources=["static"]', `prices.static=${JSON.stringify({ [picture]: 1, [edition]: 1 })}`],
  });
  const { chain } = cluster;

  function putHolding(mint: Address, owner: Address): Address {
    const at = address(findAssociatedTokenAddress(owner, mint, 'spl-token'));
    chain.setAccount(at, tokenAccountFixture(owner, 1, mint));
    return at;
  }

  /** Stores metadata in Metaplex's format without what comes after the first part. */
  function putMetadata(mint: Address, name: string, symbol: string): void {
    const padded = (text: string, size: number): Buffer => {
      const field = Buffer.alloc(4 + size);
      field.writeUInt32LE(size);
      field.write(text, 4);
      return field;
    };
    const texts = [padded(name, 32), padded(symbol, 10), padded('https://example.com/7.json', 200)];
    const data = Buffer.alloc(679);
    const royalties = Buffer.from([420 % 256, 420 >> 8, 1, 1, 0, 0, 0, ...bs58.decode(other), 1, 100]); // of one creator
    const flags = Buffer.from([1, 0]); // sold before, immutable
    Buffer.concat([Buffer.from([4]), bs58.decode(collector), bs58.decode(mint), ...texts, royalties, flags]).copy(data);
    const account = { lamports: 2_000_000n, owner: METADATA_PROGRAM, executable: false, data };
    chain.setAccount(address(findMetadataAddress(mint)), account);
  }

  chain.setAccount(picture, mintFixture(0, 1));
  putMetadata(picture, 'Picture #7', 'PIC');
  const held = putHolding(picture, collector);
  chain.setAccount(edition, mintFixture(0, 2));
  putHolding(edition, collector);
  putHolding(edition, other);
  await step(4);

  t.test('an indivisible mint with supply 1 is an NFT with the name from its Metaplex metadata', async (t) => {
    const { result } = (await get(`/token/${picture}`)).json;
    t.match(result, {
      isNft: true,
      decimals: 0,
      supply: '1',
      uiSupplyString: '1',
      metadata: {
        name: 'Picture #7',
        symbol: 'PIC',
        source: 'metaplex',
        updateAuthority: collector,
        isMutable: false,
        sellerFeeBasisPoints: 420,
        creators: [{ address: other, share: 100, verified: true }],
        primarySaleHappened: true,
      },
      owner: collector,
      holders: null,
    });
    t.equal((await get(`/token/${edition}`)).json.result.isNft, false, 'one of two is not one of a kind');
  });

  t.test('a portfolio names and counts an NFT and never values it', async (t) => {
    const { result } = (await get(`/address/${collector}/portfolio`)).json;
    const [valued, unvalued, ...rest] = result.items;
    t.same(rest, []);
    t.match(valued, { mint: edition, isNft: false, priceUsd: 1, valueUsd: 1, share: 1 });
    t.match(unvalued, { mint: picture, name: 'Picture #7', symbol: 'PIC', amount: '1', isNft: true });
    t.match(unvalued, { priceUsd: null, priceSource: null, valueUsd: null, share: null });
    t.match(result, { totalUsd: 1, pricedCount: 1, unpricedCount: 1 });
  });

  t.test('its only holder holds all of it', async (t) => {
    const { result } = (await get(`/token/${picture}/holders`)).json;
    t.match(result, { total: 1, hasMore: false, source: 'largest-accounts' });
    t.same(result.items, [
      { rank: 1, address: held, owner: collector, amount: '1', uiAmountString: '1', percentage: 100, label: null },
    ]);
  });

  t.test('the number of holders is shown once they were listed, without a scan for it', async (t) => {
    const { slot } = (await get(`/token/${picture}/holders?by=owner`)).json;
    await step(20, 4);
    t.match((await get(`/token/${picture}`)).json.result, { owner: collector, holders: { count: 1, slot } });
  });

  t.test('an NFT whose owner no node returns is shown, but not while that may pass', async (t) => {
    for (const [code, message, status, owner] of [
      [-32012, 'no', 200, null],
      [-32602, 'Invalid param: Token mint could not be unpacked', 200, null],
      [-32602, 'Invalid param: could not find mint', 503, undefined],
      [-32005, 'no', 503, undefined],
      [-32603, 'no', 502, undefined],
    ] as const) {
      node.overrides.set('getTokenLargestAccounts', () => ({ error: JSON.stringify({ code, message }) }));
      await step(20, 4);
      const got = await get(`/token/${picture}?commitment=${owner === null ? 'processed' : 'finalized'}`);
      t.strictSame([got.status, got.json.result?.owner], [status, owner]);
    }
    node.overrides.clear();
  });

  t.test('a search by its address finds the mint', async (t) => {
    const { result } = (await get(`/search?q=${picture}`)).json;
    t.match(result, { type: 'mint', path: `/api/v1/token/${picture}`, exists: true, kind: 'spl-token:mint' });
  });
});

t.test('portfolio', async (t) => {
  const NATIVE = 'So11111111111111111111111111111111111111112';
  const NOBODY = '4'.repeat(44);
  const wallet = WALLETS[0].address;

  /** The pair of Pyth's programs since August 2026. */
  const UPGRADED = {
    receiver: 'rec2HHDDnjLfj4kE7VyEtFA1HPGQLK33259532cRyHp',
    pushOracle: 'pyt2F414BA6dPttK6RddPZUdHfapoBN24GL5wbrPCou',
  };

  /** Price settings of a gateway over the embedded cluster. */
  const pyth = [`prices.sources=["pyth-onchain"]`, `prices.pyth.feeds=${JSON.stringify(PRICE_FEEDS)}`];

  t.test('with prices on chain', async (t) => {
    const world = await startStepped(t, { set: [...pyth, 'prices.maxStaleSec=600'] });
    const { get, cluster, clock, step } = world;

    const onChain = (mint: string): number => {
      const data = Buffer.from(
        cluster.chain.account(findPriceFeedAddress(PYTH_PUSH_ORACLE, PRICE_FEEDS[mint] ?? ''), 'confirmed')?.data ?? [],
      );
      return Number(data.readBigInt64LE(73)) / 1e8;
    };

    t.test("a mint's answer is complete", async (t) => {
      const wrapped = (await get('/token/So11111111111111111111111111111111111111112')).json.result;
      t.match(wrapped, { metadata: null, knownSymbol: 'SOL' }, 'the only name of a mint without metadata');
      const { json } = await get(`/token/${DOLLAR.mint.address}`);
      t.match(json.result, {
        mint: DOLLAR.mint.address,
        knownSymbol: null,
        program: 'spl-token',
        programId: DOLLAR.program,
        decimals: 6,
        mintAuthority: TREASURY.address,
        freezeAuthority: TREASURY.address,
        isInitialized: true,
        isNft: false,
        metadata: {
          name: 'Demo Dollar',
          symbol: 'DUSD',
          uri: DOLLAR.uri,
          source: 'metaplex',
          updateAuthority: TREASURY.address,
          isMutable: true,
          sellerFeeBasisPoints: 0,
          creators: null,
          collection: null,
          tokenStandard: 'Fungible',
          primarySaleHappened: false,
        },
        extensions: null,
        owner: null,
        holders: null,
        priceUsd: onChain(DOLLAR.mint.address),
        priceSource: 'pyth-onchain',
      });
      t.equal(
        json.result.uiSupplyString,
        `${BigInt(json.result.supply) / 1_000_000n}.${json.result.supply.slice(-6)}`.replace(/\.?0+$/, ''),
      );
      const toll = (await get(`/token/${TOLL.mint.address}`)).json.result;
      t.match(toll, { program: 'spl-token-2022', metadata: { name: 'Demo Toll', source: 'token-2022' } });
      t.same(pluck(toll.extensions, 'extension'), ['metadataPointer', 'transferFeeConfig', 'tokenMetadata']);
    });

    t.test('an address that is not a mint is refused with its kind', async (t) => {
      const nothing = await get(`/token/${NOBODY}`);
      t.same([nothing.status, nothing.json.error], [404, 'not_found']);
      const person = await get(`/token/${wallet}`);
      t.same([person.status, person.json.error], [404, 'not_a_mint']);
      t.match(person.json.message, 'its kind is system');
      const holding = await get(`/token/${cluster.setup.tokenAccountOf(DOLLAR, WALLETS[0])}`);
      t.match(holding.json.message, 'its kind is spl-token:account');
    });

    t.test('a mint that is not initialized has no holders, and an owner no accounts of it', async (t) => {
      const mint = bs58.encode(Buffer.alloc(32, 77));
      const bytes = { owner: DOLLAR.program, data: new Uint8Array(82), lamports: 1_461_600n, executable: false };
      cluster.chain.setAccount(mint, bytes);
      await step(3, 4);
      for (const path of ['', '?by=owner', '?page=2'] as const) {
        const { status, json } = await get(`/token/${mint}/holders${path}`);
        t.same([status, json.result?.total, json.result?.items], [200, 0, []], path);
      }
      const { status, json } = await get(`/token-accounts/${wallet}?mint=${mint}`);
      t.same([status, json.result], [200, []]);
    });

    t.test('all holdings of an address are valued, SOL first, then by value', async (t) => {
      const { json } = await get(`/address/${wallet}/portfolio`);
      const { result } = json;
      t.match(result, { owner: wallet, pricedCount: 5, unpricedCount: 0 });
      t.match(result.valuation, { currency: 'USD', source: 'pyth-onchain', maxAgeSec: 120, stale: false });
      t.same(pluck(result.items, 'symbol'), ['SOL', 'DGLD', 'DUSD', 'DTOL', 'DPTS']);
      for (const item of result.items) {
        t.equal(item.priceUsd, onChain(item.mint), item.symbol);
        t.match(item, { stale: false, verified: item.asset === 'SOL', suspicious: false });
        t.equal(item.valueUsd, Number((Number(item.uiAmountString) * item.priceUsd).toFixed(6)));
        t.ok(item.priceSlot > 0 && item.priceSlot <= cluster.chain.slot('confirmed'));
      }
      const sum = (member: 'valueUsd' | 'share') => result.items.reduce((sum, item) => sum + item[member], 0);
      t.ok(Math.abs(sum('valueUsd') - result.totalUsd) < 0.001);
      t.ok(Math.abs(sum('share') - 1) < 0.00001);
      t.equal(result.valuation.asOf, Math.min(...result.items.map(({ priceTime }) => priceTime)));
      t.match(json.receipt.claim, /^observed/);
    });

    t.test('prices change with the slots', async (t) => {
      const before = onChain(NATIVE);
      await step(40, 4);
      t.not(onChain(NATIVE), before);
      const { result } = (await get(`/address/${wallet}/portfolio`)).json;
      t.equal(result.items[0].priceUsd, onChain(NATIVE));
    });

    t.test('an empty address has no known value', async (t) => {
      const { result } = (await get(`/address/${NOBODY}/portfolio`)).json;
      t.match(result, { totalUsd: null, pricedCount: 0, unpricedCount: 0, items: [], valuation: { asOf: null } });
    });

    t.test("of a feed's accounts under both pairs of programs the newer price counts", async (t) => {
      const address = findPriceFeedAddress(UPGRADED.pushOracle, PRICE_FEEDS[NATIVE] ?? '');
      const old = cluster.chain.account(findPriceFeedAddress(PYTH_PUSH_ORACLE, PRICE_FEEDS[NATIVE] ?? ''), 'confirmed');
      const data = Buffer.from(old?.data ?? []);
      const post = async (publishTime: bigint) => {
        data.writeBigInt64LE(123_45000000n, 73);
        data.writeBigInt64LE(publishTime, 93);
        cluster.chain.setAccount(address, { lamports: 1n, owner: UPGRADED.receiver, executable: false, data });
        await step(8, 4);
        return (await get(`/address/${wallet}/portfolio`)).json.result.items[0].priceUsd;
      };
      t.equal(await post(data.readBigInt64LE(93) - 100n), onChain(NATIVE));
      t.equal(await post(BigInt(Math.floor(clock.now() / 1000)) + 60n), 123.45);
      cluster.chain.setAccount(address, {
        lamports: 0n,
        owner: SYSTEM_PROGRAM,
        executable: false,
        data: new Uint8Array(),
      });
      await step(8, 4);
    });

    t.test('the delegate of a token account is shown, a frozen one too', async (t) => {
      const owner = WALLETS[4]?.address ?? '';
      const [delegated, frozen] = ['7'.repeat(43), '8'.repeat(43)];
      const account = (amount: number) => tokenAccountFixture(owner, amount, DOLLAR.mint.address);
      const [withDelegate, inFreeze] = [account(70), account(30)];
      withDelegate.data.set([1, 0, 0, 0], 72);
      withDelegate.data.set(bs58.decode(NOBODY), 76);
      Buffer.from(withDelegate.data.buffer).writeBigUInt64LE(2n ** 64n - 1n, withDelegate.data.byteOffset + 121);
      inFreeze.data[108] = 2;
      cluster.chain.setAccount(delegated, withDelegate);
      cluster.chain.setAccount(frozen, inFreeze);
      await step(4, 4);
      const { result } = (await get(`/address/${owner}/portfolio`)).json;
      const item = result.items.find(({ mint }) => mint === DOLLAR.mint.address);
      t.equal(item?.accounts, 3);
      t.match(
        item?.tokenAccounts.filter(({ address }) => address === delegated || address === frozen),
        [
          { address: delegated, amount: '70', delegate: NOBODY, delegatedAmount: `${2n ** 64n - 1n}`, frozen: false },
          { address: frozen, amount: '30', delegate: null, delegatedAmount: '0', frozen: true },
        ],
      );
      t.same(result.items[0].tokenAccounts, [], 'SOL has none');
    });

    t.test('bad input is refused before any request to the cluster', async (t) => {
      const path = `/address/${wallet}/portfolio`;
      await assertRefusedWithoutUpstream(t, world, {
        invalid_address: ['/token/x', '/address/x/portfolio'],
        invalid_query: [`/token/${DOLLAR.mint.address}?commitment=x`, `${path}?stake=2`, `${path}?commitment=x`],
      });
    });

    t.test('a price that is old is shown as stale, and a much older one is not used', async (t) => {
      await cluster.control.pauseSlots();
      const published = clock.now() / 1000;
      clock.advance(121_000);
      await cluster.control.resumeSlots();
      const target = `/address/${WALLETS[3]?.address}/portfolio` as const;
      const { result } = (await get(target)).json;
      t.match(result, { pricedCount: 5, unpricedCount: 0, valuation: { stale: true, maxAgeSec: 120 } });
      t.ok(result.items.every(({ stale, priceUsd, valueUsd }) => stale && priceUsd > 0 && valueUsd > 0));
      t.ok(result.totalUsd > 0 && result.valuation.asOf <= published);
      t.match((await get(`/token/${GOLD.mint.address}`)).json.result, {
        priceStale: true,
        priceSource: 'pyth-onchain',
      });
      await cluster.control.pauseSlots();
      clock.advance(600_000);
      await cluster.control.resumeSlots();
      const later = (await get(`/address/${WALLETS[5]?.address}/portfolio`)).json.result;
      t.match(later, { totalUsd: null, pricedCount: 0, unpricedCount: 5, valuation: { stale: false, asOf: null } });
    });
  });

  t.test('without a price source all is counted and nothing is valued', async (t) => {
    const { get } = await startStepped(t);
    const { result } = (await get(`/address/${wallet}/portfolio`)).json;
    t.match(result, { totalUsd: null, pricedCount: 0, unpricedCount: 5, valuation: { source: 'none', asOf: null } });
    t.same(pluck(result.items.slice(1), 'mint'), COINS.map(({ mint }) => mint.address).toSorted());
    t.ok(
      result.items.every(({ priceUsd, valueUsd, share }) => priceUsd === null && valueUsd === null && share === null),
    );
  });

  t.test('sources are queried in order, each for the missing prices, and Jupiter with its key', async (t) => {
    const queried: string[][] = [];
    const keys = new Set<unknown>();
    const jupiter = { slot: 0, status: 200 };
    const service = createServer((request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? '', 'http://service');
      keys.add(request.headers['x-api-key']);
      response.statusCode = jupiter.status;
      if (pathname === '/tokens') return response.end(JSON.stringify([{ id: GOLD.mint.address, isVerified: true }]));
      queried.push(searchParams.get('ids')?.split(',') ?? []);
      return response.end(
        JSON.stringify({
          [GOLD.mint.address]: { usdPrice: 2, blockId: jupiter.slot },
          [POINTS.mint.address]: { usdPrice: 3, blockId: jupiter.slot - 1000 },
          [TOLL.mint.address]: null,
        }),
      );
    });
    await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
    t.teardown(() => service.close());
    const { port } = service.address() as AddressInfo; // it listens on TCP
    const state = t.testdir({ key: 'jup-secret\n' });
    const { get, cluster, step, logged } = await startStepped(t, {
      state,
      set: [
        'prices.sources=["jupiter-v3","static"]',
        `prices.static=${JSON.stringify({ [DOLLAR.mint.address]: 1, [NATIVE]: 100 })}`,
        `prices.jupiter.url=http://127.0.0.1:${port}/price/v3`,
        `prices.jupiter.tokensUrl=http://127.0.0.1:${port}/tokens`,
        `prices.jupiter.keyFile=${join(state, 'key')}`,
        `tokens.known=${JSON.stringify({ [TOLL.mint.address]: 'DUSD' })}`,
      ],
    });
    const { slot } = Object.assign(jupiter, { slot: cluster.chain.slot('processed') });
    const read = async () => (await get(`/address/${wallet}/portfolio`)).json.result;
    const result = await read();
    const byPrice = [[GOLD, POINTS, TOLL].map(({ mint }) => mint.address).toSorted()];
    const sortedMints = queried.map((mints) => mints.toSorted());
    t.same(sortedMints, byPrice);
    t.same([...keys], ['jup-secret']);
    t.equal(result.valuation.source, 'static');
    const bySymbol = (items: JsonAt<'/address/A/portfolio'>['result']['items']) =>
      Object.fromEntries(
        items.map((item) => [item.symbol, [item.priceUsd, item.priceSource, item.priceSlot, item.stale]]),
      );
    t.same(bySymbol(result.items), {
      SOL: [100, 'static', null, false],
      DUSD: [1, 'static', null, false],
      DGLD: [2, 'jupiter-v3', slot, false],
      DPTS: [3, 'jupiter-v3', slot - 1000, true],
      DTOL: [null, null, null, false],
    });
    const trust = Object.fromEntries(result.items.map((item) => [item.symbol, [item.verified, item.suspicious]]));
    const { DUSD, DGLD, DTOL } = trust;
    t.same({ DUSD, DGLD, DTOL }, { DUSD: [false, true], DGLD: [true, false], DTOL: [true, false] });

    jupiter.status = 429;
    await step(8, 4);
    t.match(await read(), { pricedCount: 4, items: result.items.slice(0, 1) }, 'a price is good for some seconds');
    t.equal(queried.length, 1);
    await step(8, 4);
    const limited = await read();
    t.match(limited, { pricedCount: 4, totalUsd: result.totalUsd, valuation: { stale: true } });
    t.same(bySymbol(limited.items), { ...bySymbol(result.items), DGLD: [2, 'jupiter-v3', slot, true] });
    t.ok(logged.some(({ fields }) => fields.source === 'jupiter-v3'));
    t.notMatch(JSON.stringify(logged.map(({ fields, message }) => [inspect(fields), message])), 'jup-secret');
  });

  t.test('stake accounts are listed by one scan, which is kept for a tenth of an epoch', async (t) => {
    const world = await startStepped(t, { set: pyth });
    const { get, cluster, node, step } = world;
    const { epoch } = (await get('/epoch')).json.result;
    const epochInfo = () => ({ epoch, slotIndex: 0, slotsInEpoch: 400, blockHeight: 1, transactionCount: 1 });
    node.overrides.set('getEpochInfo', () => ({
      result: JSON.stringify({ ...epochInfo(), absoluteSlot: cluster.chain.slot('confirmed') }),
    }));
    const stakeAccount = (
      lamports: bigint,
      [activation, deactivation]: readonly [bigint, bigint],
      withdrawer: string = wallet,
    ) => {
      const data = Buffer.alloc(200);
      data.writeUInt32LE(2, 0);
      data.writeBigUInt64LE(2_282_880n, 4);
      data.set(bs58.decode(withdrawer), 44);
      data.set(bs58.decode(NOBODY), 124);
      data.writeBigUInt64LE(lamports - 2_282_880n, 156);
      data.writeBigUInt64LE(activation, 164);
      data.writeBigUInt64LE(deactivation, 172);
      return { lamports, owner: STAKE_PROGRAM, executable: false, data };
    };
    const [now, never] = [BigInt(epoch), 2n ** 64n - 1n];
    const [large, ending, small] = ['5'.repeat(43), '6'.repeat(43), '7'.repeat(43)];
    cluster.chain.setAccount(large, stakeAccount(9_007_199_254_740_993n, [now, never]));
    cluster.chain.setAccount(ending, stakeAccount(5_000_000_000n, [0n, now]));
    cluster.chain.setAccount(small, stakeAccount(3_000_000_000n, [0n, 0n]));
    cluster.chain.setAccount('9'.repeat(43), stakeAccount(7_000_000_000n, [0n, never], NOBODY));
    await step(8, 4);
    const scans = () => node.requestCounts.get('getProgramAccounts') ?? 0;
    const target = `/address/${wallet}/portfolio` as const;
    const plain = await get(target);
    t.notOk('stake' in plain.json.result);
    t.equal(scans(), 0);
    const { text, json } = await get(`${target}?stake=1`);
    const { accounts, valueUsd, ...stake } = json.result.stake;
    t.same(
      accounts.map(({ address, state, delegatedLamports, lamports }) => [address, state, delegatedLamports, lamports]),
      [
        [large, 'activating', '9007199252458113', '9007199254740993'],
        [ending, 'deactivating', '4997717120', '5000000000'],
        [small, 'inactive', '0', '3000000000'],
      ],
    );
    t.match(accounts[1], { voter: NOBODY, activationEpoch: '0', deactivationEpoch: `${epoch}` });
    t.match(stake, { epoch, lamports: '9007207254740993', delegatedLamports: '9007204250175233' });
    const [sol] = json.result.items;
    const price = BigInt(Math.round(sol.priceUsd * 1e8));
    const micro = (9007207254740993n * price * 2n + 10n ** 11n) / (2n * 10n ** 11n);
    t.match(text, `"valueUsd":${micro / 1_000_000n}`, 'every digit');
    t.ok(valueUsd > 1e9);
    t.ok(Math.abs(json.result.totalUsd - plain.json.result.totalUsd) < 1000, 'stake is not part of the total');

    await step(36, 4);
    t.equal((await get(`${target}?stake=1`)).json.result.stake.slot, stake.slot);
    t.equal(scans(), 1);
    await step(12, 4);
    t.ok((await get(`${target}?stake=1`)).json.result.stake.slot > stake.slot);
    t.equal(scans(), 2);

    node.overrides.set('getProgramAccounts', () => ({
      error: '{"code":-32010,"message":"excluded from account secondary indexes"}',
    }));
    const other = `/address/${WALLETS[1].address}/portfolio?stake=1` as const;
    for (let i = 0; i < 2; i++) {
      const refused = (await get(other)).json.result;
      t.equal(refused.stake, null);
      t.equal(refused.pricedCount, 5);
      await step(8, 4);
    }
    t.equal(scans(), 3, 'a refusal is remembered');
  });

  t.test('a multiplier changes what is shown of an amount, not what it is worth', async (t) => {
    const mint = '3'.repeat(44);
    const { get, cluster, step } = await startStepped(t, {
      set: ['prices.sources=["static"]', `prices.static={"${mint}":10}`],
    });
    const data = Buffer.alloc(166 + 4 + 56);
    data.writeBigUInt64LE(1_000_000n, 36); // supply
    data[44] = 6;
    data[45] = 1;
    data[165] = 1; // a mint
    data.writeUInt16LE(25, 166); // scaledUiAmountConfig
    data.writeUInt16LE(56, 168);
    data.writeDoubleLE(3, 170 + 32);
    data.writeDoubleLE(3, 170 + 48);
    cluster.chain.setAccount(mint, { lamports: 1n, owner: TOKEN_2022_PROGRAM, executable: false, data });
    const account = { ...tokenAccountFixture(NOBODY, 1_000_000, mint), owner: TOKEN_2022_PROGRAM };
    cluster.chain.setAccount('8'.repeat(43), account);
    await step(4, 4);
    const { result } = (await get(`/address/${NOBODY}/portfolio`)).json;
    t.match(result, { totalUsd: 10, items: [{ amount: '1000000', uiAmountString: '3', priceUsd: 10, valueUsd: 10 }] });
  });
});

t.test('token-accounts', async (t) => {
  const world = await startStepped(t);
  const { get, cluster, step } = world;
  const { chain } = cluster;
  const wallet = WALLETS[0].address;
  const NOBODY = '4'.repeat(44);
  const NATIVE = 'So11111111111111111111111111111111111111112';

  /** Returns an address used only by this test. */
  const madeUp = (name: string) => address(findProgramAddress(TOKEN_PROGRAM, [name]));

  t.test('the accounts of both token programs are in one list, by mint and address', async (t) => {
    const { json } = await get(`/token-accounts/${wallet}`);
    t.same(pluck(json.result, 'mint'), COINS.map(({ mint }) => mint.address).toSorted());
    for (const row of json.result) {
      const coin = COINS.find(({ mint }) => mint.address === row.mint) ?? t.fail('a coin of the cast');
      if (typeof coin === 'boolean') continue;
      const stored = chain.account(row.address, 'confirmed');
      const amount = Buffer.from(stored?.data ?? []).readBigUInt64LE(64);
      t.match(row, {
        owner: wallet,
        programId: coin.program,
        state: 'initialized',
        isNative: false,
        isAssociated: true,
      });
      t.equal(row.lamports, Number(stored?.lamports));
      t.equal(row.tokenAmount.amount, `${amount}`);
      t.equal(row.tokenAmount.decimals, coin.decimals);
      t.equal(row.tokenAmount.uiAmountString, `${amount / 10n ** BigInt(coin.decimals)}`);
    }
    const byProgram = (program: string) => json.result.filter((row) => row.program === program);
    t.same(pluck(byProgram('spl-token'), 'extensions'), [null, null]);
    for (const { extensions } of byProgram('spl-token-2022')) {
      t.ok(extensions.some(({ extension }) => extension === 'immutableOwner'));
    }
  });

  t.test('?mint= returns the accounts of that mint under either program', async (t) => {
    const mint = DOLLAR.mint.address;
    const spare = madeUp('spare');
    const account = tokenAccountFixture(wallet, 18_446_744_073_709_551_615n, mint);
    chain.setAccount(spare, { ...account, lamports: 9_007_199_254_740_993n });
    await step(3);
    const got = await get(`/token-accounts/${wallet}?mint=${mint}`);
    const own = findAssociatedTokenAddress(wallet, mint, 'spl-token');
    const associated = got.json.result.map(({ address, isAssociated }) => [address, isAssociated]);
    t.same(
      associated,
      [
        [own, true],
        [spare, false],
      ].sort(),
    );
    t.match(got.text, '"amount":"18446744073709551615"');
    t.match(got.text, '"lamports":9007199254740993,"sol":"9007199.254740993"');
  });

  t.test('?mint= returns the accounts of a mint that was closed', async (t) => {
    const [mint, owner] = [madeUp('closed'), madeUp('closed owner')];
    chain.setAccount(madeUp('closed account'), tokenAccountFixture(owner, 0, mint, TOKEN_2022_PROGRAM));
    chain.setAccount(madeUp('other account'), tokenAccountFixture(owner, 1, DOLLAR.mint.address));
    await step(4);
    const { result } = (await get(`/token-accounts/${owner}?mint=${mint}`)).json;
    t.match(result, [{ address: madeUp('closed account'), mint, tokenAmount: { amount: '0', decimals: 0 } }]);
    t.equal(result.length, 1);
  });

  t.test('an owner without accounts and an address that is not a mint give an empty list', async (t) => {
    t.same((await get(`/token-accounts/${NOBODY}`)).json.result, []);
    t.same((await get(`/token-accounts/${wallet}?mint=${NOBODY}`)).json.result, []);
    t.same((await get(`/token-accounts/${wallet}?mint=${WALLETS[1]?.address}`)).json.result, []);
    t.same((await get(`/token-accounts/${wallet}?mint=${NATIVE}`)).json.result, []);
  });

  t.test('a list that was just read is observed, at finalized too', async (t) => {
    await step(40, 4); // above the first finalized slot that the gateway observed
    for (const commitment of ['processed', 'confirmed', 'finalized']) {
      const { json } = await get(`/token-accounts/${WALLETS[2]?.address}?commitment=${commitment}`);
      t.match(json.receipt.claim, /^observed/, commitment);
    }
  });

  t.test('amounts that depend on the Clock are returned as they are, and only as observed', async (t) => {
    const mint = madeUp('scaled');
    const data = Buffer.alloc(166 + 4 + 56);
    data[44] = 2; // decimals
    data[45] = 1;
    data[165] = 1; // a mint
    data.writeUInt16LE(25, 166); // a multiplier
    data.writeUInt16LE(56, 168);
    data.writeDoubleLE(3, 170 + 32);
    data.writeDoubleLE(3, 170 + 48);
    const owner = madeUp('scaled owner');
    chain.setAccount(mint, { lamports: 5_000_000n, owner: TOKEN_2022_PROGRAM, executable: false, data });
    chain.setAccount(madeUp('scaled account'), tokenAccountFixture(owner, 150, mint, TOKEN_2022_PROGRAM));
    await step(40, 4);
    const { json } = await get(`/token-accounts/${owner}?commitment=finalized`);
    t.match(json.result, [{ tokenAmount: { amount: '150', decimals: 2, uiAmount: 4.5, uiAmountString: '4.5' } }]);
    t.match(json.receipt.claim, /^observed/);
  });

  t.test('bad input is refused before any request to the cluster', async (t) => {
    await step();
    const path = `/token-accounts/${wallet}`;
    await assertRefusedWithoutUpstream(t, world, {
      invalid_address: ['/token-accounts/x', `${path}?mint=x`, `${path}?mint=`],
      invalid_query: [`${path}?commitment=max`, `${path}?page=1`],
    });
  });
});

t.test('token-names', async (t) => {
  const { get, cluster, step } = await startStepped(t);
  const { chain } = cluster;
  const [owner, other] = ['owner of names', 'owner of long names'].map((name) => deriveKeypair(name).address) as [
    Address,
    Address,
  ];

  /** Stores a token of an owner with these texts in its Metaplex account; returns its mint. */
  function putToken(seed: string, holder: Address, name: string, symbol: string, uri = ''): Address {
    const mint = address(findProgramAddress(TOKEN_PROGRAM, [seed]));
    chain.setAccount(mint, mintFixture(0, 100));
    const metadata = metadataFixture(mint, name, symbol, uri);
    chain.setAccount(address(findMetadataAddress(mint)), {
      ...metadata,
      owner: address(metadata.owner),
      executable: false,
    });
    const at = address(findAssociatedTokenAddress(holder, mint, 'spl-token'));
    chain.setAccount(at, tokenAccountFixture(holder, 5, mint));
    return mint;
  }

  const hostile = HOSTILE_NAMES;
  for (const [i, symbol] of hostile.entries()) putToken(`hostile ${i}`, owner, 'Something', symbol);
  const long = putToken('long', other, 'n'.repeat(200_000), '🐕'.repeat(200_000), 'u'.repeat(1024 * 1024));
  const whole = putToken('whole', other, 'n'.repeat(4096), '');
  await step(4);

  t.test('each of 64 hostile symbols is suspicious in a portfolio', async (t) => {
    const { items } = (await get(`/address/${owner}/portfolio`)).json.result;
    t.equal(items.length, hostile.length);
    const trusted = pluck(
      items.filter(({ suspicious, verified }) => !suspicious || verified),
      'symbol',
    );
    t.same(trusted, []);
  });

  t.test('a portfolio cuts the texts of a token, however long they are', async (t) => {
    const { json, text } = await get(`/address/${other}/portfolio`);
    const items = json.result.items.filter(({ mint }) => mint === long);
    t.match(items, [{ symbol: `${'🐕'.repeat(31)}…`, name: `${'n'.repeat(63)}…` }]);
    t.ok(text.length < 3500, `${text.length} bytes`);
  });

  t.test('a token has the whole texts, up to 4 KiB each', async (t) => {
    const { json, text } = await get(`/token/${long}`);
    t.same(
      [json.result.metadata.name, json.result.metadata.symbol, json.result.metadata.uri],
      [`${'n'.repeat(4093)}…`, `${'🐕'.repeat(1023)}…`, `${'u'.repeat(4093)}…`],
    );
    t.ok(text.length < 14 * 1024, `${text.length} bytes`);
    t.equal((await get(`/token/${whole}`)).json.result.metadata.name, 'n'.repeat(4096), 'what has 4 KiB is whole');
  });
});

t.test('holders', async (t) => {
  const world = await startStepped(t);
  const { get, cluster, node, step } = world;
  const { chain } = cluster;
  const NOBODY = '4'.repeat(44);
  const dollar = DOLLAR.mint.address;

  /** Returns the chain's confirmed holders in the documented order. */
  function expected(mint: string, program: string) {
    return chain
      .programAccounts(program, 'confirmed')
      .flatMap(([address, { data }]) => {
        const bytes = Buffer.from(data);
        if (bytes.length < 165 || bytes.length === 355 || bs58.encode(bytes.subarray(0, 32)) !== mint) return [];
        return [{ address, owner: bs58.encode(bytes.subarray(32, 64)), amount: bytes.readBigUInt64LE(64) }];
      })
      .filter(({ amount }) => amount > 0n)
      .sort((a, b) => (a.amount !== b.amount ? (a.amount > b.amount ? -1 : 1) : a.address < b.address ? -1 : 1))
      .map((row) => ({ ...row, amount: `${row.amount}` }));
  }

  const compareKeys = (a: string, b: string): number => Buffer.compare(bs58.decode(a), bs58.decode(b));
  const rows = (items: readonly { address: string; owner: string; amount: string }[]) =>
    items.map(({ address, owner, amount }) => ({ address, owner, amount }));
  const scans = async (): Promise<number> => node.requestCounts.get('getProgramAccounts') ?? 0;
  const requests = async () => (await cluster.control.requestCounts())['getProgramAccounts'] ?? 0;

  t.test('the first page needs no scan, and names the owners', async (t) => {
    const { json } = await get(`/token/${dollar}/holders`);
    const { result } = json;
    const all = expected(dollar, TOKEN_PROGRAM);
    t.match(result, { mint: dollar, decimals: 6, page: 1, pageSize: 20, total: null, hasMore: true });
    t.equal(result.source, 'largest-accounts');
    t.same(rows(result.items), all.slice(0, 20));
    t.same(
      pluck(result.items, 'rank'),
      Array.from({ length: 20 }, (_, i) => i + 1),
    );
    const [first] = result.items;
    t.equal(first.percentage, Number(((Number(first.amount) / Number(result.supply)) * 100).toFixed(6)));
    t.equal(await requests(), 0);
    t.match(json.receipt.claim, /^observed/);
  });

  t.test('further pages come from one scan, and so does the first page while the scan is cached', async (t) => {
    const all = expected(dollar, TOKEN_PROGRAM);
    const second = (await get(`/token/${dollar}/holders?page=2`)).json;
    t.match(second.result, { page: 2, total: all.length, hasMore: false, source: 'scan' });
    t.same(rows(second.result.items), all.slice(20));
    t.equal(second.result.items[0].rank, 21);
    const mintReads = async () => (await cluster.control.requestCounts())['getMultipleAccounts'] ?? 0;
    const before = await mintReads();
    const beyond = (await get(`/token/${dollar}/holders?page=999999999`)).json.result;
    t.match(beyond, { items: [], hasMore: false, total: all.length, supply: second.result.supply });
    t.equal(await mintReads(), before, 'the supply is that of the scan');
    await step(28, 4);
    const first = (await get(`/token/${dollar}/holders`)).json.result;
    t.equal(first.source, 'scan');
    t.same(rows(first.items), all.slice(0, 20));
    const newer = { headers: { 'x-min-slot': String(chain.slot('confirmed')) } };
    t.equal((await get(`/token/${dollar}/holders`, newer)).json.result.source, 'largest-accounts');
    await step(28, 4); // until that is read again, and the table is older than it
    t.equal((await get(`/token/${dollar}/holders`)).json.result.source, 'largest-accounts');
    t.equal((await get(`/token/${dollar}/holders`)).headers.get('x-cache'), 'HIT');
    t.equal(await requests(), 1);
    await step(124, 4); // a minute in all
    t.equal((await get(`/token/${dollar}/holders?page=1`)).json.result.source, 'largest-accounts');
  });

  t.test('by owner, the accounts of each are added up, from the same scan', async (t) => {
    const mint = dollar;
    const incinerator = '1nc1nerator11111111111111111111111111111111';
    const several: [string, bigint, string][] = ['one', 'two', 'three'].map((name, i) => [name, BigInt(i + 1), NOBODY]);
    for (const [name, amount, owner] of [...several, ['burned', 2n, incinerator] as const])
      chain.setAccount(
        address(findProgramAddress(TOKEN_PROGRAM, [name])),
        tokenAccountFixture(owner, Number(amount), mint, TOKEN_PROGRAM),
      );
    await step(40, 4);
    const before = await requests();
    const byAccount = [];
    for (const page of [2, 1, 3])
      byAccount.push(...(await get(`/token/${mint}/holders?page=${page}`)).json.result.items);
    const sums = new Map<string, { amount: bigint; accounts: number }>();
    for (const { owner, amount } of byAccount) {
      const sum = sums.get(owner) ?? { amount: 0n, accounts: 0 };
      sums.set(owner, { amount: sum.amount + BigInt(amount), accounts: sum.accounts + 1 });
    }
    const expectedOwners = [...sums]
      .map(([owner, { amount, accounts }]) => ({ owner, amount, accounts }))
      .sort((a, b) => (a.amount !== b.amount ? (a.amount > b.amount ? -1 : 1) : compareKeys(a.owner, b.owner)))
      .map((row, i) => ({ ...row, rank: i + 1, amount: `${row.amount}` }));
    const first = (await get(`/token/${mint}/holders?by=owner`)).json.result;
    const second = (await get(`/token/${mint}/holders?by=owner&page=2`)).json.result;
    t.match(first, { source: 'scan', total: expectedOwners.length, hasMore: true, page: 1 });
    t.match(second, { source: 'scan', total: expectedOwners.length, hasMore: false, page: 2 });
    const shown = [...first.items, ...second.items];
    const shownRows = shown.map(({ owner, amount, accounts, rank }) => ({ owner, amount, accounts, rank }));
    t.same(shownRows, expectedOwners);
    const nobody = shown.find(({ owner }) => owner === NOBODY);
    t.match(nobody, { amount: '6', accounts: 3, label: null });
    const incinerated = shown.find(({ owner }) => owner === incinerator);
    t.match(incinerated, { label: 'Incinerator (burned)' });
    const burned = byAccount.find(({ owner }) => owner === incinerator);
    t.match(burned, { label: 'Incinerator (burned)' });
    t.equal((await requests()) - before, 1);
    t.equal((await get(`/token/${mint}/holders?by=account`)).json.error, 'invalid_query');
  });

  t.test('Token-2022 accounts with extensions and without are in one list', async (t) => {
    const mint = POINTS.mint.address;
    const plain = address(findProgramAddress(TOKEN_2022_PROGRAM, ['plain']));
    chain.setAccount(plain, tokenAccountFixture(NOBODY, 7, mint, TOKEN_2022_PROGRAM));
    await step(4);
    const all = expected(mint, TOKEN_2022_PROGRAM);
    t.equal(all.at(-1)?.address, plain);
    const { result } = (await get(`/token/${mint}/holders?page=2`)).json;
    t.same(rows(result.items), all.slice(20));
    t.equal(result.total, WALLETS.length + 1);
  });

  t.test('a multisig whose signers look like a token account of the mint is no holder', async (t) => {
    const mint = POINTS.mint.address;
    const multisig = { lamports: 1n, owner: TOKEN_2022_PROGRAM, executable: false, data: Buffer.alloc(355, 9) };
    multisig.data.set(tokenAccountFixture(NOBODY, 999_999_999, mint, TOKEN_2022_PROGRAM).data);
    multisig.data[165] = 2; // as of an account with extensions
    chain.setAccount(address(findProgramAddress(TOKEN_2022_PROGRAM, ['multisig'])), multisig);
    await step(160, 4); // until the scan is forgotten
    const { result } = (await get(`/token/${mint}/holders?page=2`)).json;
    t.equal(result.total, WALLETS.length + 1);
    t.same(rows(result.items), expected(mint, TOKEN_2022_PROGRAM).slice(20));
  });

  t.test('an empty account among the largest ones proves that there are no other holders', async (t) => {
    const mint = address(findProgramAddress(TOKEN_PROGRAM, ['sold']));
    chain.setAccount(mint, mintFixture(0, 5));
    for (let i = 0; i < 21; i++) {
      const account = address(findProgramAddress(TOKEN_PROGRAM, [`sold ${i}`]));
      chain.setAccount(account, tokenAccountFixture(NOBODY, i === 7 ? 5 : 0, mint));
    }
    await step(4);
    const { result } = (await get(`/token/${mint}/holders`)).json;
    t.match(result, { source: 'largest-accounts', total: 1, hasMore: false, items: [{ amount: '5' }] });
  });

  t.test('a mint with few holders has one page', async (t) => {
    const { result } = (await get('/token/So11111111111111111111111111111111111111112/holders')).json;
    t.match(result, { total: 0, hasMore: false, items: [], supply: '0' });
  });

  t.test('a share of wrapped SOL, whose mint has no supply, is not known', async (t) => {
    const mint = 'So11111111111111111111111111111111111111112';
    chain.setAccount(address(findProgramAddress(TOKEN_PROGRAM, ['wrapped'])), tokenAccountFixture(NOBODY, 7, mint));
    await step(40, 4);
    const { result } = (await get(`/token/${mint}/holders`)).json;
    t.match(result, { supply: '0', items: [{ amount: '7', percentage: null }] });
  });

  t.test('an address that is not a mint has no holders', async (t) => {
    for (const page of ['', '?page=2']) {
      t.match((await get(`/token/${NOBODY}/holders${page}`)).json, { error: 'not_found' });
      t.match((await get(`/token/${WALLETS[0].address}/holders${page}`)).json, { error: 'not_a_mint' });
    }
  });

  t.test('bad input is refused before any request to the cluster', async (t) => {
    const pages = ['0', '-1', '1.5', 'x', '', '1e3', '9'.repeat(30)];
    await assertRefusedWithoutUpstream(t, world, {
      invalid_address: ['/token/x/holders'],
      invalid_page: [...pages, '1000000000'].map((page) => `/token/${dollar}/holders?page=${page}`),
      invalid_query: [`/token/${dollar}/holders?commitment=confirmed`],
    });
  });

  t.test('if no node lists the holders, the answer says so and nothing else', async (t) => {
    const mint = TOLL.mint.address; // with nothing cached
    const expectUnavailable = async (page: number): Promise<void> => {
      const { status, json, headers } = await get(`/token/${mint}/holders?page=${page}`);
      t.strictSame([status, json.error], [503, 'holders_unavailable'], `page ${page}`);
      t.equal(headers.get('retry-after'), '300', 'as long as the refusal is remembered');
      t.notMatch(json.message, 'secret');
    };
    for (const code of [-32010, -32012, -32601]) {
      const refusal = { error: `{"code":${code},"message":"secret: excluded from account secondary indexes"}` };
      node.overrides.set('getTokenLargestAccounts', () => refusal).set('getProgramAccounts', () => refusal);
      await expectUnavailable(1);
      await expectUnavailable(2);
      await step(4, 4);
    }
    const behind = { error: '{"code":-32602,"message":"Invalid param: could not find mint"}' };
    node.overrides.set('getTokenLargestAccounts', () => behind);
    const early = await get(`/token/${mint}/holders`);
    t.match([early.json.error, early.headers.get('retry-after')], ['upstream_unavailable', '1'], 'a moment behind');
    node.overrides.clear();
    t.equal((await get(`/token/${mint}/holders`)).status, 200, 'which is not remembered');
  });

  t.test('a mint that has too many holders is scanned once in minutes, whatever the page', async (t) => {
    node.overrides.set('getProgramAccounts', () => ({ result: `"${'x'.repeat(65 << 20)}"` }));
    const before = await scans();
    for (const page of [2, 3, 4]) {
      const { json } = await get(`/token/${GOLD.mint.address}/holders?page=${page}`);
      const message =
        'this mint has more holders than can be listed: request the first page by account, which needs no list';
      t.same(json, { error: 'holders_unavailable', message });
    }
    t.equal(await scans(), before + 1);
    node.overrides.clear();
    await step(40, 40);
    t.equal((await get(`/token/${GOLD.mint.address}/holders?page=2`)).status, 503);
  });

  t.test('after a failure of the node that may pass the caller may retry', async (t) => {
    const failures = [
      ['{"code":-32005,"message":"Node is behind by 42 slots"}', 503, 'upstream_unavailable'],
      ['{"code":-32603,"message":"Internal error"}', 502, 'upstream_error'],
    ] as const;
    for (const [error, expected, code] of failures) {
      node.overrides.set('getTokenLargestAccounts', () => ({ error }));
      const { status, json } = await get(`/token/${GOLD.mint.address}/holders`);
      t.strictSame([status, json.error], [expected, code]);
    }
    node.overrides.clear();
    await step(4, 4);
    t.equal((await get(`/token/${GOLD.mint.address}/holders`)).status, 200);
  });

  t.test("holders from before an earlier answer's slot are not returned", async (t) => {
    const target = `/token/${GOLD.mint.address}/holders`;
    const { slot } = (await get(target)).json;
    const rows = WALLETS.map((wallet) => ({ address: cluster.setup.tokenAccountOf(GOLD, wallet) }));
    const largestAt = (at: number) => ({ result: `{"context":{"slot":${at}},"value":${JSON.stringify(rows)}}` });
    node.overrides.set('getTokenLargestAccounts', () => largestAt(slot - 1));
    await step(40, 4);
    const { status, json, headers } = await get(target);
    t.strictSame([status, json.slot, headers.get('x-cache')], [200, slot, 'STALE']);
    node.overrides.clear();
    await step();
    t.ok((await get(target)).json.slot > slot);
  });
});
