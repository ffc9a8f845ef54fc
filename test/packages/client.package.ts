import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import t, { type Test } from 'tap';
import { routes } from '../../src/gateway/routes/index.ts';
import { startEmbeddedCluster } from '../../src/localnet/embedded-cluster.ts';
import { startGateway } from '../support/harness.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url)); // from dist/test/packages

t.test('client-package', async (t) => {
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

  t.test('the client without dependencies compiles where there are neither the types of Node nor zod', async (t) => {
    const folder = project(t, { 'use.mts': USE });
    t.equal(compile(folder, ['use.mts']), '');
    t.equal(compile(folder, ['use.mts'], { module: 'esnext', moduleResolution: 'bundler' }), '', 'for a bundler');
  });

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
      const unwanted = paths.filter((path) => path.endsWith('.map') || /^(test|bench|src)\//.test(path));
      t.same(unwanted, [], folder);
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
      out: /^\{"sol":"9007199\.254740993","slot":\d+\}\n\["9007199\.254740993",.*\]\n304\ninvalid_address\n<\.\.\/\.\.\/\.\.\/docs\/errors#error-invalid_address>; rel="help"\n\{"lamports":9007199254740993,.*\}\n$/,
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

t.test('library-package', async (t) => {
  const cluster = await startEmbeddedCluster({ slotMs: 100, transactionsPerSlot: 0 });
  t.teardown(cluster.close);

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
});
