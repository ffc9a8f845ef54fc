import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import bs58 from 'bs58';
import fc from 'fast-check';
import t from 'tap';
import { createClient } from '../../src/client/client.ts';
import { verifyReceipt } from '../../src/client/verify/verify-receipt.ts';
import { COINS, WALLETS } from '../../src/localnet/traffic/demo-accounts.ts';
import { WRAPPED_SOL } from '../../src/shared/domain/known-mints.ts';
import { TARGET_SLOT_MS } from '../../src/shared/domain/slot-time.ts';
import { CLOCK_SYSVAR } from '../../src/shared/domain/well-known-addresses.ts';
import { KNOWN_PROGRAMS } from '../../src/transactions/programs/known-programs.ts';
import { clockText } from '../support/clock-text.ts';
import {
  type SteppedHarness,
  startGateway,
  startGatewayOver,
  startStepped,
  untilIdle,
  waitFor,
} from '../support/harness.ts';
import { lastingPort } from '../support/lasting-port.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { pluck } from '../support/pluck.ts';
import { type RpcOverrideProxy, startRpcOverrideProxy } from '../support/rpc-override-proxy.ts';
import { rpcRequest } from '../support/rpc-request.ts';
import { SLOT_TIME_BOUNDS } from '../support/slot-times.ts';
import { startLiveCluster, startTestCluster } from '../support/test-cluster.ts';

t.test('upstream-faults', async (t) => {
  // The system clock, since the time of recovery for waiting callers is measured.
  const { url, wsUrl, control, close } = await startLiveCluster({
    slotMs: 200,
    transactionsPerSlot: 1,
    ...lastingPort(),
  });
  t.teardown(close);
  const { get, rpc, logged } = await startGateway(t, [`${url},${wsUrl}`], {
    set: ['upstreamPolicy.idleTimeoutMs=2000', 'upstreamPolicy.timeoutMs=1500'], // on a busy machine, too
  });

  const health = async () => {
    const { status, json } = await get('/health');
    return status === 200 ? json.result : { status: json.error, slot: 0, upstreams: [] };
  };
  const isOk = async (): Promise<boolean> => (await health()).status === 'ok';
  const slot = async (): Promise<number> => (await health()).slot;
  let cold = 0;
  const coldBalance = () => get(`/balance/${bs58.encode(Buffer.alloc(32, ++cold))}`);

  /** Longest time between two looks at the gateway that counts: more is spent by other programs of a busy machine. */
  const LONGEST_STEP_MS = 25;

  /** Breaks the connection, waits until health reports it, restores it, and measures the time until slots go on. */
  const faults: readonly [name: string, harm: () => Promise<void>, heal: () => Promise<void>][] = [
    ['cut', () => control.dropWebSockets(), async () => {}],
    ['closed politely', () => control.closeWebSockets(), async () => {}],
    ['silenced', () => control.silenceWebSockets(true), () => control.silenceWebSockets(false)],
    ['gone with its node', () => control.stopListening(), () => control.startListening()],
  ];

  for (const [name, harm, heal] of faults) {
    t.test(`a WebSocket that is ${name}: health says so, and slots go on within 3 s of its return`, async (t) => {
      await waitFor(isOk, 'good health');
      const seen: Awaited<ReturnType<typeof health>>[] = [];
      await harm();
      await waitFor(async () => {
        seen.push(await health());
        return seen.at(-1)?.status !== 'ok';
      }, 'bad health');
      t.equal(seen.at(-1)?.status, 'degraded');
      await heal();
      let [tookMs, lastMs] = [0, performance.now()];
      const until = (condition: () => Promise<boolean>, description: string) =>
        waitFor(() => {
          const nowMs = performance.now();
          tookMs += Math.min(nowMs - lastMs, LONGEST_STEP_MS);
          lastMs = nowMs;
          return condition();
        }, description);
      await until(isOk, 'good health again');
      const before = await slot();
      await until(async () => (await slot()) > before, 'a slot');
      t.ok(tookMs < 3000, `${Math.round(tookMs)} ms`);
      t.equal((await get('/slot')).headers.get('x-cache'), 'HIT');
    });
  }

  t.test('while the WebSocket is silent, slots are polled over HTTP', async (t) => {
    await control.silenceWebSockets(true);
    await waitFor(async () => (await health()).upstreams[0]?.ws === 'down', 'the loss');
    const before = await slot();
    await waitFor(async () => (await slot()) > before + 5, 'slots all the same');
    t.equal((await get('/slot')).headers.get('x-cache'), 'HIT');
    await control.silenceWebSockets(false);
    await waitFor(isOk, 'good health');
  });

  t.test('a rate-limiting node is left alone, and callers get the time of the pause', async (t) => {
    await control.rateLimit(1_000_000, 1); // more requests than the gateway sends
    const refused = await rpc({ method: 'getHealth' });
    await control.rateLimit(0);
    t.equal(refused.status, 503);
    t.equal(refused.json.error, 'upstream_unavailable');
    t.equal(refused.headers.get('retry-after'), '1');
    await waitFor(async () => (await coldBalance()).status === 200, 'an answer after the pause');
    await waitFor(isOk, 'good health');
  });

  t.test('a node that has not reached the slot: 503 with its code and Retry-After', async (t) => {
    await control.failMinContextSlot(1_000_000); // more reads than the gateway makes
    const got = await rpc({ method: 'getAccountInfo', params: [WALLETS[20]?.address] });
    await control.failMinContextSlot(0);
    t.equal(got.status, 503);
    t.equal(got.json.error, 'rpc_error');
    t.equal(got.headers.get('x-rpc-error-code'), '-32016');
    t.equal(got.headers.get('retry-after'), '1');
    t.equal((await rpc({ method: 'getAccountInfo', params: [WALLETS[20]?.address] })).status, 200, 'not remembered');
  });

  t.test('a node that answers too late: 504, and no caller waits longer', async (t) => {
    await control.delayResponses(10_000); // longer than the gateway waits
    const start = performance.now();
    const got = await coldBalance();
    t.equal(got.status, 504);
    t.equal(got.json.error, 'upstream_timeout');
    t.ok(performance.now() - start < 9000);
    await control.delayResponses(0);
    await waitFor(isOk, 'good health');
  });

  t.test('an unreachable node: 503 for what is not cached', async (t) => {
    await control.stopListening();
    const got = await coldBalance();
    t.equal(got.status, 503);
    t.equal(got.json.error, 'upstream_unavailable');
    t.notMatch(got.text, /127\.0\.0\.1|ECONN/);
    t.equal((await get('/epoch')).status, 200);
    await control.startListening();
    await waitFor(isOk, 'good health');
    t.match(
      logged.find(({ message }) => message.startsWith('the WebSocket')),
      { level: 'warn', fields: { node: 'node-1' }, message: `the WebSocket was closed with code 1006 (${wsUrl})` },
    );
  });
});

t.test('undecodable', async (t) => {
  const { get, cluster, node, logged, step } = await startStepped(t, { perSlot: 6 });
  await step(60, 4);
  t.beforeEach(() => node.overrides.clear());
  const [{ address }] = WALLETS;

  interface Changed {
    readonly transaction: { readonly message: { accountKeys: unknown; instructions: unknown[] } };
    readonly meta: Record<string, unknown>;
  }

  /** Has the node show a transaction otherwise than it was. */
  async function shown(signature: string, change: (record: Changed) => void): Promise<void> {
    const config = { encoding: 'jsonParsed', commitment: 'confirmed', maxSupportedTransactionVersion: 1 };
    const result = await rpcRequest<Changed>(cluster.url, 'getTransaction', [signature, config]);
    change(result);
    node.overrides.set('getTransaction', ([wanted]) =>
      wanted === signature ? { result: JSON.stringify(result) } : undefined,
    );
  }

  const misread = () => logged.filter(({ message }) => message.includes('could not be decoded'));
  const succeeded = () =>
    cluster.chain
      .transactionsOf(address)
      .filter(({ slot, error }) => error === null && slot <= cluster.chain.slot('confirmed'))
      .reverse();

  t.test('a record that cannot be read has no meaning, is served all the same, and is logged once', async (t) => {
    const [{ signature = '' } = {}] = succeeded();
    await shown(signature, (record) => {
      record.transaction.message.accountKeys = 7;
    });
    const { status, json } = await get(`/tx/${signature}?enhanced=1`);
    t.equal(status, 200);
    t.equal(json.result.enhanced, null);
    t.match(json.result.transaction, { message: { accountKeys: 7 } });
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
    const unmarked = (rows: readonly object[]) => rows.map((row) => ({ ...row, confirmationStatus: '' }));
    t.same(unmarked(page.rows), unmarked(rest.rows.slice(0, page.rows.length)));
  });

  t.test('what can be read and not be judged is UNKNOWN, with its facts, and logged', async (t) => {
    const unread = WALLETS.slice(1)
      .flatMap((wallet) => cluster.chain.transactionsOf(String(wallet.address)))
      .find(({ error, accountKeys }) => error === null && !accountKeys.includes(address)); // no page has had it
    const { signature = '', fee } = unread ?? {};
    await shown(signature, ({ transaction, meta }) => {
      // so short that it is decoded in this thread, which has the broken table
      transaction.message.accountKeys = [transaction.message.accountKeys].flat().slice(0, 3);
      transaction.message.instructions.length = 0;
      for (const name of ['preBalances', 'postBalances']) meta[name] = [meta[name]].flat().slice(0, 3);
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
});

t.test('inconsistent-reads', async (t) => {
  // Reads of one answer that are valid at different slots.

  const { get, cluster, node, step } = await startStepped(t);
  await step(40, 4); // above the first finalized slot that the gateway observed
  const TOKEN_2022 = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb';

  /** The Clock, which is read together with amounts: time 0. */
  const CLOCK = JSON.stringify({
    data: [Buffer.alloc(40).toString('base64'), 'base64'],
    executable: false,
    lamports: 1,
    owner: 'Sysvar1111111111111111111111111111111111111',
    rentEpoch: 0,
    space: 40,
  });

  /** Number of owners used, so that no request hits the cache. */
  let owners = 0;
  const owner = () => '2345678'.charAt(owners++).repeat(44);

  /** Makes the node return no accounts, at the slot of `slotOf`; returns the number of reads. */
  function nothingAt(slotOf: (read: number, programId: string | undefined) => number): () => number {
    let reads = 0;
    const context = (programId?: string) => `"context":{"slot":${slotOf(reads++, programId)}}`;
    node.overrides.set('getTokenAccountsByOwner', ([, { programId }]) => ({
      result: `{${context(programId)},"value":[]}`,
    }));
    node.overrides.set('getMultipleAccounts', ([keys]) => {
      const accounts = keys.map((key: string) => (key === CLOCK_SYSVAR ? CLOCK : 'null'));
      return { result: `{${context()},"value":[${accounts}]}` };
    });
    return () => reads;
  }

  t.afterEach(() => node.overrides.clear());

  t.test('both token programs are read again until their slots agree', async (t) => {
    const finalized = cluster.chain.slot('finalized');
    const reads = nothingAt((read, programId) => (read < 2 && programId !== TOKEN_2022 ? finalized - 1 : finalized));
    const { json } = await get(`/token-accounts/${owner()}?commitment=finalized`);
    t.equal(reads(), 4, 'two lists, twice');
    t.equal(json.slot, finalized);
    t.match(json.receipt.claim, /^observed/, 'what is closed just behind that slot may be missing');
  });

  t.test('a list that has not changed for long is complete', async (t) => {
    const [wallet] = WALLETS;
    const path = `/token-accounts/${wallet.address}?commitment=finalized` as const;
    for (let i = 0; i < 8; i++) {
      await get(path); // until it is live
      await step(2, 2);
    }
    const { json: young } = await get(`${path}&mint=${WRAPPED_SOL}`);
    t.match(young.receipt.claim, /^observed/);
    await step(80, 4);
    const read = () => get(`${path}&mint=${COINS[0]?.mint.address}`);
    let { json } = await read();
    for (let i = 0; i < 10 && !json.receipt.claim.startsWith('exact'); i++) {
      await step(2, 2); // on a busy machine it was not live in time
      ({ json } = await read());
    }
    t.equal(json.result.length, 1);
    t.match(json.receipt.claim, /^exact/);
  });

  t.test('an account that a node leaves out of a list is read by its address', async (t) => {
    const path = `/token-accounts/${WALLETS[3]?.address}?commitment=finalized` as const;
    const { json: before } = await get(path);
    t.ok(before.result.length > 0);
    await step(40, 4);
    let lists = 0;
    node.overrides.set('getTokenAccountsByOwner', () => {
      lists++;
      return { result: `{"context":{"slot":${cluster.chain.slot('finalized')}},"value":[]}` };
    });
    const { json } = await get(path);
    t.ok(lists > 0, 'it is not kept live');
    t.ok(json.slot > before.slot);
    t.same(json.result, before.result);
  });

  t.test('if the slots never agree, the oldest slot is returned with the claim observed', async (t) => {
    const from = cluster.chain.slot('finalized') - 20;
    const reads = nothingAt((read) => from + read);
    const { status, json } = await get(`/token-accounts/${owner()}?commitment=finalized`);
    t.equal(status, 200);
    t.same(json.result, []);
    t.equal(reads(), 10, 'two lists, five times');
    t.equal(json.slot, from + 8);
    t.match(json.receipt.claim, /^observed/);
  });

  t.test('a portfolio, too, has the slot of its oldest part', async (t) => {
    const from = cluster.chain.slot('confirmed') - 20;
    const reads = nothingAt((read) => from + read);
    const { status, json } = await get(`/address/${owner()}/portfolio`);
    t.equal(status, 200);
    t.match(json.result, { items: [], totalUsd: null });
    t.equal(reads(), 15, 'the balance and two lists, five times');
    t.equal(json.slot, from + 12);
    t.match(json.receipt.claim, /^observed/);
  });
});

t.test('lying-node', async (t) => {
  /** What a node answers to `getMultipleAccounts`. */
  interface Accounts {
    readonly result: { readonly context: { slot: number }; readonly value: { lamports: number }[] };
  }

  /** The false finalized accounts that the node returns. */
  let lie: ((answer: Accounts) => void) | undefined;

  /** Starts a proxy in front of a node that changes its responses. */
  async function liar(url: string): Promise<string> {
    const server = createServer((req, res) => {
      const pass = async (body: string): Promise<void> => {
        const answer = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
        const json = (await answer.json()) as Accounts;
        const { method, params } = JSON.parse(body);
        if (method === 'getMultipleAccounts' && params[1].commitment === 'finalized') lie?.(json);
        res.setHeader('content-type', 'application/json');
        res.end(JSON.stringify(json));
      };
      text(req)
        .then(pass)
        .catch(() => res.destroy()); // one of the sockets has closed
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    t.teardown(() => {
      server.closeAllConnections();
      server.close();
    });
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // it listens on a port
  }

  const { get, gateway, cluster, step, logged } = await startStepped(t, { perSlot: 1, proxyUrl: liar });
  const target = `/balance/${WALLETS[0].address}?commitment=finalized` as const;
  const conflicts = () => logged.filter(({ message }) => message === 'two results for one finalized slot');
  const proven = (body: string) =>
    verifyReceipt(body, {
      publicKeys: [gateway.publicKey],
      cluster: cluster.genesisHash,
      request: `GET /api/v1${target}`,
    });

  t.test('a node that changes a finalized result gets no second exact receipt for it', async (t) => {
    await step(40, 4); // beyond the first finalized slot that this process observed
    const truth = await get(target);
    t.equal(truth.json.receipt.claim, 'exact/1');
    lie = ({ result }) => {
      result.context.slot = truth.json.slot;
      for (const account of result.value) account.lamports += 1;
      result.value.splice(-1, 1, JSON.parse(clockText(truth.json.slot))); // the Clock agrees
    };
    let lied = truth;
    await waitFor(async () => {
      await step();
      lied = await get(target);
      return lied.text !== truth.text;
    }, 'the lie');
    t.equal(lied.json.slot, truth.json.slot);
    t.not(lied.json.result.lamports, truth.json.result.lamports, 'it is passed on');
    t.equal(proven(lied.text).receipt.claim, 'observed/1', 'but it is not signed as exact');
    t.ok(conflicts().length >= 1); // once per sealing
    t.match(conflicts()[0], {
      level: 'error',
      fields: { slot: truth.json.slot, signed: truth.json.receipt.digest, refused: lied.json.receipt.digest },
    });

    lie = undefined;
    await step(16, 4); // the false answer may be served while it is refreshed
    const again = await get(target);
    t.ok(again.json.slot > truth.json.slot);
    t.equal(proven(again.text).receipt.claim, 'exact/1');
  });
});

t.test('operators', async (t) => {
  const clock = new ManualClock();
  const cluster = await startTestCluster(clock, Buffer.alloc(32, 9), {
    transactionsPerSlot: 1,
    skipEvery: 0,
  });
  t.teardown(() => cluster.close());
  const nodes = await Promise.all([1, 2, 3].map(() => startRpcOverrideProxy(t, cluster.url)));
  const urls = nodes.map(({ url }) => `${url},${cluster.wsUrl}`);
  const world = await startGatewayOver(t, urls, clock, { set: ['receipts.sampleRate=0', 'admin.port=0'] });
  const { get, gateway, logged } = world;
  const step = async (slots: number, stride = 1): Promise<void> => {
    for (let i = 0; i < slots; i += stride) {
      clock.advance(TARGET_SLOT_MS * stride);
      const slot = cluster.chain.slot('processed');
      await waitFor(async () => (await get('/health')).json.result?.slot === slot, 'the slot');
    }
  };
  const calls = (method: string): number => nodes.reduce((sum, node) => sum + (node.requestCounts.get(method) ?? 0), 0);
  const receiptOf = (path: string, body: string, minAgreed: number) =>
    verifyReceipt(body, {
      publicKeys: [gateway.publicKey],
      cluster: cluster.genesisHash,
      request: `GET /api/v1${path}`,
      minAgreed,
    }).receipt;
  /** Lets a node change what it answers to a method. */
  const lie = (node: RpcOverrideProxy | undefined, method: string, change: (result: string) => string): void => {
    node?.overrides.set(method, async (params) => {
      return { result: change(JSON.stringify(await rpcRequest(cluster.url, method, params))) };
    });
  };
  const BUSY = '{"code":-32005,"message":"busy"}';
  const falseLamports = (result: string): string => result.replace(/"lamports":(\d+)/, '"lamports":7$1');
  const balanceOf = (at: number): string => `/balance/${WALLETS[at]?.address}`;
  await step(40); // beyond the first finalized slot that this process observed

  t.test('a finalized balance is exact when two operators gave it; a confirmed one is the word of one', async (t) => {
    const before = calls('getMultipleAccounts');
    const exact = await get(`${balanceOf(0)}?commitment=finalized`);
    t.equal(calls('getMultipleAccounts') - before, 2);
    t.match(receiptOf(`${balanceOf(0)}?commitment=finalized`, exact.text, 2), {
      v: 2,
      claim: 'exact/1',
      agreed: '2/2',
    });
    const confirmed = await get(balanceOf(0));
    t.equal(calls('getMultipleAccounts') - before, 3);
    t.match(receiptOf(balanceOf(0), confirmed.text, 1), { v: 2, claim: 'observed/1', agreed: '1/2', previous: null });
    t.throws(() => receiptOf(balanceOf(0), confirmed.text, 2), { code: 'agreed' });
    t.strictSame(pluck((await get('/health')).json.result.upstreams, 'operator'), ['node-1', 'node-2', 'node-3']);
  });

  t.test('a finalized transaction and block are immutable when two operators gave them', async (t) => {
    const finalized = cluster.chain.slot('finalized');
    const slots = cluster.chain.transactionsOf(WALLETS[0].address).map(({ slot }) => slot);
    const block = await get(`/block/${slots.filter((slot) => slot <= finalized).at(-1)}?commitment=finalized`);
    t.match(block.headers.get('cache-control'), /immutable/);
    t.match(block.json.receipt, { agreed: '2/2' });
    const before = calls('getTransaction');
    const tx = await get(`/tx/${block.json.result.transactions.signatures[0]}`);
    t.match(tx.headers.get('cache-control'), /immutable/);
    t.match(tx.json.receipt, { agreed: '2/2' });
    t.equal(calls('getTransaction') - before, 2);
  });

  t.test('a caller demands operators, by parameter or header', async (t) => {
    const path = `${balanceOf(3)}?agree=2`;
    const got = await get(path);
    t.match(receiptOf(path, got.text, 2), { agreed: '2/2', commitment: 'confirmed' });
    const plain = balanceOf(4);
    const before = calls('getMultipleAccounts');
    t.match((await get(plain)).json.receipt, { agreed: '1/2' });
    const demanding = { headers: { 'x-agree': '3' } };
    t.match((await get(plain, demanding)).json.receipt, { agreed: '3/3' });
    t.equal(calls('getMultipleAccounts') - before, 4);
    const again = await get(plain, demanding);
    t.equal(again.headers.get('x-cache'), 'HIT', 'a hit that has the agreement costs nothing more');
    const client = createClient({
      url: gateway.url,
      cluster: cluster.genesisHash,
      publicKey: gateway.publicKey,
      clock,
    });
    const read = await client.get('/balance/:addr', { addr: plain.slice('/balance/'.length) }, { agree: 3 });
    t.equal(read.receipt.agreed, '3/3', 'the SDK demands it');
    t.equal(calls('getMultipleAccounts') - before, 4);
    for (const bad of ['0', 'x', '4', '']) {
      const { status, json } = await get(`${balanceOf(0)}?agree=${bad}`);
      t.match([status, json.error, json.message], [400, 'invalid_query', /from 1 to 3/], bad);
    }
    for (const bad of ['2.0', '02', '0x2', '1.5', '+2', '2e0'])
      t.match(
        await get(plain, { headers: { 'x-agree': bad } }),
        { status: 400, json: { error: 'invalid_query' } },
        bad,
      );
    t.match((await get('/slot', demanding)).json, { error: 'invalid_query' });
    for (const node of nodes.slice(1)) node.overrides.set('getMultipleAccounts', () => ({ error: BUSY }));
    t.match(await get(`${balanceOf(5)}?agree=2`), { status: 503, json: { error: 'no_agreement' } });
    for (const node of nodes) node.overrides.clear();
    await step(96, 8); // their pauses end
  });

  t.test('a finalized account that is read often is exact at each slot: two sessions vouch for it', async (t) => {
    const path = `${balanceOf(6)}?commitment=finalized`;
    const slots: number[] = [];
    let before = 0;
    for (let i = 0; slots.length < 12; i++) {
      if (i === 300) throw new Error('it does not become exact at each slot');
      const { json, headers } = await get(path);
      const isVouchedFor = json.receipt.claim === 'exact/1' && json.receipt.agreed === '2/2';
      if (!isVouchedFor || headers.get('x-cache') !== 'HIT') slots.length = 0;
      else if (json.slot !== slots.at(-1)) slots.push(json.slot);
      if (slots.length === 1) before = calls('getMultipleAccounts');
      await step(1);
    }
    t.ok(calls('getMultipleAccounts') - before <= 2, 'no call is needed for it but those of audits');
  });

  t.test('where only one operator answers, nothing is exact or immutable, and it says so', async (t) => {
    for (const node of nodes.slice(1))
      for (const method of ['getMultipleAccounts', 'getBlock']) node.overrides.set(method, () => ({ error: BUSY }));
    const slot = (await get('/epoch?commitment=finalized')).json.result.absoluteSlot - 3;
    const block = await get(`/block/${slot}?commitment=finalized`);
    t.equal(block.headers.get('cache-control'), 'public, max-age=60');
    t.match(block.json.receipt, { claim: 'observed/2', agreed: '1/2' });
    const balance = await get(`${balanceOf(1)}?commitment=finalized`);
    t.match(balance.json.receipt, { claim: 'observed/1', agreed: '1/2' });
    for (const node of nodes) node.overrides.clear();
    await step(96, 8); // their pauses end
  });

  t.test('operators that have forgotten a transaction do not outvote one that has it', async (t) => {
    const [, ...forgetful] = nodes;
    const finalized = cluster.chain.slot('finalized');
    const [first, second] = cluster.chain.transactionsOf(WALLETS[1].address).filter(({ slot }) => slot <= finalized);
    for (const { overrides } of forgetful) overrides.set('getTransaction', () => ({ result: 'null' }));
    const tx = `/tx/${first?.signature}?commitment=finalized`;
    t.match((await get(tx)).json, { result: { signature: first?.signature }, receipt: { agreed: '1/2' } });
    t.match((await get(`${tx}&agree=2`)).json, { error: 'no_agreement' });
    for (const { overrides } of nodes.slice(0, 2)) overrides.set('getTransaction', () => ({ error: BUSY }));
    const gone = `/tx/${second?.signature}?commitment=finalized`;
    t.match((await get(gone)).json, { error: 'not_found' });
    t.match((await get(`${gone}&agree=2`)).json, { error: 'no_agreement' }, 'one alone says that there is none');
    for (const { overrides } of nodes) overrides.clear();
    await step(96, 8); // their pauses end
  });

  t.test('a block that one node lost, and no other could give, is not gone for good', async (t) => {
    const [jumped, ...busy] = nodes;
    const slot = cluster.chain.slot('finalized') - 3;
    jumped?.overrides.set('getBlock', () => ({ error: '{"code":-32007,"message":"skipped, or missing"}' }));
    for (const { overrides } of busy) overrides.set('getBlock', () => ({ error: BUSY }));
    t.match((await get(`/block/${slot}`)).json, { error: 'slot_skipped', message: /or they lost it/ });
    t.match((await get(`/block/${slot}?agree=2`)).json, { error: 'no_agreement' });
    for (const { overrides } of nodes) overrides.clear();
    await step(96, 8); // their pauses end
    t.match((await get(`/block/${slot}`)).json, { result: { slot } });
  });

  t.test('a node that lies is outvoted, named, refused the second time, and what it gave is dropped', async (t) => {
    const [liar, ...honest] = nodes;
    const [{ address: wallet }] = WALLETS;
    const finalized = cluster.chain.slot('finalized');
    const landed = cluster.chain.transactionsOf(wallet).filter(({ slot }) => slot <= finalized);
    const signature = landed.at(-1)?.signature;
    const paths = {
      holders: `/token/${COINS[0].mint.address}/holders?by=owner`,
      tx: `/tx/${signature}?commitment=finalized`,
      enhanced: `/tx/${signature}?enhanced=1`,
      history: `/address/${wallet}/history?type=transfers&limit=20&before=${signature}`,
      block: `/block/${landed.at(-1)?.slot}?signatures=all&commitment=finalized`,
    } as const;
    const changes = {
      getProgramAccounts: (result: string) => result.replace(/"value":\[.*\]/, '"value":[]'),
      getTransaction: (result: string) => result.replace(/"fee":\d+/, '"fee":7'),
      getBlock: (result: string) => result.replace(/"blockTime":\d+/, '"blockTime":7'),
    };
    const feesIn = (rows: readonly object[]): string =>
      [...new Set(rows.flatMap((row) => ('fee' in row && row.fee) || []))].join();
    const shown = async (): Promise<readonly unknown[]> => [
      (await get(paths.holders)).json.result?.items.length,
      Object((await get(paths.tx)).json.result?.meta).fee,
      Object((await get(paths.enhanced)).json.result?.meta).fee,
      feesIn((await get(paths.history)).json.result?.rows ?? []),
      (await get(paths.block)).json.result?.blockTime,
    ];
    for (const { overrides } of honest)
      for (const method of Object.keys(changes)) overrides.set(method, () => ({ error: BUSY }));
    for (const [method, change] of Object.entries(changes)) lie(liar, method, change);
    const lies = [0, 7, 7, '7', 7];
    t.strictSame(await shown(), lies, 'one node alone was read');
    for (const { overrides } of nodes) overrides.clear();
    await step(96, 8); // their pauses end
    t.strictSame(await shown(), lies, 'all of this is kept');

    const live = balanceOf(7);
    let past = 0;
    await waitFor(async () => {
      const { json } = await get(live);
      if ((await get(`${live}?slot=${past}`)).status === 200) return true;
      past = json.slot; // it is not live yet
      await step(1);
      return false;
    }, 'a past slot');
    const rows = async () => (await get('/network/history?step=slot&span=5m')).json.result.rows.length;
    t.ok((await rows()) > 0);

    lie(liar, 'getMultipleAccounts', falseLamports);
    const problems = async () => (await get('/health')).json.result.problems;
    const statusOf = async () => (await get('/health')).json.result.upstreams[0]?.status;
    t.strictSame(await problems(), []);
    for (let at = 2; (await statusOf()) !== 'down'; at++) {
      if (at === WALLETS.length) throw new Error('the liar is not refused');
      const path = `${balanceOf(at)}?commitment=finalized`;
      const got = await get(path);
      const params = [WALLETS[at]?.address, { commitment: 'finalized' }];
      const { value } = await rpcRequest<{ readonly value: number }>(cluster.url, 'getBalance', params);
      t.match(got.json.result, { lamports: value });
      t.match(receiptOf(path, got.text, 2).claim, 'exact/1');
      await step(1);
    }
    t.ok((await rows()) <= 1, 'rows of its figures are dropped');
    t.match((await get(`${live}?slot=${past}`)).json, { error: 'slot_not_kept' }, 'so are past values');
    for (const [i, truth] of (await shown()).entries()) t.not(truth, lies[i], `and ${Object.keys(paths)[i]}`);
    t.match(await problems(), [
      /^node-1 gave another value of an account at slot \d+ than two operators, with the digest \w{16} where theirs is \w{16}; since it did so twice within an hour, slotgate does not use it until slotgate is restarted$/,
    ]);
    const admin = await (await fetch(`${world.gateway.admin}/`)).text();
    t.equal(admin.match(/gave another value/g)?.length, 1, 'operators read of it once');
    const alarms = logged.filter(({ message }) => message === 'a node gave another value of a slot than two operators');
    t.equal(alarms.length, 2);
    t.match(alarms[0]?.fields, { node: 'node-1', digest: /^\w{64}$/, expected: /^\w{64}$/ });
    liar?.overrides.clear();
  });

  t.test('where two differ and no third decides, the answer is observed, and an alarm is raised', async (t) => {
    lie(nodes[1], 'getMultipleAccounts', falseLamports);
    const got = await get(`${balanceOf(0)}?commitment=finalized`);
    await step(2);
    const path = `/balances?addresses=${WALLETS[1]?.address}%2C${WALLETS[2]?.address}&commitment=finalized`;
    const both = await get(path);
    t.match(both.json.receipt, { claim: 'observed/1', agreed: '1/2' });
    t.match(got.status, 200);
    t.ok(logged.some(({ level, message }) => level === 'error' && /none of them has a majority/.test(message)));
    t.equal((await get('/health')).json.result.upstreams[1]?.status, 'ok');
  });
});

t.test('freshness', async (t) => {
  const address = (rank: number): string => WALLETS[rank]?.address ?? '';

  /** Advances the clock of gateway and cluster and lets pending work finish. */
  async function pass({ clock }: SteppedHarness, ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= 400) {
      clock.advance(Math.min(400, left));
      await sleep(4);
    }
  }

  const recovers = (world: SteppedHarness): Promise<void> =>
    waitFor(async () => {
      await pass(world, 400);
      return (await status(world)) === 'ok';
    }, 'good health');

  const status = async ({ get }: SteppedHarness): Promise<string> => {
    const { json } = await get('/health');
    return json.result?.status ?? json.error;
  };

  for (const slotMs of SLOT_TIME_BOUNDS) {
    t.test(
      `${slotMs} ms: an answer is a miss, then a hit, then refreshed; read continuously always a hit`,
      async (t) => {
        const world = await startStepped(t, { slotMs, set: ['live.accounts=0'] }); // a live account is always a hit
        const { get, step, cluster } = world;
        const balance = `/balance/${address(0)}`;
        const first = await get(balance);
        t.equal(first.headers.get('x-cache'), 'MISS');
        t.match(first.headers.get('server-timing'), /^upstream;dur=\d+\.\d$/);
        t.equal(first.headers.get('x-slot'), String(first.json.slot));
        t.equal(first.headers.get('cache-control'), 'no-cache');
        const second = await get(balance);
        t.equal(second.headers.get('x-cache'), 'HIT');
        t.equal(second.headers.get('server-timing'), null);
        t.equal(second.text, first.text, 'the same bytes, the same receipt');
        await step(4);
        const third = await get(balance);
        t.equal(third.headers.get('x-cache'), 'MISS');
        t.ok(cluster.chain.slot('confirmed') - third.json.slot <= 1);
        for (let i = 0; i < 6; i++) {
          const { headers, json } = await get(balance);
          t.equal(headers.get('x-cache'), 'HIT', 'read ahead of its reader');
          t.ok(cluster.chain.slot('confirmed') - json.slot <= 3);
          await step();
          await untilIdle(world, cluster); // it has been read ahead
        }
        for (const path of ['/health', '/pubkey']) t.equal((await get(path)).headers.get('x-cache'), 'BYPASS');
        for (const path of ['/slot', '/network', '/epoch']) t.equal((await get(path)).headers.get('x-cache'), 'HIT');
      },
    );
  }

  t.test('hundreds of callers of one uncached key cost one upstream call', async (t) => {
    const { get, rpc, cluster, clock } = await startStepped(t);
    await cluster.control.delayResponses(1);
    const calls = async (method: string) => (await cluster.control.requestCounts())[method] ?? 0;
    const unitsLeft = async () => Number((await get('/health')).headers.get('x-ratelimit-remaining'));
    const attempt = async (method: string, call: () => Promise<{ status: number; text: string }>) => {
      const [before, units] = [await calls(method), await unitsLeft()];
      let answered = false;
      const pending = Promise.all(Array.from({ length: 300 }, call)).finally(() => {
        answered = true;
      });
      await waitFor(async () => (await unitsLeft()) === units - 300, 'all requests'); // before the node answers
      await waitFor(() => {
        clock.advance(1);
        return answered;
      }, 'all answers');
      const answers = await pending;
      // a caller that comes once the answer is there may get a receipt of its own
      t.equal(new Set(answers.map(({ text }) => text.replace(/"receipt":.*/, ''))).size, 1, `${answers[0]?.text}`);
      t.ok(answers.every(({ status }) => status === 200));
      t.equal((await calls(method)) - before, 1, method);
    };
    await attempt('getMultipleAccounts', () => get(`/balance/${address(3)}`));
    await attempt('getTokenSupply', () =>
      rpc({ method: 'getTokenSupply', params: [cluster.setup.lookupTable.entries.at(-1)] }),
    );
  });

  for (const slotMs of SLOT_TIME_BOUNDS) {
    t.test(`${slotMs} ms: when reads fail, old answers are served as stale for a minute`, async (t) => {
      const world = await startStepped(t, { slotMs });
      const { get, cluster, clock, logged, step } = world;
      const target = `/balance/${address(1)}`;
      /** Advances by some time, a few slots at a time. */
      const stepThrough = (ms: number): Promise<void> => step(Math.round(ms / slotMs), Math.ceil(1600 / slotMs));
      const { json: known } = await get(target);
      t.equal(await status(world), 'ok');

      await cluster.control.rateLimit(1_000_000, 1);
      await stepThrough(1600);
      await waitFor(async () => (await status(world)) === 'degraded', 'degraded health');
      await step(2); // the next frame has it: two are at least 200 ms apart
      t.ok(logged.some(({ level, message }) => level === 'warn' && /a part of the pipeline failed/.test(message)));
      const stale = await get(target);
      t.equal(stale.status, 200);
      t.equal(stale.headers.get('x-cache'), 'STALE');
      t.equal(stale.headers.get('server-timing'), null);
      t.equal(stale.json.slot, known.slot, 'its slot is the old one');
      t.same(stale.json.result, known.result);
      t.equal((await get('/slot')).json.result, cluster.chain.slot('processed'), 'slots go on by WebSocket');
      t.equal((await get('/network')).json.result.health, 'degraded');
      t.equal((await get('/epoch')).status, 200);
      const cold = await get(`/balance/${address(2)}`);
      t.equal(cold.status, 503);
      t.equal(cold.json.error, 'upstream_unavailable');
      t.equal(cold.headers.get('retry-after'), '1');

      const provenMs = clock.now();
      await stepThrough(56_000);
      t.equal((await get(target)).headers.get('x-cache'), 'STALE', `${clock.now() - provenMs} ms later`);
      await stepThrough(6400);
      for (const path of [target, '/epoch', '/performance']) {
        const tooOld = await get(path);
        t.equal(tooOld.status, 503, path);
        t.equal(tooOld.json.error, 'stale');
        t.equal(tooOld.headers.get('retry-after'), '1');
        t.equal(tooOld.headers.get('x-cache'), null);
      }
      t.equal((await get('/slot')).status, 200);

      await cluster.control.rateLimit(0);
      await recovers(world);
      const isFresh = async (): Promise<boolean> => {
        await step(); // the node had rate-limited the gateway
        return /MISS|HIT/.test((await get(target)).headers.get('x-cache') ?? '');
      };
      await waitFor(isFresh, 'a fresh answer'); // a hit if it was refreshed in the background
      t.equal((await get('/epoch')).status, 200);
    });
  }

  for (const slotMs of SLOT_TIME_BOUNDS) {
    t.test(`${slotMs} ms: without new slots health is degraded, then down; until then nothing is fresh`, async (t) => {
      const world = await startStepped(t, { slotMs });
      const { get, cluster } = world;
      const target = `/epoch?commitment=processed`;
      await get(target);
      const slot = (await get('/slot')).json.result;
      await cluster.control.pauseSlots();
      await pass(world, 3200);
      t.equal(await status(world), 'degraded');
      const stale = await get('/slot');
      t.equal(stale.headers.get('x-cache'), 'STALE');
      t.equal(stale.json.result, slot);
      t.equal((await get('/network')).headers.get('x-cache'), 'STALE');

      await pass(world, 58_000);
      const down = await get('/health');
      t.equal(down.status, 503);
      t.equal(down.json.error, 'unhealthy');
      t.equal(down.headers.get('retry-after'), '1');
      for (const path of ['/slot', '/network', '/performance']) t.equal((await get(path)).json.error, 'stale', path);
      t.equal((await get(target)).headers.get('x-cache'), 'MISS', 'it is read from the node');

      await cluster.control.resumeSlots();
      await recovers(world);
      t.equal((await get('/slot')).headers.get('x-cache'), 'HIT');
      t.ok((await get('/slot')).json.result > slot);
    });
  }

  t.test('a stream frame reports degraded health when no new slot arrives', async (t) => {
    const world = await startStepped(t);
    const before = (await world.get('/network')).json.result;
    await world.cluster.control.pauseSlots();
    await pass(world, 5600);
    const { json } = await world.get('/network');
    t.equal(json.result.health, 'degraded');
    t.equal(json.slot, before.slot);
    t.ok(json.result.seq > before.seq);
  });

  for (const slotMs of SLOT_TIME_BOUNDS) {
    t.test(`${slotMs} ms: whatever the node does, no later answer to a request has an older slot`, async (t) => {
      const world = await startStepped(t, { slotMs, perSlot: 1, skipEvery: 7 });
      const { get, cluster } = world;
      const targets = ['processed', 'confirmed', 'finalized'].flatMap((commitment) => [
        `/balance/${address(0)}?commitment=${commitment}`,
        `/account/${address(0)}?commitment=${commitment}`,
        `/epoch?commitment=${commitment}`,
      ]);
      targets.push('/slot', '/network', '/epoch', '/performance', '/priority-fee');
      const newest = new Map<string, number>();
      let answers = 0;
      const read = async (target: string): Promise<void> => {
        const { status, json } = await get(target);
        if (status !== 200) return;
        answers++;
        const before = newest.get(target) ?? 0;
        if (json.slot < before) throw new Error(`${target} went from ${before} back to ${json.slot}`);
        newest.set(target, json.slot);
      };
      await Promise.all(targets.map(read));
      t.equal(newest.size, targets.length, 'all are answered before the first fault');
      const { control } = cluster;
      const deed = fc.oneof(
        { weight: 4, arbitrary: fc.integer({ min: 1, max: 5 }).map((slots) => () => pass(world, slots * slotMs)) },
        { weight: 2, arbitrary: fc.integer({ min: -40, max: 0 }).map((slots) => () => control.skewSlots(slots)) },
        { weight: 1, arbitrary: fc.integer({ min: 0, max: 12 }).map((slots) => () => control.lagBehind(slots)) },
        { weight: 1, arbitrary: fc.constant(() => control.fork()) },
        {
          weight: 1,
          arbitrary: fc.integer({ min: 1, max: 4 }).map((calls) => () => control.failMinContextSlot(calls)),
        },
        {
          weight: 6,
          arbitrary: fc.subarray(targets, { minLength: 1 }).map((some) => () => Promise.all(some.map(read))),
        },
      );
      await fc.assert(
        fc.asyncProperty(fc.array(deed, { minLength: 5, maxLength: 30 }), async (deeds) => {
          for (const work of deeds) await work();
        }),
        { numRuns: 4, endOnFailure: true },
      );
      t.ok(answers > 2 * targets.length, `${answers} answers, also under faults`);
    });
  }
});
