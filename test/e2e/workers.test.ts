import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import t from 'tap';
import { WebSocket } from 'ws';
import { verifyReceipt } from '../../src/client/verify/verify-receipt.ts';
import { WALLETS } from '../../src/localnet/traffic/demo-accounts.ts';
import { addressOfNumber } from '../support/address-of-number.ts';
import { requestEach, requestWithKey, startWorkers } from '../support/gateway-with-workers.ts';
import { httpClient, waitFor } from '../support/harness.ts';
import { parseMetrics } from '../support/metrics.ts';
import { startLiveCluster } from '../support/test-cluster.ts';

// They are killed, reloaded and cut off by `npm run check -- processes`.
t.test('workers', async (t) => {
  const cluster = await startLiveCluster({ slotMs: 100, transactionsPerSlot: 1 });
  t.teardown(cluster.close);
  const LIMIT = 60;
  const limited = [`limits.build.units=${LIMIT}`, 'limits.build.windowSeconds=600'];
  const { child, url, admin, state, processes } = await startWorkers(
    t,
    cluster,
    ['drainDelayMs=3200', 'drainTimeoutMs=500', 'receipts.sampleRate=0', ...limited],
    ['one', 'two', 'three'],
  );
  const { get, rpc } = httpClient(url);
  const [alice, bob] = [WALLETS[0].address, WALLETS[1].address];

  const calls = async (method: string): Promise<number> => (await cluster.control.requestCounts())[method] ?? 0;
  const ready = async (): Promise<string> => (await fetch(`${admin}/readyz`)).text();
  const roles = (): string => [...processes().keys()].sort().join();

  t.test('equal misses at one time are one call of each operator, whichever worker they meet (F5)', async (t) => {
    await cluster.control.delayResponses(300);
    const before = await calls('getMultipleAccounts');
    const path = `/balance/${addressOfNumber(77)}?commitment=finalized`;
    const statuses = await Promise.all(Array.from({ length: 100 }, async () => (await get(path)).status));
    await cluster.control.delayResponses(0);
    t.same([...new Set(statuses)], [200]);
    const made = (await calls('getMultipleAccounts')) - before;
    t.ok(made >= 2 && made <= 4, `${made} calls: where their slots differ, one is read again at most twice`);
  });

  t.test('operators that a caller demands are read, whichever worker it meets, and a hit has them', async (t) => {
    const path = `/balance/${addressOfNumber(78)}`;
    const seen: string[] = [];
    for (let i = 0; i < 6; i++) {
      const { status, json } = await get(path, { headers: { 'x-agree': '2', connection: 'close' } });
      seen.push(`${status} ${json.receipt?.agreed}`);
    }
    t.strictSame([...new Set(seen)], ['200 2/2']);
    t.match(await get(path, { headers: { 'x-agree': '4' } }), { status: 400, json: { error: 'invalid_query' } });
  });

  t.test('every process has a role, and answers are those of one gateway', async (t) => {
    t.equal(roles(), '0,1,pipeline');
    const { json: key } = await get('/pubkey');
    const expected = { publicKeys: [key.publicKey], cluster: cluster.genesisHash };
    const paths = ['/slot', '/epoch', '/performance', '/priority-fee', `/balance/${alice}`, `/account/${alice}`];
    const lists = [`/token-accounts/${alice}`, `/address/${alice}/history?limit=2`, `/address/${alice}/portfolio`];
    const faults: string[] = [];
    for (const path of [...paths, ...lists, `/balances?addresses=${alice}%2C${bob}`]) {
      const { status, text } = await get(path);
      try {
        verifyReceipt(text, { ...expected, request: `GET /api/v1${path}` });
      } catch (thrown) {
        faults.push(`${path}: ${status} ${text.slice(0, 90)} ${thrown}`);
      }
    }
    t.same(faults, []);
    t.match(await get('/health'), { status: 200, json: { result: { status: 'ok', upstreams: [{ status: 'ok' }] } } });
    t.match(await get('/balance/1'), { status: 400, json: { error: 'invalid_address' } });
    t.match(await get(`/tx/${'1'.repeat(64)}`), { status: 404, json: { error: 'not_found' } });
    t.match(await rpc({ method: 'getBalance', params: [alice] }), { status: 200, json: { result: { value: Number } } });
    t.match(await rpc({ method: 'sendTransaction', params: [] }), { status: 403 });
  });

  t.test('the stream has one frame for each number, and pushes what changes (F4)', async (t) => {
    const sockets = Array.from({ length: 6 }, () => new WebSocket(`${url.replace('http', 'ws')}/api/v1/stream`));
    const frames = new Map<string, Set<string>>();
    let pushes = 0;
    for (const socket of sockets)
      socket.on('message', (data) => {
        const text = String(data);
        const number = /"seq":\d+,"stream":"\w+"/.exec(text)?.[0];
        if (number === undefined) pushes += text.startsWith('{"type":"balance"') ? 1 : 0;
        else frames.set(number, (frames.get(number) ?? new Set()).add(text));
      });
    await Promise.all(sockets.map((socket) => once(socket, 'open')));
    for (const socket of sockets)
      socket.send(JSON.stringify({ op: 'subscribe', topic: 'balance', address: alice, id: 1 }));
    await waitFor(() => pushes >= sockets.length && frames.size >= 5);
    const differing = [...frames.values()].filter((texts) => texts.size > 1);
    t.same(differing, []);
    for (const socket of sockets) socket.terminate();
  });

  t.test('one listener for operators covers all processes', async (t) => {
    // workers report their counts each second
    const scrape = async () => parseMetrics(await (await fetch(`${admin}/metrics`)).text());
    await requestEach(`${url}/api/v1/pubkey`, {}, 40);
    const series = 'slotgate_http_requests_total{route="/pubkey",code="200"}';
    await waitFor(
      async () => (await scrape()).get('slotgate_http_requests_total')?.series.get(series) === 41, // one by a test above
      'all answers',
    );
    const metrics = await scrape();
    t.equal(metrics.get('slotgate_workers')?.series.get('slotgate_workers'), 2);
    t.same(
      [...(metrics.get('process_cpu_seconds_total')?.series.keys() ?? [])].sort(),
      ['pipeline', 'worker 0', 'worker 1'].map((name) => `process_cpu_seconds_total{process="${name}"}`),
    );
    const status = await (await fetch(`${admin}/statusz?format=json`)).json();
    t.equal(await ready(), '[+]startup ok\n[+]tip ok\n[+]shutdown ok\n[+]workers ok\n');
    t.match(status, { slotgate: { workers: 2 }, cache: { reads: { hit: Number } }, requests: { callers: Number } });
  });

  t.test('one limit holds for all workers (F6)', async (t) => {
    const caller = await requestWithKey({ url, state });
    await waitFor(async () => (await caller.admitted(4)) === 4, 'a key that each worker knows');
    await caller.admitted(2 * LIMIT);
    const { inAll } = caller;
    // Each of two workers may keep the 2 units that it may spend at least; one may have the credit of a quarter.
    t.ok(inAll >= LIMIT - 2 * 2 && inAll <= LIMIT + LIMIT / 4, `${inAll} admitted`);
  });

  t.test('on SIGTERM all processes end, and nothing is left in memory', async (t) => {
    const ids = [...processes().values()];
    child.process.kill('SIGTERM');
    await waitFor(async () => (await ready()).includes('[-]shutdown'), 'it is not ready');
    t.equal((await get('/slot', { headers: { connection: 'close' } })).status, 200, 'the port is open all the same');
    t.equal(await child.exit(), 0);
    const running = readdirSync('/proc');
    const left = ids.filter((id) => running.includes(String(id)));
    t.same(left, []);
  });
});
