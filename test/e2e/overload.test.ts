import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { startEmbeddedCluster } from '../../src/localnet/embedded-cluster.ts';
import { WALLETS } from '../../src/localnet/traffic/demo-accounts.ts';
import { issueKey } from '../support/access/api-key-fixtures.ts';
import { GatewayProcess } from '../support/gateway-process.ts';
import {
  type HttpAnswer,
  type RequestOptions,
  type SteppedHarness,
  startStepped,
  waitFor,
} from '../support/harness.ts';
import { loopbackAddress, RawConnection } from '../support/raw-connection.ts';
import { KERNEL_BUFFER_BYTES, stallPeers } from '../support/stalled-peers.ts';
import { WebSocketPeer } from '../support/websocket-peer.ts';

t.test('overload', async (t) => {
  /** The requests that a connection may send in one piece. */
  const PIECE = 60;

  /** The connections that are reset in a flood: one in about fifty ended the process. */
  const RESETS = 400;

  const left = async (answer: Promise<HttpAnswer>): Promise<number> =>
    Number((await answer).headers.get('x-ratelimit-remaining'));

  /** Makes the node delay every account read until `release`; records the requests. */
  function hold({ node }: SteppedHarness) {
    let letGo = (): void => {};
    const held = new Promise<undefined>((resolve) => {
      letGo = () => resolve(undefined);
    });
    const queried: string[] = [];
    node.overrides.set('getMultipleAccounts', ([addresses]) => {
      queried.push(...addresses);
      return held;
    });
    return { queried, letGo };
  }

  const wallet = (n: number): string => WALLETS[n]?.address ?? '';

  t.test('a caller may have some reads running and the same number queued; the next is refused', async (t) => {
    const world = await startStepped(t, { set: ['limits.free.inFlight=2'] });
    const { get } = world;
    const { queried, letGo } = hold(world);
    const reads = Array.from({ length: 5 }, (_, n) => get(`/account/${wallet(n)}`));
    const refused = await Promise.race(reads);
    t.equal(refused.status, 503);
    t.equal(refused.json.error, 'overloaded');
    t.equal(refused.headers.get('retry-after'), '1');
    t.match(refused.headers.get('x-ratelimit-remaining'), /^\d+$/);
    await waitFor(() => queried.length === 2, 'two questions');
    t.equal((await get('/slot')).status, 200, 'what is in the cache is served');
    letGo();
    const statuses = (await Promise.all(reads)).map(({ status }) => status);
    t.same(statuses.toSorted(), [200, 200, 200, 200, 503]);
    t.equal(queried.length, 4);
  });

  t.test('requests for what is already being read share that read, however many they are', async (t) => {
    const world = await startStepped(t, { set: ['limits.free.inFlight=1'] });
    const { get } = world;
    const { queried, letGo } = hold(world);
    const all = await left(get('/health'));
    const reads = Array.from({ length: 30 }, () => get(`/account/${wallet(0)}`));
    await waitFor(async () => (await left(get('/health'))) === all - 30, 'that all have come');
    letGo();
    for (const { status } of await Promise.all(reads)) t.equal(status, 200);
    t.equal(queried.length, 1);
  });

  t.test('a scale key is served before earlier requests in the queue', async (t) => {
    const state = t.testdir();
    const key = await issueKey(state, { tier: 'scale' });
    const world = await startStepped(t, { state, set: ['limits.inFlight=1'] });
    const { get } = world;
    const paying = { headers: { 'x-api-key': key } };
    const { queried, letGo } = hold(world);
    const [all, allOfKey] = [await left(get('/health')), await left(get('/pubkey', paying))];
    let polls = 0;
    const reads = [get(`/account/${wallet(0)}`)];
    await waitFor(() => queried.length === 1, 'the first question');
    reads.push(get(`/account/${wallet(1)}`));
    await waitFor(async () => (await left(get('/health'))) === all - 2, 'the second');
    reads.push(get(`/account/${wallet(2)}`, paying));
    await waitFor(async () => (await left(get('/pubkey', paying))) === allOfKey - 1 - ++polls, 'the third');
    letGo();
    await Promise.all(reads);
    t.same(queried, [wallet(0), wallet(2), wallet(1)]);
  });

  t.test('calls of /rpc wait in the same queue', async (t) => {
    const world = await startStepped(t, { set: ['limits.inFlight=1', 'limits.queue=0'] });
    const { get, rpc } = world;
    const { queried, letGo } = hold(world);
    const read = get(`/account/${wallet(0)}`);
    await waitFor(() => queried.length === 1, 'the question');
    const refused = await rpc({ method: 'getBalance', params: [wallet(1)] });
    t.match([refused.status, refused.json.error], [503, 'overloaded']);
    letGo();
    t.equal((await read).status, 200);
    t.equal((await rpc({ method: 'getBalance', params: [wallet(1)] })).status, 200);
  });

  /** Starts a gateway that identifies callers by `X-Forwarded-For`; an address as a number. */
  async function startWithCallers(t: Test, set: readonly string[] = []) {
    const world = await startStepped(t, { set: ['trustedProxies=127.0.0.1', ...set] });
    const from = (caller: number, more: Record<string, string> = {}): RequestOptions => ({
      headers: { 'content-type': 'application/json', 'x-forwarded-for': `192.0.2.${caller}`, ...more },
    });
    return { ...world, from };
  }

  t.test('slow reads of one caller delay no other, nor the gateway itself', async (t) => {
    const { node, get, rpc, from, step } = await startWithCallers(t);
    const blocks: (() => void)[] = [];
    node.overrides.set('getBlock', () => new Promise((resolve) => blocks.push(() => resolve({ result: 'null' }))));
    const slow = Array.from({ length: 50 }, (_, n) => rpc({ method: 'getBlock', params: [n + 1] }, from(1)));
    await waitFor(() => blocks.length > 0, 'a block that is read');
    const statuses = await Promise.all(
      WALLETS.map(async ({ address }, n) => (await get(`/balance/${address}`, from(2 + n))).status),
    );
    t.same(new Set(statuses), new Set([200]));
    await step(3);
    t.equal((await get('/epoch')).headers.get('x-cache'), 'HIT');
    t.equal(blocks.length, 4, 'an eighth of the connections');
    for (let n = 0; n < 50; n++) {
      await waitFor(() => blocks.length > n, `block ${n}`);
      blocks[n]?.();
    }
    t.equal((await Promise.all(slow)).filter(({ status }) => status === 503).length, 0);
  });

  t.test('a request of one caller fails no read of another: a slot to come, an account too large', async (t) => {
    const { node, get, from, step, cluster } = await startWithCallers(t, ['upstreamPolicy.maxBytes=1000000']);
    const batches: number[] = [];
    const large = [wallet(8), wallet(9)];
    node.overrides.set('getMultipleAccounts', ([addresses, { encoding }]) => {
      batches.push(addresses.length);
      const isTooLarge =
        encoding === 'jsonParsed' &&
        addresses.length > 1 &&
        addresses.some((address: string) => large.includes(address));
      return isTooLarge ? { result: `"${'x'.repeat(1_000_000)}"` } : undefined;
    });
    const minSlot = `${cluster.chain.slot('confirmed') + 1}`;
    const early = get(`/balance/${wallet(9)}`, from(1, { 'x-min-slot': minSlot }));
    const balances = [0, 1, 2, 3].map((n) => get(`/balance/${wallet(n)}`, from(2 + n)));
    t.same(new Set((await Promise.all(balances)).map(({ status }) => status)), new Set([200]));
    await step(6);
    t.equal((await early).status, 200);
    const accounts = [4, 5, 8, 6, 9, 7].map((n) => get(`/account/${wallet(n)}`, from(2 + n)));
    t.same(new Set((await Promise.all(accounts)).map(({ status }) => status)), new Set([200]));
    t.ok(Math.max(...batches) > 1, 'they travelled together');
  });

  t.test('what a reader does not read is owed to it up to a limit, and a slow reader is closed', async (t) => {
    const bytes = KERNEL_BUFFER_BYTES + 1_500_000;
    const world = await startStepped(t, {
      set: [
        `limits.pendingBytes.caller=${bytes}`,
        `limits.pendingBytes.total=${3 * bytes}`,
        `limits.free.rpcBytes=${bytes}`,
      ],
    });
    const { gateway, node, clock, get, rpc } = world;
    const { engine } = (await get('/health')).json.result;
    const result = `"${'0123456789'.repeat(bytes / 10 - 1)}"`;
    node.overrides.set('getBlock', async () => ({ result }));
    const read = async (
      slot: number,
      { from = '127.0.0.2', connection = 'keep-alive' } = {},
    ): Promise<RawConnection> => {
      const reader = await RawConnection.open(gateway.url, from);
      t.teardown(() => reader.reset());
      const body = JSON.stringify({ method: 'getBlock', params: [slot] });
      reader.write(
        `POST /api/v1/rpc HTTP/1.1\r\nHost: a\r\nConnection: ${connection}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      );
      return reader;
    };
    const whole = `\r\n\r\n{"result":${result}}`;
    // the length first: to compare the texts costs as much as to receive them
    const isWhole = ({ text }: RawConnection): boolean => text.length > whole.length && text.endsWith(whole);

    const slow = await read(1);
    slow.socket.pause();
    const begun = await read(2, { from: '127.0.0.3' }); // pieces of the two take turns
    await waitFor(() => isWhole(begun), 'the whole answer for another caller');
    begun.write('GET /api/v1/health HTTP/1.1\r\nHost: a\r\n\r\n');
    await waitFor(() => begun.text.endsWith('}'), 'the next answer on its connection');
    const refused = await read(3);
    await waitFor(() => refused.text.includes('}'), 'the refusal');
    t.match(refused.text, /^HTTP\/1.1 503 .*"overloaded".* wait for you to read them/s);
    t.notOk(slow.closed);

    slow.socket.resume();
    await waitFor(() => isWhole(slow), 'the whole answer once it is read');
    const closing = await read(4, { connection: 'close' });
    await waitFor(() => closing.closed, 'the end');
    t.ok(isWhole(closing), 'the connection is closed behind the last byte');

    const stuck = await read(5);
    stuck.socket.pause();
    await waitFor(async () => (await readStatus(await read(6))) === '503', 'that its answer is owed');
    clock.advance(10_000); // it has received what the kernel keeps
    clock.advance(10_000); // and nothing since
    await waitFor(async () => (await readStatus(await read(7))) === '200', 'that nothing is owed');
    stuck.socket.resume();
    await waitFor(() => stuck.closed, 'the end of the slow reader');
    t.notOk(isWhole(stuck));

    node.overrides.set('getBlock', async () => ({ result: `"${'0'.repeat(bytes)}"` }));
    const tooLarge = await rpc({ method: 'getBlock', params: [8] });
    t.match([tooLarge.status, tooLarge.json.error], [413, 'result_too_large']);
    t.match(tooLarge.json.message, `your tier gets at most ${bytes}: request less, or use an API key`);
    node.overrides.set('getBlock', async () => ({ result }));

    // Short answers are kept for a reader that sends its requests together, and reads the answers later.
    const hits = Math.ceil((KERNEL_BUFFER_BYTES + 500_000) / 1000);
    const request = 'GET /api/v1/slot HTTP/1.1\r\nHost: a\r\n\r\n';
    const hasAll = ({ text }: RawConnection): boolean =>
      text.length > hits * 500 && text.split('"slot":').length > hits;
    /** Sends requests together, but no more in one piece than a turn has room for. */
    const pipe = async (from: string): Promise<RawConnection> => {
      const reader = await RawConnection.open(gateway.url, from);
      t.teardown(() => reader.reset());
      reader.socket.pause();
      for (let sent = 0; sent < hits; sent += PIECE) {
        reader.write(request.repeat(PIECE));
        await nextTurn();
        await nextTurn(); // the gateway runs in this process
      }
      return reader;
    };
    const left = async (): Promise<number> => {
      const health = await RawConnection.open(gateway.url, '127.0.0.4');
      health.write('GET /api/v1/health HTTP/1.1\r\nHost: a\r\n\r\n');
      await waitFor(() => health.text.endsWith('}'), 'health');
      health.reset();
      return Number(/x-ratelimit-remaining: (\d+)/i.exec(health.text)?.[1]);
    };
    const piped = await pipe('127.0.0.2');
    if (engine.name === 'node') {
      // node:http reads no further requests of a connection whose answers wait, so few of them are owed
      node.overrides.set('getBlock', async () => ({ result: `"${'0'.repeat(bytes - 1_000_000)}"` }));
      t.equal(await readStatus(await read(8)), '200', 'less than a megabyte is owed');
      piped.socket.resume();
      await waitFor(() => hasAll(piped), 'all answers');
      return;
    }
    await waitFor(async () => (await readStatus(await read(8))) === '503', 'that the answers wait');
    piped.socket.resume();
    await waitFor(() => hasAll(piped), 'all answers');

    // A caller that requests on and reads nothing is cut off, however slowly it requests.
    const hoarder = await pipe('127.0.0.4');
    await waitFor(
      async () => (await readStatus(await read(9, { from: '127.0.0.4' }))) === '503',
      'that its answers wait',
    );
    for (let i = 0; i < 7; i++) {
      clock.advance(10_000);
      hoarder.write(request);
      await waitFor(async () => (await left()) === 999_999, 'that its next request is counted');
    }
    hoarder.socket.resume();
    await waitFor(() => hoarder.closed, 'the end of the connection');
  });

  t.test('unread answers without a body end in a closed connection, and count for a second at most', async (t) => {
    const set = ['limits.pendingBytes.caller=65536', 'limits.pendingBytes.total=131072'];
    const { gateway, clock, get } = await startStepped(t, { set });
    const target = `/balance/${wallet(0)}`;
    const etag = (await get(target)).headers.get('etag');
    /** Sends requests one after the other on one connection; returns how many were answered until it was closed. */
    const sendAll = async (request: string, from: string, most: number): Promise<number> => {
      const connection = await RawConnection.open(gateway.url, from);
      t.teardown(() => connection.reset());
      const answered = (): number => connection.text.split('HTTP/1.1 ').length - 1;
      for (let i = 1; i <= most && !connection.closed; i++) {
        connection.write(`${request}\r\nHost: a\r\n\r\n`);
        await waitFor(() => answered() === i && connection.text.endsWith('\r\n\r\n'), 'an answer');
        if (/^connection: close/im.test(connection.text)) await waitFor(() => connection.closed, 'the end');
      }
      return answered();
    };
    const counted = Math.floor(65_536 / (8 * 800)); // the harness has each of them count for eight
    for (const [i, request] of [
      `HEAD /api/v1${target} HTTP/1.1`,
      `GET /api/v1${target} HTTP/1.1\r\nIf-None-Match: ${etag}`,
    ].entries()) {
      const from = `127.0.0.${7 + i}`;
      t.equal(await sendAll(request, from, 20), counted + 1, request);
      t.equal(await sendAll(request, from, 20), 1, 'on another connection');
      clock.advance(1000);
      t.equal(await sendAll(request, from, 20), counted + 1, 'a second later');
    }
  });

  t.test('a peer that resets its connection in a flood of requests does not end the process', async (t) => {
    const cluster = await startEmbeddedCluster({ transactionsPerSlot: 1 });
    t.teardown(() => cluster.close());
    const gateway = await GatewayProcess.start([`${cluster.url},${cluster.wsUrl}`]);
    t.teardown(() => gateway.close());
    const flood = Buffer.from('GET /api/v1/pubkey HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(2000));
    for (let i = 0; i < RESETS && gateway.exitReason === undefined; i++) {
      const connection = await RawConnection.open(gateway.url, loopbackAddress(i));
      // The rest comes in a turn of its own: what was read before is continued there.
      connection.write(flood.subarray(0, 1 + (i % 99)));
      await delay(1);
      connection.write(flood.subarray(1 + (i % 99)));
      await delay(i % 4);
      connection.reset();
    }
    t.equal(gateway.exitReason, undefined);
    t.equal((await fetch(`${gateway.url}/api/v1/health`)).status, 200);
  });

  async function readStatus(connection: RawConnection): Promise<string> {
    await waitFor(() => connection.text.length > 12, 'a status');
    connection.reset();
    return connection.text.slice(9, 12);
  }
});

t.test('slow-consumers', async (t) => {
  t.test('a reader that received nothing for three seconds is closed with 1013; the others go on', async (t) => {
    const { gateway, step, clock, cluster } = await startStepped(t, { set: ['admin.port=0'] });
    const metrics = async () => (await fetch(`${gateway.admin}/metrics`)).text();
    const slow = await WebSocketPeer.open(gateway.url);
    const good = await WebSocketPeer.open(gateway.url);
    t.teardown(() => [slow, good].map(({ connection }) => connection.reset()));
    await stallPeers(gateway.url, [slow]);
    const before = good.frames.length;
    while (!/^slotgate_stream_dropped_total [1-9]/m.test(await metrics())) await step();
    await cluster.control.pauseSlots(); // also while the network stands still
    clock.advance(3999); // three seconds, the next review, and less than the second in which it may drain
    slow.connection.socket.resume();
    await waitFor(() => slow.connection.closed, 'the end');
    t.equal(slow.closeCode, 1013);
    await cluster.control.resumeSlots();
    await step();
    t.ok(good.frames.length > before);
    t.equal(good.closeCode, undefined);
  });
});
