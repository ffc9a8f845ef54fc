import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import t, { type Test } from 'tap';
import { routes } from '../../src/gateway/routes/index.ts';
import { createClient, createGateway, type Gateway, type Log, type Settings, StartError } from '../../src/index.ts';
import { startEmbeddedCluster } from '../../src/localnet/embedded-cluster.ts';
import { DEMO_ACCOUNTS, WALLETS } from '../../src/localnet/traffic/demo-accounts.ts';
import { PRICE_FEEDS } from '../../src/localnet/traffic/demo-price-feeds.ts';
import { engineEnvironment, httpClient, startGateway, waitFor } from '../support/harness.ts';
import { startRpcOverrideProxy } from '../support/rpc-override-proxy.ts';
import { rpcRequest } from '../support/rpc-request.ts';

t.test('build', async (t) => {
  const ROOT = fileURLToPath(new URL('../../../', import.meta.url)); // from dist/test/e2e

  /** A small project with the build and the compiler of this one, without the types of Node, which take longest to read. */
  class Project {
    readonly #root: string;

    constructor(t: Test) {
      this.#root = t.testdir({ src: { page: {} }, '.ci': {}, node_modules: {} });
      cpSync(join(ROOT, '.ci/build.mjs'), this.path('.ci/build.mjs'));
      const settings = JSON.parse(readFileSync(join(ROOT, 'tsconfig.json'), 'utf8'));
      Object.assign(settings.compilerOptions, { types: [] });
      this.write('tsconfig.json', JSON.stringify(settings));
      this.write('src/console.d.ts', 'declare const console: { log(text: string): void };\n');
      for (const name of ['typescript', '@typescript']) {
        const installed = join(ROOT, 'node_modules', name);
        if (existsSync(installed)) symlinkSync(installed, this.path(`node_modules/${name}`));
      }
      const { bin, scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
      const { prepare } = scripts;
      this.write(
        'package.json',
        JSON.stringify({ name: 'slotgate', version: '1.2.3', type: 'module', bin, scripts: { prepare } }),
      );
      this.write('src/main.ts', "#!/usr/bin/env node\nconsole.log((await import('./version.ts')).version);\n");
      this.write('src/version.ts', "export const version: string = '1';\n");
      this.write('src/other.ts', 'export const other = 1;\n');
    }

    path(file: string): string {
      return join(this.#root, file);
    }

    write(file: string, text: string): void {
      mkdirSync(join(this.path(file), '..'), { recursive: true });
      writeFileSync(this.path(file), text);
    }

    /** Identifies what is at a path in the build: the file, and when it was written. */
    identify(file: string): string {
      const { ino, mtimeMs } = statSync(this.path(`dist/${file}`));
      return `${ino} ${mtimeMs}`;
    }

    run(command: string, ...args: readonly string[]) {
      const env = { ...process.env, npm_config_cache: this.path('npm-cache'), npm_config_offline: 'true' };
      return spawnSync(command, args, { cwd: this.#root, encoding: 'utf8', env });
    }

    build() {
      return this.run(process.execPath, '.ci/build.mjs');
    }
  }

  t.test('a build replaces what has changed and touches nothing else', async (t) => {
    const project = new Project(t);
    t.equal(project.build().status, 0);
    t.equal(statSync(project.path('dist/src/main.js')).mode & 0o111, 0o111, 'the command can be run');
    t.equal(project.run(project.path('dist/src/main.js')).stdout, '1\n');
    const [main, version] = [project.identify('src/main.js'), project.identify('src/version.js')];

    t.equal(project.build().status, 0);
    t.equal(project.identify('src/version.js'), version, 'nothing has changed');

    project.write('src/version.ts', "export const version: string = '2';\n");
    rmSync(project.path('src/other.ts'));
    t.equal(project.build().status, 0);
    t.equal(project.run(project.path('dist/src/main.js')).stdout, '2\n');
    t.equal(project.identify('src/main.js'), main);
    t.notOk(existsSync(project.path('dist/src/other.js')), 'its source was removed');

    project.write('src/version.ts', 'export const version: string = 3;\n');
    const failed = project.build();
    t.equal(failed.status, 1);
    t.match(failed.stdout + failed.stderr, /version\.ts.*nothing in dist\/ was changed/s);
    t.equal(project.run(project.path('dist/src/main.js')).stdout, '2\n', 'the last good build');

    rmSync(project.path('dist/src/main.js'));
    project.write('src/version.ts', "export const version: string = '2';\n");
    t.equal(project.build().status, 0);
    t.equal(project.run(project.path('dist/src/main.js')).stdout, '2\n', 'a file that was lost is made again');
  });

  t.test('npx runs what is built, also the first time in a clone, and builds only if nothing is', async (t) => {
    const project = new Project(t);
    const npx = () => project.run('npx', 'slotgate');
    t.equal(npx().stdout, '1\n', 'there was no build');
    const main = project.identify('src/main.js');
    rmSync(project.path('npm-cache'), { recursive: true });
    project.write('src/version.ts', "export const version: string = '2';\n");
    t.equal(npx().stdout, '1\n');
    t.equal(project.identify('src/main.js'), main);
    t.equal(project.build().status, 0);
    t.equal(npx().stdout, '2\n', 'after a build too');
  });
});

t.test('client-package', async (t) => {
  const ROOT = fileURLToPath(new URL('../../../', import.meta.url)); // from dist/test/e2e
  const EXAMPLES = join(ROOT, 'test/examples');
  const COMPILER = join(ROOT, 'node_modules/typescript/bin/tsc');

  const readJson = (path: string) => JSON.parse(readFileSync(join(ROOT, path), 'utf8'));

  /** Compiles files of a folder that has the package installed, without the types of Node. */
  function compile(folder: string, files: readonly string[], options: object = {}): string {
    const settings = {
      compilerOptions: {
        ...{ strict: true, exactOptionalPropertyTypes: true, noEmit: true, skipLibCheck: false },
        ...{ target: 'es2023', lib: ['es2023', 'dom'], types: [], module: 'nodenext', ...options },
      },
      files,
    };
    const config = join(folder, 'tsconfig.json');
    writeFileSync(config, JSON.stringify(settings));
    const { status, stdout, stderr } = spawnSync(process.execPath, [COMPILER, '-p', config], { encoding: 'utf8' });
    return status === 0 ? '' : stdout + stderr;
  }

  /** Makes a project with the package of the client in it. */
  function project(t: Test, files: Readonly<Record<string, string>>): string {
    const folder = t.testdir({ 'package.json': '{"type":"module"}', ...files });
    mkdirSync(join(folder, 'node_modules'));
    symlinkSync(join(ROOT, 'dist/client'), join(folder, 'node_modules/slotgate-client'));
    return folder;
  }

  const USE = `
import { createClient, type Result, SlotgateError, ReceiptError } from 'slotgate-client';
import { createVerifier, equivocation, verifyReceipt } from 'slotgate-client/verify';
const client = createClient({ url: 'http://localhost' });
const { result, slot, receipt } = await client.get('/balance/:addr', { addr: 'x', commitment: 'finalized' }, { nonce: true });
const lamports: number | bigint = result.lamports;
const { result: rows } = await client.get('/address/:addr/history', { addr: 'x' });
// @ts-expect-error no such path
client.get('/balances/:addr', { addr: 'x' });
// @ts-expect-error a block is never only processed
client.get('/block/:slot', { slot: 1, commitment: 'processed' });
client.stream().subscribe('account', 'x', { onUpdate: ({ result }) => result?.owner });
export const used = [lamports, slot, receipt.kid, rows, createVerifier, equivocation, verifyReceipt, SlotgateError, ReceiptError];
export type Frame = Result<'/network'>;
`;

  /** Paths of which the package names more: each percentile, and how deep instructions are nested. */
  const MORE_PRECISE: ReadonlySet<string> = new Set(['/priority-fee', '/tx/:sig']);

  /** Declares that two modules give every path the same types. */
  const same = (paths: readonly string[]): string => `
import type * as Source from '${join(ROOT, 'dist/src/client/route-types.js')}';
import type * as Pack from '${join(ROOT, 'dist/client/types/client/route-types.js')}';
type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
type Fits<A, B> = A extends B ? true : false;
type Flat<T> = { [K in keyof T]: T[K] };
const yes = <T extends true>(_?: T): void => {};
yes<Equal<Source.Path, Pack.Path>>();
yes<Equal<Source.PostPath, Pack.PostPath>>();
yes<Equal<Source.SignedPath, Pack.SignedPath>>();
${paths.map((path) => `yes<${MORE_PRECISE.has(path) ? 'Fits' : 'Equal'}<Pack.Result<'${path}'>, Source.Result<'${path}'>>>();`).join('\n')}
${routes
  .filter(({ kind }) => kind !== 'post')
  .map(({ path }) => `yes<Equal<Flat<Source.Parameters<'${path}'>>, Flat<Pack.Parameters<'${path}'>>>>();`)
  .join('\n')}
yes<Equal<Source.EnvelopeOf<'/network'>, Pack.EnvelopeOf<'/network'>>>();
`;

  t.test(
    'the client without dependencies compiles in a project that has neither the types of Node nor zod',
    async (t) => {
      const folder = project(t, { 'use.mts': USE });
      t.equal(compile(folder, ['use.mts']), '');
      t.equal(compile(folder, ['use.mts'], { module: 'esnext', moduleResolution: 'bundler' }), '', 'for a bundler');
    },
  );

  t.test('its types are those of the routes', async (t) => {
    const folder = t.testdir({ 'same.mts': same(routes.map(({ path }) => path)) });
    t.equal(
      compile(folder, ['same.mts'], {
        exactOptionalPropertyTypes: false, // JSON has no undefined: a member is there or not
        skipLibCheck: true,
        types: ['node'],
        typeRoots: [join(ROOT, 'node_modules/@types')],
      }),
      '',
    );
  });

  t.test('packs hold no source map, and one version', async (t) => {
    const [server, client] = [readJson('package.json'), readJson('dist/client/package.json')];
    t.same([client.version, client.private, client.dependencies], [server.version, server.private, undefined]);
    const [, newest] = /^## (\d+\.\d+\.\d+)/m.exec(readFileSync(join(ROOT, '.github/CHANGELOG.md'), 'utf8')) ?? [];
    t.equal(newest, server.version, 'the changelog has it');
    for (const folder of ['.', 'dist/client']) {
      const args = ['pack', '--dry-run', '--json', '--ignore-scripts'];
      const { stdout } = spawnSync('npm', args, {
        cwd: join(ROOT, folder),
        encoding: 'utf8',
      });
      const [{ files }] = JSON.parse(stdout);
      const paths: readonly string[] = files.map(({ path }: { path: string }) => path);
      t.ok(
        paths.some((path) => path.endsWith('.d.ts')) && paths.includes('package.json') && paths.includes('README.md'),
      );
      t.same(
        paths.filter((path) => path.endsWith('.map') || /^(test|bench|src)\//.test(path)),
        [],
        folder,
      );
      if (folder === '.') t.ok(paths.includes('config/default.json') && paths.includes('dist/src/main.js'));
    }
  });

  async function run(
    command: string,
    args: readonly string[],
  ): Promise<{ readonly code: number; readonly out: string }> {
    const child = spawn(command, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let out = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk) => {
        out += chunk;
      });
    const [code] = await once(child, 'close');
    return { code, out };
  }

  t.test('the examples run', async (t) => {
    const { gateway } = await startGateway(t, []);
    const folder = project(t, {});
    await build({
      entryPoints: ['backend', 'bot'].map((name) => join(EXAMPLES, `${name}.ts`)),
      outdir: folder,
      outExtension: { '.js': '.mjs' },
      bundle: true,
      format: 'esm',
      platform: 'node',
      alias: { 'slotgate-client': join(ROOT, 'dist/client/client.js') },
    });
    const backend = await run(process.execPath, [join(folder, 'backend.mjs'), gateway.url]);
    t.match(backend, {
      code: 0,
      out: /^9grdm\w+ 9007199254740993n? \(9007199\.254740993 SOL\)\n1{32} 1 .*\nall at slot \d+; evidence of \d+ bytes\n$/,
    });
    const bot = await run(process.execPath, [join(folder, 'bot.mjs'), gateway.url, '3']);
    t.match(bot, { code: 0, out: /^\d+ [\d.]+ SOL\n\d+ (unchanged|[\d.]+ SOL)\n\d+ (unchanged|[\d.]+ SOL)\n$/ });
    const hasTools = ['curl', 'jq', 'python3', 'openssl'].every(
      (tool) => spawnSync(tool, ['version']).error === undefined,
    );
    if (!hasTools) return t.comment('there is no curl, jq, python3 or openssl');
    const shell = await run('sh', [join(EXAMPLES, 'curl.sh'), gateway.url]);
    t.match(shell, {
      code: 0,
      out: /^\{"sol":"9007199\.254740993","slot":\d+\}\n\["9007199\.254740993",.*\]\n304\ninvalid_address\n<\/docs#error-invalid_address>; rel="help"\n\{"lamports":9007199254740993,.*\}\n$/,
    });
  });

  t.test('the examples compile', async (t) => {
    const folder = project(t, {
      'backend.ts': readFileSync(join(EXAMPLES, 'backend.ts'), 'utf8'),
      'bot.ts': readFileSync(join(EXAMPLES, 'bot.ts'), 'utf8'),
    });
    symlinkSync(join(ROOT, 'node_modules/@types'), join(folder, 'node_modules/@types'));
    const node = { types: ['node'], lib: ['es2023'], skipLibCheck: true };
    t.equal(compile(folder, ['backend.ts', 'bot.ts'], node), '');
    t.ok(existsSync(join(EXAMPLES, 'widget.html')));
  });
});

t.test('create-gateway', async (t) => {
  const ROOT = fileURLToPath(new URL('../../../', import.meta.url)); // from dist/test/e2e

  const cluster = await startEmbeddedCluster({ slotMs: 100, transactionsPerSlot: 0 });
  t.teardown(cluster.close);

  const silent: Log = { info() {}, warn() {}, error() {} };

  /** Settings of a gateway over the cluster that is in no other one's way. */
  const settingsIn = (state: string, node = cluster.url): Settings => ({
    upstreams: [`${node},${cluster.wsUrl}`],
    port: 0,
    dataDir: state,
    upstreamPolicy: { startTimeoutMs: 120_000 },
    admin: { port: 0 },
  });

  const openIn = async (t: Test, settings: Settings): Promise<Gateway> => {
    const gateway = await createGateway(settings, { logger: silent, env: { ...engineEnvironment() } });
    t.teardown(() => gateway.close());
    return gateway;
  };

  t.test('the program of the reference compiles with strict types and runs', async (t) => {
    const source = readFileSync(`${ROOT}test/examples/gateway.ts`, 'utf8');
    const folder = t.testdir({ 'package.json': '{"type":"module"}', 'gateway.ts': source });
    mkdirSync(`${folder}/node_modules`);
    symlinkSync(ROOT, `${folder}/node_modules/slotgate`);
    const compilerOptions = {
      ...{ strict: true, noEmit: true, module: 'nodenext', target: 'es2023', lib: ['es2023', 'dom'] },
      ...{ types: ['node'], typeRoots: [`${ROOT}node_modules/@types`], skipLibCheck: false },
    };
    writeFileSync(`${folder}/tsconfig.json`, JSON.stringify({ compilerOptions, files: ['gateway.ts'] }));
    const env = { ...process.env, SLOTGATE_DATA_DIR: undefined };
    const node = (args: readonly string[]) => promisify(execFile)(process.execPath, args, { cwd: folder, env });
    await node([`${ROOT}node_modules/typescript/bin/tsc`, '-p', folder]);
    const [entry, outfile] = [`${folder}/gateway.ts`, `${folder}/gateway.js`];
    await build({ entryPoints: [entry], outfile, format: 'esm', platform: 'node' });
    const { stdout } = await node([outfile, `${cluster.url},${cluster.wsUrl}`]);
    t.match(stdout, /^http:\/\/127\.0\.0\.1:\d+ serves slot \d+$/m);
  });

  t.test(
    'close answers the pending request, and closes kept connections without waiting for their peers',
    async (t) => {
      const node = await startRpcOverrideProxy(t, cluster.url);
      const gateway = await openIn(t, settingsIn(t.testdir(), node.url));
      await createClient({ url: gateway.url, verify: false }).get('/slot'); // keeps its connection for 4 s
      const kept = connect(Number(new URL(gateway.url).port), '127.0.0.1');
      kept.write('GET /api/v1/slot HTTP/1.1\r\nHost: gateway.example\r\n\r\n');
      await once(kept, 'data');

      let release = (): void => {};
      const held = new Promise<undefined>((resolve) => {
        release = () => resolve(undefined);
      });
      let isHeld = false;
      node.overrides.set('getMultipleAccounts', () => {
        isHeld = true;
        return held;
      });
      const pending = httpClient(gateway.url).get(`/balance/${WALLETS[0].address}`);
      await waitFor(() => isHeld, 'the request at the node');
      const closed = gateway.close();
      release();
      t.equal((await pending).status, 200);
      const startMs = performance.now();
      await Promise.all([closed, once(kept, 'close')]);
      t.ok(performance.now() - startMs < 3_000, 'the client keeps its connection for 4 s, the socket for ever');
    },
  );

  t.test('a signal closes it, and ends a start', async (t) => {
    const ends = new AbortController();
    const gateway = await createGateway(settingsIn(t.testdir()), { logger: silent, signal: ends.signal });
    ends.abort();
    await gateway.close();
    await t.rejects(fetch(`${gateway.url}/api/v1/slot`));
    await t.rejects(createGateway(settingsIn(t.testdir()), { signal: ends.signal }), { name: 'AbortError' });
    const during = new AbortController();
    const starting = createGateway(settingsIn(t.testdir()), { logger: silent, signal: during.signal });
    during.abort(new Error('not needed any more'));
    await t.rejects(starting, { message: 'not needed any more' });
  });

  t.test('settings are checked as those of a file, and only what is given counts', async (t) => {
    const wrong: object = { prot: 1, port: 70_000 };
    const refused = await createGateway(wrong).catch((thrown: unknown) => thrown);
    t.ok(refused instanceof StartError);
    t.match(refused, {
      exitCode: 78,
      message: /port: expected .*, got 70000 \(settings\); unknown setting prot, .* port/,
    });
    const unset: object = { ...settingsIn(t.testdir()), host: undefined };
    t.match((await openIn(t, unset)).url, /^http:\/\/127\.0\.0\.1:\d+$/);
  });

  t.test('two gateways of one process have a listener for operators each, unless its port is chosen', async (t) => {
    const { admin: _, ...settings } = settingsIn(t.testdir());
    const [first, second] = [await openIn(t, settings), await openIn(t, { ...settings, dataDir: t.testdir({}) })];
    t.not(first.admin, second.admin);
    const port = Number(new URL(second.admin ?? '').port);
    await t.rejects(openIn(t, { ...settings, admin: { port } }), StartError);
  });

  t.test('variables that are passed override the settings, and a key among them signs', async (t) => {
    const env = { ...engineEnvironment(), RECEIPT_KEY: 'ephemeral', SLOTGATE_PAGES: 'false' };
    const gateway = await createGateway(settingsIn(t.testdir()), { logger: silent, env });
    t.teardown(() => gateway.close());
    t.equal(gateway.receiptKeyPath, null);
    t.notOk('RECEIPT_KEY' in env);
    t.equal((await fetch(`${gateway.url}/docs`)).status, 404);
  });
});

t.test('embedded-cluster', async (t) => {
  const run = promisify(execFile);
  const ROOT = new URL('../../../', import.meta.url); // from dist/test/e2e
  const section = readFileSync(new URL('src/pages/docs/chapters/embedded-cluster.md', ROOT), 'utf8');
  const [, airdrop = ''] = /^```sh\n(.*?)^```$/ms.exec(section) ?? [];
  const [, sendAndRead = ''] = /^```js\n(.*?)^```$/ms.exec(section) ?? [];

  /** What an older version kept: one genesis for all runs in the folder. */
  const KEPT_GENESIS = '4vJ9JU1bJJE96FWSJKvHsmmFADCg4gpZQff4P3bkLKi';
  const state = t.testdir({ 'cluster.json': JSON.stringify({ hash: KEPT_GENESIS, originMs: 1, slotMs: 400 }) });
  const PATIENT = ['startTimeoutMs', 'timeoutMs', 'slowTimeoutMs'].map((name) => `upstreamPolicy.${name}=120000`);
  const set = [...PATIENT, 'embedded.slotMs=200', 'embedded.transactionsPerSlot=1'];
  const { gateway, get, logged } = await startGateway(t, [], { state, set });
  const rpc = gateway.embedded?.rpc ?? '';
  const asPasted = (code: string): string => code.replaceAll('http://127.0.0.1:8787', gateway.url);

  t.test('the log and, for callers on the same machine, /health have its address', async (t) => {
    const { result } = (await get('/health')).json;
    t.same(result.embedded, { rpc });
    t.equal(await rpcRequest(rpc, 'getGenesisHash'), result.cluster);
    const line = logged.find(({ message }) => /^the embedded demo cluster runs/.test(message));
    t.match(line?.fields, { rpc, cluster: gateway.cluster });
    t.same(
      Object.entries(line?.fields.accounts ?? {}),
      DEMO_ACCOUNTS.map(({ name, address, holds }) => [name, `${address} ${holds}`]),
    );
  });

  t.test('a second gateway in the same folder has a cluster of its own', async (t) => {
    const second = await startGateway(t, [], { state, set: [...set, 'trustedProxies=127.0.0.1'] });
    t.equal(new Set([KEPT_GENESIS, gateway.cluster, second.gateway.cluster]).size, 3);
    const embeddedIn = async (headers: Record<string, string> = {}) =>
      (await second.get('/health', { headers })).json.result.embedded;
    t.same(await embeddedIn(), second.gateway.embedded);
    t.not(second.gateway.embedded?.rpc, rpc);
    t.equal(await embeddedIn({ 'x-forwarded-for': '203.0.113.7' }), null, 'the caller is on another machine');
    t.same(await embeddedIn({ 'x-forwarded-for': '::1' }), second.gateway.embedded);
    t.same((await get('/health', { headers: { 'x-forwarded-for': '203.0.113.7' } })).json.result.embedded, { rpc });
  });

  t.test('the reference names the demo accounts, and they hold what it says', async (t) => {
    const rows = [...section.matchAll(/^\| `(.+)` \| `(.+)` \| (.+) \|$/gm)];
    t.same(
      rows.map(([, ...columns]) => columns),
      DEMO_ACCOUNTS.map(({ name, address, holds }) => [name, address, holds]),
    );
    const lamports: Record<string, number> = {};
    for (const { name, address, holds } of DEMO_ACCOUNTS) {
      lamports[name] = (await get(`/balance/${address}`)).json.result.lamports;
      const [, tokenName] = /^mint of ([\w ]+):/.exec(holds) ?? [];
      if (tokenName !== undefined)
        t.match((await get(`/token/${address}`)).json.result.metadata, { name: tokenName, symbol: name });
    }
    t.ok(Object.values(lamports).every((amount) => amount > 0));
    const [alice, bob, , pool] = DEMO_ACCOUNTS.map(({ address }) => address);
    for (const [owner, tokens] of [
      [alice, 4],
      [bob, 4],
      [pool, 2],
    ] as const) {
      const mints = (await get(`/token-accounts/${owner}`)).json.result.map(({ mint }) => mint);
      for (const { name, address } of DEMO_ACCOUNTS.slice(5, 5 + tokens)) t.ok(mints.includes(address), name);
    }
    await waitFor(async () => (await get(`/address/${alice}/history`)).json.result.rows.length > 0, 'a history');
  });

  interface Statuses {
    readonly value: readonly { readonly confirmationStatus: string; readonly err: unknown }[];
  }

  t.test('the airdrop in the reference lands', async (t) => {
    const { stdout } = await run('sh', ['-c', asPasted(airdrop)]);
    const { result } = JSON.parse(stdout);
    const status = async () => (await rpcRequest<Statuses>(rpc, 'getSignatureStatuses', [[result]])).value[0];
    await waitFor(async () => (await status())?.confirmationStatus === 'confirmed', 'the confirmation');
    t.equal((await status())?.err, null);
  });

  t.test('the program in the reference sends a transaction and reads its own write', async (t) => {
    const file = `${t.testdir()}/send.mjs`;
    writeFileSync(file, asPasted(sendAndRead));
    const { stdout } = await run(process.execPath, [file], { env: { PATH: process.env['PATH'] } });
    const [, sent, read] = /^sent in slot (\d+); at slot (\d+) the balance is 0\.25 SOL\n$/.exec(stdout) ?? [];
    t.ok(Number(read) >= Number(sent), stdout);
  });
});

t.test('demo-portfolio', async (t) => {
  t.test('a gateway without configuration shows a portfolio valued by on-chain prices', async (t) => {
    const { get } = await startGateway(t, []);
    const target = `/address/${WALLETS[0].address}/portfolio` as const;
    await waitFor(async () => (await get(target)).status === 200, 'a portfolio');
    const { json } = await get(target);
    const { result } = json;
    t.match(result.valuation, { currency: 'USD', source: 'pyth-onchain' });
    t.ok(result.totalUsd > 0);
    t.equal(result.pricedCount, result.items.length);
    t.ok(result.items.length > 1);
    for (const { mint, priceUsd, priceSource, priceSlot, valueUsd } of result.items) {
      t.ok(mint in PRICE_FEEDS);
      t.equal(priceSource, 'pyth-onchain');
      t.ok(priceUsd > 0 && valueUsd > 0);
      t.ok(priceSlot > 0);
    }
    t.match((await get(`/token/${result.items[1].mint}`)).json.result, { priceSource: 'pyth-onchain' });
  });
});
