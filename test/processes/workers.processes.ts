import { once } from 'node:events';
import { readdirSync, writeFileSync } from 'node:fs';
import t from 'tap';
import { WebSocket } from 'ws';
import { generateApiKey } from '../../src/gateway/access/api-keys/api-key.ts';
import { apiKeysPath } from '../../src/gateway/access/api-keys/api-key-store.ts';
import { startEmbeddedCluster } from '../../src/localnet/embedded-cluster.ts';
import { COINS, WALLETS } from '../../src/localnet/traffic/demo-accounts.ts';
import { apiKeyRecord, issueKeys } from '../support/access/api-key-fixtures.ts';
import { requestEach, requestWithKey, startWorkers } from '../support/gateway-with-workers.ts';
import { httpClient, waitFor } from '../support/harness.ts';
import { parseMetrics, scrapeSeries } from '../support/metrics.ts';
import { connect } from '../support/pubsub-test-client.ts';
import { ResumingClient } from '../support/resuming-client.ts';
import { startRpcOverrideProxy } from '../support/rpc-override-proxy.ts';
import { rpcRequest } from '../support/rpc-request.ts';
import { runSlotgate } from '../support/run-slotgate.ts';

t.test('workers that are killed, reloaded and deceived', async (t) => {
  const cluster = await startEmbeddedCluster({ slotMs: 100, transactionsPerSlot: 1 });
  t.teardown(cluster.close);
  const liar = await startRpcOverrideProxy(t, cluster.url);
  const LIMIT = 60;
  const DRAIN_DELAY_MS = 3200; // twice as much would be too long for the end of the gateway
  const limited = [`limits.build.units=${LIMIT}`, 'limits.build.windowSeconds=600', 'limits.scale.streams=3'];
  const { child, url, admin, state, configPath, processes, restarts } = await startWorkers(
    t,
    cluster,
    [`drainDelayMs=${DRAIN_DELAY_MS}`, 'drainTimeoutMs=500', 'receipts.sampleRate=0', ...limited],
    ['one', 'two', { operator: 'liar', url: liar.url, weight: 100 }],
  );
  const { get } = httpClient(url);
  const [alice, bob] = [WALLETS[0].address, WALLETS[1].address];

  const ready = async (): Promise<string> => (await fetch(`${admin}/readyz`)).text();

  t.test('a past slot is answered by each worker, from what the pipeline process keeps', async (t) => {
    const path = `/balance/${alice}`;
    const slotOf = async (): Promise<number> => (await get(path)).json.slot;
    let slot = await slotOf();
    const past = (): ReturnType<typeof get> => get(`${path}?slot=${slot}`);
    await waitFor(async () => {
      if ((await past()).status !== 200) slot = await slotOf(); // it is not live yet
      return (await past()).status === 200;
    }, 'a past slot');
    const { text } = await past();
    t.same(await requestEach(`${url}/api/v1${path}?slot=${slot}`, {}, 20), new Map([[200, 20]]));
    await waitFor(async () => (await past()).headers.get('x-cache') === 'HIT', 'a copy in the worker');
    t.match(JSON.parse(text), { slot, receipt: { commitment: 'confirmed', claim: 'observed/1' } });
    await waitFor(async () => (await get(`${path}?slot=${slot}&commitment=finalized`)).status === 200, 'finality');
    const finalized = await Promise.all(
      Array.from(
        { length: 8 },
        async () => (await get(`${path}?slot=${slot}&commitment=finalized`)).json.receipt?.claim,
      ),
    );
    t.same([...new Set(finalized)], ['observed/1'], 'only one of the operators kept it');
    const old = await get(`${path}?slot=1`);
    t.match([old.status, old.json.error, old.headers.get('x-oldest-slot')], [404, 'slot_not_kept', /^\d+$/]);
    t.match(await get(`${path}?slot=${slot}`, { headers: { 'X-Min-Slot': '1' } }), {
      status: 400,
      json: { error: 'invalid_query' },
    });
  });

  t.test('a slot a few ahead is waited for at every worker, also by what the pipeline publishes (I8)', async (t) => {
    for (const path of ['/slot', '/network', `/balance/${alice}?commitment=processed`] as const) {
      for (let i = 0; i < 8; i++) {
        const wanted = Number((await get('/slot')).json.result) + 2;
        const { status, json } = await get(path, { headers: { 'x-min-slot': String(wanted) } });
        t.equal(status, 200, `${path} ${JSON.stringify(json).slice(0, 80)}`);
        t.ok(json.slot >= wanted, path);
      }
    }
  });

  t.test('pubsub notifies over each worker, and goes on over the death of the pipeline process', async (t) => {
    const clients = await Promise.all(Array.from({ length: 6 }, () => connect(t, `${url}/api/v1/rpc`)));
    const confirmed = { commitment: 'confirmed' };
    const ids = await Promise.all(
      clients.map(
        async (client) => (await client.call('accountSubscribe', alice, { ...confirmed, encoding: 'base64' })).result,
      ),
    );
    const watcher = await connect(t, `${url}/api/v1/rpc`);
    const { result: logs } = await watcher.call('logsSubscribe', { mentions: [alice] }, confirmed);
    const isNotified = async (signature: string): Promise<void> => {
      for (const client of clients) {
        const { result: id } = await client.call('signatureSubscribe', signature, confirmed);
        await waitFor(() => client.of(id).length === 1, 'the transaction');
      }
    };
    const airdrop = (): Promise<string> => rpcRequest(cluster.url, 'requestAirdrop', [alice, 1_000_000]);
    const signature = await airdrop();
    await isNotified(signature);
    await waitFor(() => clients.every((client, i) => client.of(ids[i]).length > 0), 'the change of the account');
    await waitFor(() => watcher.of(logs).some(({ value }) => value['signature'] === signature), 'the logs');
    const before = restarts();
    const rotated = await runSlotgate(['receipt', 'key', 'rotate', '--after', '0', '--state', state]);
    const [, kid] = /^active {3}([0-9a-f]{16})/m.exec(rotated.out) ?? [];
    process.kill(processes().get('pipeline') ?? 0, 'SIGKILL');
    child.process.kill('SIGHUP'); // while there is no pipeline process that could report it to the workers
    await waitFor(() => restarts() > before, 'another pipeline process');
    const signerOf = async (): Promise<unknown> =>
      (await get('/slot', { headers: { connection: 'close' } })).json.receipt?.kid;
    await waitFor(
      async () => (await Promise.all(Array.from({ length: 12 }, signerOf))).every((signer) => signer === kid),
      'the rotated key at each worker',
    );
    t.match(await watcher.closed, { code: 1013, reason: /transactions may be missing/ }, 'never silent about a gap');
    const counts = clients.map((client, i) => client.of(ids[i]).length);
    await isNotified(await airdrop());
    await waitFor(
      () => clients.every((client, i) => client.of(ids[i]).length > (counts[i] ?? 0)),
      'the change after it',
    );
    for (const [i, client] of clients.entries()) {
      const slots = client.of(ids[i]).map(({ context }) => context.slot);
      t.same(
        slots,
        slots.toSorted((a, b) => a - b),
        'no slot goes back',
      );
      client.close();
    }
  });

  t.test('events come over each worker, from one log, and resume at another', async (t) => {
    const { json: key } = await get('/pubkey');
    const trusted = { url, publicKey: key.publicKey, cluster: cluster.genesisHash };
    const clients = Array.from({ length: 4 }, () => new ResumingClient([alice, bob]));
    for (const client of clients) t.equal(await client.connect(trusted), 200);
    const received = (changes: number) => async (): Promise<void> => {
      await waitFor(() => {
        for (const client of clients) client.handle();
        return clients.every((client) => client.changes.size >= changes);
      }, `${changes} changes`);
    };
    const airdrop = (): Promise<string> => rpcRequest(cluster.url, 'requestAirdrop', [alice, 1_000_000]);
    await waitFor(() => {
      for (const client of clients) client.handle();
      return clients.every(({ slot }) => slot >= 0);
    }, 'the states');
    await airdrop();
    await received(1)();
    for (const client of clients) client.cut();
    for (const client of clients) await client.connect(trusted);
    const before = Math.max(...clients.map(({ changes }) => changes.size));
    await airdrop();
    await received(before + 1)();
    const faults = clients.map(({ doubled, reordered }) => doubled + reordered);
    t.same(
      faults,
      clients.map(() => 0),
    );
    for (const client of clients) client.cut();
  });

  t.test('one listener for operators covers all processes, and no sum goes back', async (t) => {
    // workers report their counts each second
    const scrape = async () => parseMetrics(await (await fetch(`${admin}/metrics`)).text());
    const answered = async (): Promise<number> =>
      (await scrape())
        .get('slotgate_http_requests_total')
        ?.series.get('slotgate_http_requests_total{route="/pubkey",code="200"}') ?? 0;
    let sent = 1; // by the test above
    const send = async (times: number): Promise<void> => {
      await requestEach(`${url}/api/v1/pubkey`, {}, times);
      sent += times;
      await waitFor(async () => (await answered()) === sent, `${sent} answers`);
    };
    await send(40);
    const metrics = await scrape();
    t.equal(metrics.get('slotgate_workers')?.series.get('slotgate_workers'), 2);
    const closes = metrics.get('slotgate_stream_closes_total')?.series;
    t.equal(closes?.get('slotgate_stream_closes_total{code="1013"}'), 1, 'the client of pubsub above');
    t.same(
      [...(metrics.get('process_cpu_seconds_total')?.series.keys() ?? [])].sort(),
      ['pipeline', 'worker 0', 'worker 1'].map((name) => `process_cpu_seconds_total{process="${name}"}`),
    );
    const before = restarts();
    process.kill(processes().get('1') ?? 0, 'SIGKILL');
    await waitFor(() => restarts() > before, 'another worker');
    t.equal(await answered(), sent);
    await send(20);
    const status = await (await fetch(`${admin}/statusz?format=json`)).json();
    t.match(status, { slotgate: { workers: 2 }, cache: { reads: { hit: Number } }, requests: { callers: Number } });
  });

  t.test('one limit holds for all workers, and no death of a process gives another window (F6)', async (t) => {
    const caller = await requestWithKey({ url, state });
    await waitFor(async () => (await caller.admitted(4)) === 4, 'a key that each worker knows');
    await caller.admitted(3 * LIMIT);
    const credit = LIMIT / 4; // of one of two workers
    const { inAll } = caller;
    t.ok(inAll >= LIMIT - 1 && inAll <= LIMIT + credit, `${inAll} admitted`);
    t.equal(await caller.admitted(40), 0, 'until the window ends');
    for (const [role, most] of [
      ['pipeline', 0],
      ['0', credit],
    ] as const) {
      const before = restarts();
      process.kill(processes().get(role) ?? 0, 'SIGKILL');
      await waitFor(() => restarts() > before, `${role} again`);
      const more = await caller.admitted(40);
      t.ok(more <= most, `${more} more after the death of ${role}`);
    }
    t.equal((await fetch(`${admin}/livez`)).status, 200, 'operators find their listener where it was');
  });

  t.test('a caller has as many streams and pubsub connections over all workers as over one (F6)', async () => {
    const key = generateApiKey();
    await issueKeys(apiKeysPath(state), apiKeyRecord(key, { tier: 'scale' })); // whose units last
    const sockets = new Set<WebSocket>();
    let opened = 0;
    const open = (): Promise<void> =>
      new Promise((resolve) => {
        const target = `${url.replace('http', 'ws')}/api/v1/${opened++ % 2 === 0 ? 'stream' : 'rpc'}`;
        const socket = new WebSocket(target, { headers: { 'x-api-key': key } });
        socket.on('open', () => resolve(void sockets.add(socket))).on('error', () => resolve());
        socket.on('close', () => sockets.delete(socket));
      });
    await waitFor(
      async () => (await requestEach(`${url}/api/v1/slot`, { 'x-api-key': key }, 4)).get(200) === 4,
      'the key',
    );
    await Promise.all(Array.from({ length: 12 }, open));
    await waitFor(() => sockets.size === 3, 'three streams are left');
    for (let i = 0; i < 6; i++) await open();
    await waitFor(() => sockets.size === 3, 'three streams are left');
    [...sockets][0]?.terminate();
    await waitFor(() => sockets.size === 2);
    await waitFor(async () => {
      await open();
      return sockets.size === 3;
    }, 'the place is free again');
    for (const socket of sockets) socket.terminate();
  });

  t.test('SIGHUP applies changed settings to new processes, also in a reload, and none that are wrong', async (t) => {
    const key = generateApiKey();
    await issueKeys(apiKeysPath(state), apiKeyRecord(key, { tier: 'scale' }));
    const limit = async () => (await get('/slot', { headers: { 'x-api-key': key } })).headers.get('x-ratelimit-limit');
    const before = await limit();
    const ids = [...processes().values()];
    writeFileSync(configPath, '{"limits": {"scale": {"units": -1}}}');
    child.process.kill('SIGHUP');
    await child.waitForOutput("the configuration can't be used");
    t.same([...processes().values()], ids);
    const failures = (): Promise<number | undefined> =>
      scrapeSeries(admin, 'slotgate_reload_failures_total{part="settings"}');
    await waitFor(async () => (await failures()) === 1, 'the count');
    t.not(before, '777');
    let leavingMs = 0;
    let leavingSinceMs: number | undefined;
    const watchReadiness = async (): Promise<void> => {
      const checks = await ready().catch(() => ''); // while the pipeline process is replaced
      leavingSinceMs = checks.includes('[-]shutdown') ? (leavingSinceMs ?? performance.now()) : undefined;
      leavingMs = Math.max(leavingMs, performance.now() - (leavingSinceMs ?? performance.now()));
    };
    const reloads = child.timesLogged('all processes were replaced');
    writeFileSync(configPath, '{}');
    child.process.kill('SIGUSR2');
    await waitFor(() => [...processes().values()].some((id) => !ids.includes(id)), 'the first new process');
    writeFileSync(configPath, '{"limits": {"scale": {"units": 777}}, "host": "0.0.0.0"}');
    child.process.kill('SIGHUP');
    t.equal(child.timesLogged('all processes were replaced'), reloads, 'the first reload is under way');
    await waitFor(async () => {
      await watchReadiness();
      return child.timesLogged('all processes were replaced') === reloads + 2;
    }, 'the second reload');
    t.match(child.stdout(), /"settings":\["host"\].*restart/);
    await waitFor(async () => (await limit()) === '777', 'the old workers to end');
    t.ok(leavingMs < DRAIN_DELAY_MS / 2, `a reload does not wait: it was not ready for ${leavingMs} ms`);
  });

  t.test('what a node gave that lies is dropped in each worker', async (t) => {
    const lie = (method: string, change: (result: string) => string): void => {
      liar.overrides.set(method, async (params) => {
        return { result: change(JSON.stringify(await rpcRequest(cluster.url, method, params))) };
      });
    };
    /** Returns those mints without holders, by what either worker says. */
    const emptyOf = async (mints: readonly string[]): Promise<readonly string[]> => {
      const found = mints.map(async (mint) => {
        const read = () => get(`/token/${mint}/holders?by=owner`, { headers: { connection: 'close' } });
        const answers = await Promise.all(Array.from({ length: 8 }, read));
        return answers.some(({ json }) => json.result?.items.length === 0) ? [mint] : [];
      });
      return (await Promise.all(found)).flat();
    };
    lie('getProgramAccounts', (result) => result.replace(/"value":\[.*\]/, '"value":[]'));
    const empty = await emptyOf(COINS.map(({ mint }) => mint.address));
    t.ok(empty.length > 0, 'it alone was read, since it has the most weight');
    lie('getMultipleAccounts', (result) => result.replace(/"lamports":(\d+)/, '"lamports":7$1'));
    await waitFor(async () => {
      await Promise.all(WALLETS.map(({ address }) => get(`/balance/${address}?commitment=finalized`)));
      const { problems } = (await get('/health')).json.result; // a node is down, too, where its connections have just begun
      return problems.some((problem) => /^liar .* does not use it/.test(problem));
    }, 'the liar to be refused');
    await waitFor(async () => (await emptyOf(empty)).length === 0, 'each worker to drop what it gave');
  });

  t.test('where the supervisor is killed, its processes close what they serve and end', async (t) => {
    const orphans = await startWorkers(t, cluster);
    const ids = [...orphans.processes().values()];
    const sockets = Array.from(
      { length: 4 },
      () => new WebSocket(`${orphans.url.replace('http', 'ws')}/api/v1/stream`),
    );
    await Promise.all(sockets.map((socket) => once(socket, 'message')));
    const closed = Promise.all(sockets.map((socket) => once(socket, 'close')));
    orphans.child.process.kill('SIGKILL');
    const codes = (await closed).map(([code]) => code);
    t.same(
      codes,
      sockets.map(() => 1001),
    );
    await waitFor(() => ids.every((id) => !readdirSync('/proc').includes(String(id))), 'their end');
    t.equal(orphans.child.stderr(), '');
  });
});
