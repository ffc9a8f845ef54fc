import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath, pathToFileURL } from 'node:url';
import t, { type Test } from 'tap';
import { WebSocket as NodeSocket } from 'ws';
import { type Client, type ClientOptions, createClient, type Snapshot } from '../../src/client/client.ts';
import type { Path } from '../../src/client/route-types.ts';
import { routes } from '../../src/gateway/routes/index.ts';
import { WALLETS, WHALE } from '../../src/localnet/traffic/demo-accounts.ts';
import type { Clock } from '../../src/shared/domain/clock.ts';
import { toJson } from '../../src/shared/domain/to-json.ts';
import { issueKey } from '../support/access/api-key-fixtures.ts';
import { startStepped, waitFor } from '../support/harness.ts';
import { pluck } from '../support/pluck.ts';
import { addressFromByte } from '../support/token-account-fixtures.ts';

t.test('client-read', async (t) => {
  const world = await startStepped(t, { perSlot: 1 });
  const { gateway, cluster, clock, get, step } = world;
  await step(4);
  const [WALLET = ''] = WALLETS.map(({ address }) => address);

  const open = (options: Partial<ClientOptions> = {}): Client =>
    createClient({
      url: gateway.url,
      publicKey: gateway.publicKey,
      cluster: cluster.genesisHash,
      clock,
      attempts: 1,
      ...options,
    });

  /** Creates a client whose answers are tampered with on the way. */
  const through = (meddle: (body: string) => string, options: Partial<ClientOptions> = {}): Client =>
    open({
      ...options,
      fetch: async (url, init) => {
        const response = await fetch(url, init);
        return new Response(meddle(await response.text()), { status: response.status, headers: response.headers });
      },
    });

  /** Returns a clock that is wrong by some milliseconds. */
  const shifted = (ms: number): Clock => ({
    now: () => clock.now() + ms,
    monotonic: () => clock.monotonic(),
    after: (delay, work) => clock.after(delay, work),
  });

  /** Asserts that a read fails with a receipt fault. */
  const notProven = (t: Test, reading: Promise<unknown>, code: string) =>
    t.rejects(reading, { name: 'ReceiptError', code });

  t.test('the client reads every GET route, typed by its declaration', async (t) => {
    const client = open();
    const mint = (await client.get('/token-accounts/:owner', { owner: WALLET })).result[0]?.mint ?? '';
    const { rows } = (await client.get('/address/:addr/history', { addr: WALLET, limit: 5 })).result;
    const { signature: sig = '', slot } = rows[0] ?? {};
    const params: Readonly<Record<string, string | number | readonly string[]>> = {
      addr: WALLET,
      addresses: [WALLET, WHALE.address],
      owner: WALLET,
      mint,
      sig,
      slot: slot ?? 0,
      q: WALLET,
    };
    for (const { path, kind, envelope, ...route } of routes) {
      if (kind === 'post') continue;
      const names = 'params' in route ? Object.entries(route.params).filter(([, { required }]) => required) : [];
      const wanted = Object.fromEntries(names.map(([name]) => [name, params[name]]));
      // The loop runs over the route declarations, whose types the compiler can't follow one by one.
      const answer = await (client.get as (path: Path, params: object) => Promise<object>)(path, wanted);
      const members = Object.keys(answer).filter((name) => ['slot', 'receipt', 'body'].includes(name));
      t.same(members, { signed: ['slot', 'receipt', 'body'], anchored: ['slot'], bare: [], plain: [] }[envelope], path);
      t.hasProp(answer, 'result', path);
    }
  });

  t.test('a result equals the signed text, to the last digit', async (t) => {
    const { result, slot, body, receipt, unchanged } = await open().get('/balance/:addr', { addr: WHALE.address });
    t.same(result, { lamports: 9007199254740993n, sol: '9007199.254740993' });
    t.equal(receipt.slot, slot);
    t.equal(unchanged, false);
    t.equal(body, (await get(`/balance/${WHALE.address}`)).text);
    const { result: epoch } = await open().get('/epoch', { commitment: 'finalized' });
    t.type(epoch.absoluteSlot, 'number');
  });

  t.test('a changed digit, another request, key, cluster or time fails verification', async (t) => {
    const balance = (client: Client) => client.get('/balance/:addr', { addr: WHALE.address });
    await notProven(t, balance(through((body) => body.replace('"lamports":9', '"lamports":8'))), 'digest');
    await notProven(t, balance(through((body) => body.replace(/,"receipt":.*/, '}'))), 'malformed');
    await notProven(t, balance(through((body) => body.replace('"observed/1"', '"exact/1"'))), 'signature');
    await notProven(t, balance(open({ cluster: gateway.publicKey })), 'cluster');
    await notProven(t, balance(open({ publicKey: cluster.genesisHash })), 'unknown-key');
    const { text } = await get(`/balance/${WALLET}`);
    await notProven(t, balance(through(() => text)), 'request');
    await notProven(t, balance(open({ clock: shifted(80_001) })), 'stale');
    await notProven(t, balance(open({ clock: shifted(-25_001) })), 'future');
    await t.resolves(balance(open({ clock: shifted(80_001), maxAgeMs: 200_000 })));
  });

  t.test('without verification the client returns the same value', async (t) => {
    const client = through((body) => body.replace('"lamports":9', '"lamports":8'), { verify: false });
    const { result } = await client.get('/balance/:addr', { addr: WHALE.address });
    t.equal(result.lamports, 8007199254740993); // below 2^53 by now
    t.equal(typeof result.lamports, 'number');
  });

  t.test('a read can request a later slot', async (t) => {
    const tip = cluster.chain.slot('confirmed');
    const { slot } = await open().get('/balance/:addr', { addr: WALLET }, { minSlot: tip });
    t.ok(slot >= tip);
    const far = open().get('/balance/:addr', { addr: WALLET }, { minSlot: tip + 100_000 });
    await t.rejects(far, { name: 'SlotgateError', code: 'min_slot_not_reached', status: 503, retryAfterMs: 60_000 });
  });

  t.test('a refusal of the gateway has its error code', async (t) => {
    const client = open();
    await t.rejects(client.get('/balance/:addr', { addr: 'nobody' }), { code: 'invalid_address', status: 400 });
    await t.rejects(client.get('/balance/:addr', { addr: '..' }), TypeError);
    await t.rejects(client.post('/rpc', { method: 'sendTransaction' as 'getSlot' }), {
      code: 'rpc_method_not_allowed',
    });
    const refused = client.post('/rpc', { method: 'getBalance', params: ['nobody'] });
    await t.rejects(refused, { code: 'rpc_error', status: 400, rpcCode: -32602, requestId: /^[0-9a-f]{16}$/ });
  });

  t.test('a request too long for a URL is posted', async (t) => {
    const client = open();
    const far = client.post('/rpc', { method: 'getVersion' }, { minSlot: cluster.chain.slot('processed') + 100 });
    await t.rejects(far, { code: 'min_slot_not_reached', status: 503, retryAfterMs: 1000 });
    const { result: slot } = await client.post('/rpc', { method: 'getSlot' });
    t.type(slot, 'number');
    const { result: account } = await client.post('/rpc', { method: 'getBalance', params: [WHALE.address] });
    t.match(account, { value: 9007199254740993n });
    const { rows } = (await client.get('/address/:addr/history', { addr: WALLET, limit: 1 })).result;
    const { result: tx } = await client.get('/tx/:sig', { sig: rows[0]?.signature ?? '', enhanced: '1' });
    const { result: explained } = await client.post('/explain', { tx });
    t.match(explained.explanation, /\w/, toJson(explained));
  });

  t.test('the receipt of a finalized block may have any age', async (t) => {
    const slot = cluster.chain.slot('finalized');
    const client = open({ clock: shifted(86_400_000) });
    await notProven(t, client.get('/slot'), 'stale');
    const { result } = await client.get('/block/:slot', { slot, commitment: 'finalized' });
    t.equal(result.commitment, 'finalized');
  });

  t.test('a nonce of the caller is signed, a new one each time', async (t) => {
    const client = open();
    const read = () => client.get('/balance/:addr', { addr: WALLET }, { nonce: true });
    const [first, second] = [await read(), await read()];
    t.match(first.receipt.nonce, /^[\w-]{22}$/);
    t.not(first.receipt.nonce, second.receipt.nonce);
  });

  t.test('an unchanged answer transfers only its receipt', async (t) => {
    const lengths: number[] = [];
    const client = open({
      fetch: async (url, init) => {
        const response = await fetch(url, init);
        lengths.push((await response.clone().arrayBuffer()).byteLength);
        return response;
      },
    });
    const params = { addr: WHALE.address };
    const since = await client.get('/account/:addr', params);
    await step(3);
    const later = await client.get('/account/:addr', params, { since, minSlot: since.slot + 1 });
    t.ok(later.unchanged && later.slot > since.slot);
    t.same(later.result, since.result);
    t.equal(lengths[1], 0);
    t.equal(later.body, (await get(`/account/${WHALE.address}`)).text, 'complete as if it had arrived');
    const again = await client.get('/account/:addr', params, { since: later });
    t.ok(again.unchanged && again.slot >= later.slot);
  });

  t.test('credentials go to no origin that a redirect names', async (t) => {
    const received: string[] = [];
    const other = createServer((request, response) => {
      received.push(String(request.headers['x-api-key']));
      response.end('{}');
    });
    const moved = createServer((_, response) => {
      const { port } = other.address() as AddressInfo; // it listens on TCP
      response.writeHead(307, { location: `http://localhost:${port}/api/v1/slot` }).end();
    });
    for (const server of [other, moved]) await new Promise<void>((resolve) => server.listen(0, resolve));
    t.teardown(() => {
      for (const server of [other, moved]) server.close();
    });
    const { port } = moved.address() as AddressInfo; // it listens on TCP
    const client = open({ url: `http://127.0.0.1:${port}`, headers: { 'x-api-key': 'sg_live_secret' }, attempts: 3 });
    await t.rejects(client.get('/slot'), { code: 'unreadable', status: 307, message: /redirects.*use the final URL/ });
    t.same(received, []);
  });
});

t.test('client-readme', async (t) => {
  const ROOT = new URL('../../../', import.meta.url); // from dist/test/e2e
  const README = readFileSync(new URL('README.md', ROOT), 'utf8');
  const [, example = ''] = /## The SDK\n.*?```js\n(.*?)```/s.exec(README) ?? [];

  const hasShellTools = ['jq', 'curl'].every((tool) => spawnSync(tool, ['--version']).status === 0);
  const jqSkipReason = hasShellTools ? false : 'there is no jq or no curl';

  const { gateway, step } = await startStepped(t, { perSlot: 1 });

  t.test('the example in the README works', async (t) => {
    const printed: string[] = [];
    const code = example
      .replace("'http://127.0.0.1:8787'", `'${gateway.url}', maxAgeMs: Infinity`)
      .replaceAll('console.log(', 'printed(');
    const file = `${t.testdir()}/example.mjs`;
    writeFileSync(
      file,
      `export async function example(printed) {\n${code.replace(/^import (.*) from (.*);/, 'const $1 = await import($2);')}\nreturn () => { stop(); stream.close(); };\n}`,
    );
    const { example: run } = await import(pathToFileURL(file).href);
    const end: () => void = await run((...words: unknown[]) => printed.push(words.join(' ')));
    t.teardown(end);
    t.match(printed[0], /^9007199254740993 lamports at slot \d+$/);
    await step(2);
    await waitFor(() => printed.includes('9007199.254740993'), 'the balance');
    await waitFor(() => printed.some((line) => /^\d{7} \d*$/.test(line)), 'a frame');
  });

  const [, shellLines = ''] = /^In a shell [^`]*```sh\n(.*?)^```/ms.exec(README) ?? [];

  t.test('the lines for a shell in the README verify a receipt', { skip: jqSkipReason }, async (t) => {
    const main = fileURLToPath(new URL('../../src/main.js', import.meta.url));
    const bin = t.testdir({ slotgate: `#!/bin/sh\nexec '${process.execPath}' '${main}' "$@"\n` });
    chmodSync(`${bin}/slotgate`, 0o755); // stands for the alias
    const lines = shellLines.replaceAll('http://127.0.0.1:8787', gateway.url);
    const env = { ...process.env, PATH: `${bin}:${process.env['PATH']}` };
    const shell = spawn('sh', ['-c', lines], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [shell.stdout, shell.stderr]) {
      stream.on('data', (chunk) => {
        output += chunk;
      });
    }
    const [code] = await once(shell, 'close');
    t.equal(code, 0, output);
    t.match(output, '9007199254740993');
  });

  /** A project with the package and without the types of Node. */
  const CONSUMER = `
import { createClient, type Result, type SlotgateError } from 'slotgate/client';

declare const console: { log(...words: unknown[]): void };

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const yes = <T extends true>(_?: T): void => {};

export async function typed() {
  const client = createClient({ url: 'http://localhost' });
  const { result, slot, receipt, body } = await client.get('/balance/:addr', { addr: 'x', commitment: 'finalized' });
  yes<Equal<typeof result, { readonly lamports: number | bigint; readonly sol: string }>>();
  yes<Equal<[typeof slot, typeof body, typeof receipt.issuedAt], [number, string, number]>>();
  const { result: rows } = await client.get('/balances', { addresses: ['x', 'y'], commitment: 'finalized' });
  yes<Equal<(typeof rows)[number], { readonly address: string; readonly lamports: number | bigint; readonly sol: string }>>();
  // @ts-expect-error a list, not a text
  client.get('/balances', { addresses: 'x,y' });
  const { result: network } = await client.get('/network');
  yes<Equal<typeof network.tps, number | null>>();
  yes<Equal<Result<'/token-accounts/:owner'>[number]['state'], 'initialized' | 'frozen' | 'uninitialized'>>();
  yes<Equal<Result<'/address/:addr/portfolio'>['items'][number]['decimals'], number>>();
  yes<Equal<Result<'/slot'>, number>>();
  yes<Equal<SlotgateError['status'], number | null>>();
  // @ts-expect-error no such path
  client.get('/balances/:addr', { addr: 'x' });
  // @ts-expect-error the address is missing
  client.get('/balance/:addr');
  // @ts-expect-error no such parameter
  client.get('/balance/:addr', { addr: 'x', page: 1 });
  // @ts-expect-error a block is never only processed
  client.get('/block/:slot', { slot: 1, commitment: 'processed' });
  client.get('/balance/:addr', { addr: 'x' }, { agree: 2 });
  // @ts-expect-error operators are not compared here
  client.get('/search', { q: 'x' }, { agree: 2 });
  // @ts-expect-error nothing is signed here
  client.get('/network', {}, { nonce: true });
  client.post('/rpc', { method: 'getSlot' }, { minSlot: slot });
  // @ts-expect-error it is about no slot
  client.post('/explain', { tx: {} }, { minSlot: slot });
  // @ts-expect-error it only reads
  client.post('/rpc', { method: 'sendTransaction' });
  client.stream().subscribe('account', 'x', { onUpdate: ({ result }) => yes<Equal<typeof result, Result<'/account/:addr'>>>() });
}
`;

  t.test('the compiler names what the client needs without the types of Node, and the example compiles', async (t) => {
    const folder = t.testdir({
      'tsconfig.json': JSON.stringify({
        compilerOptions: {
          strict: true,
          noEmit: true,
          skipLibCheck: true,
          target: 'es2023',
          lib: ['es2023', 'dom'],
          types: [],
          module: 'nodenext',
        },
        files: ['consumer.mts'],
      }),
      'consumer.mts': CONSUMER.replace(/declare const console.*\n/, '') + example.replace(/^import .*\n/, ''),
    });
    const compiler = fileURLToPath(new URL('node_modules/typescript/bin/tsc', ROOT));
    const { status, stdout, stderr } = spawnSync(process.execPath, [compiler, '-p', folder], { encoding: 'utf8' });
    t.equal(status, 0, stdout + stderr);
  });
});

t.test('client-stream', async (t) => {
  const [WALLET = ''] = WALLETS.map(({ address }) => address);

  t.test('the stream of a real gateway: verified frames, a verified balance, also after a reconnect', async (t) => {
    const { gateway, cluster, clock, step } = await startStepped(t, { perSlot: 2 });
    const sockets: NodeSocket[] = [];
    const client = createClient({
      url: gateway.url,
      publicKey: gateway.publicKey,
      clock,
      random: () => 0,
      openSocket: (url, headers) => {
        const socket = new NodeSocket(url, { headers });
        sockets.push(socket);
        return socket;
      },
    });
    const frames: Snapshot[] = [];
    const signed: boolean[] = [];
    const missed: (number | null)[] = [];
    const updates: { readonly seq: number; readonly slot: number; readonly lamports: bigint }[] = [];
    const errors: unknown[] = [];
    const stream = client.stream({
      receipts: true,
      onSnapshot(snapshot, { receipt }) {
        frames.push(snapshot);
        signed.push(receipt?.slot === snapshot.slot);
      },
      onGap: (gap) => missed.push(gap.missed),
      onError: (error) => errors.push(error),
      silenceMs: 3_600_000, // the manual clock runs ahead of the sockets
    });
    t.teardown(() => stream.close());
    stream.subscribe('balance', WALLET, {
      onUpdate: ({ seq, slot, result }) => updates.push({ seq, slot, lamports: BigInt(result.lamports) }),
      onError: (error) => errors.push(error),
    });
    await waitFor(() => frames.length > 0 && updates.length > 0, 'the first of both');
    for (let i = 0; i < 40 && updates.length < 3; i++) await step();
    await waitFor(() => frames.at(-1)?.slot === cluster.chain.slot('processed'), 'the newest frame');
    t.same(missed, []);
    t.same(pluck(updates.slice(0, 3), 'seq'), [0, 1, 2]);

    sockets[0]?.terminate();
    await waitFor(() => sockets[0]?.readyState === NodeSocket.CLOSED, 'the end');
    const before = updates.length;
    await step(5);
    await waitFor(() => sockets.length === 2 && updates.length > before, 'the new connection');
    t.equal(updates[before]?.seq, 0);
    for (const { slot, lamports } of updates) t.equal(lamports, cluster.chain.accountAt(WALLET, slot)?.lamports);
    await waitFor(() => frames.at(-1)?.slot === cluster.chain.slot('processed'), 'the newest frame');
    t.same(
      pluck(frames, 'seq'),
      frames.map(({ seq }) => seq).toSorted((a, b) => a - b),
    );
    t.equal(
      frames.length + missed.reduce<number>((sum, count) => sum + (count ?? 0), 0),
      (frames.at(-1)?.seq ?? 0) - (frames[0]?.seq ?? 0) + 1,
      'every frame was received or reported missing',
    );
    t.same(errors, []);
    t.ok(signed.every(Boolean));
  });

  t.test('200 accounts are subscribed to with three messages, on each connection', async (t) => {
    const { gateway, clock } = await startStepped(t, { set: ['limits.free.subscriptions=200'] });
    const sockets: NodeSocket[] = [];
    const sent: string[] = [];
    const client = createClient({
      url: gateway.url,
      publicKey: gateway.publicKey,
      clock,
      random: () => 0,
      openSocket(url) {
        const socket = new NodeSocket(url);
        const send = socket.send.bind(socket);
        socket.send = (text: string): void => {
          sent.push(text);
          send(text);
        };
        sockets.push(socket);
        return socket;
      },
    });
    const stream = client.stream({ silenceMs: 3_600_000 }); // the manual clock runs ahead of the sockets
    t.teardown(() => stream.close());
    const live: string[] = [];
    const errors: unknown[] = [];
    for (let i = 0; i < 200; i++) {
      const account = addressFromByte(i + 50);
      stream.subscribe('balance', account, {
        onUpdate: ({ receipt }) => live.push(receipt.request),
        onError: (error) => errors.push(error),
      });
    }
    await waitFor(() => live.length === 200, 'all first values');
    sockets[0]?.terminate();
    await waitFor(() => sockets[0]?.readyState === NodeSocket.CLOSED, 'the end');
    clock.advance(2000);
    await waitFor(() => live.length === 400, 'all first values again');
    t.equal(new Set(live).size, 200);
    t.same(errors, []);
    const counts = sent.map((text) => JSON.parse(text).addresses.length);
    t.same(counts, [80, 80, 40, 80, 80, 40]);
  });

  t.test(
    'the WebSocket of the runtime is used where there is one, and sends the API key',
    { skip: typeof WebSocket !== 'function' },
    async (t) => {
      const state = t.testdir();
      const key = await issueKey(state);
      const { gateway } = await startStepped(t, { state, set: ['limits.free.streams=0'] });
      const client = createClient({ url: gateway.url, headers: { 'X-Api-Key': key } });
      const slot = await new Promise<number>((resolve) => {
        const stream = client.stream({ onSnapshot: (snapshot) => resolve(snapshot.slot) });
        t.teardown(() => stream.close());
      });
      t.ok(slot > 0, 'a stream that nobody may open without a key');
    },
  );

  t.test('a runtime without WebSocket fails immediately', async (t) => {
    const { WebSocket } = globalThis;
    t.teardown(() => Object.assign(globalThis, { WebSocket }));
    Object.assign(globalThis, { WebSocket: undefined });
    t.throws(() => createClient({ url: 'http://gateway.test' }).stream(), { message: /openSocket/ });
  });
});
