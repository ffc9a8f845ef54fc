import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { chromium } from 'playwright-core';
import t from 'tap';

// Packs both packages, installs them in a new project as users do, and uses them. It needs the network.

const ROOT = fileURLToPath(new URL('../../../', import.meta.url)); // from dist/test/packs
const PUBLINT = 'publint@0.3.25';
const NODE_TYPES = '@types/node@20.19.43';
const ATTW = '@arethetypeswrong/cli@0.18.5';

const folder = mkdtempSync(join(tmpdir(), 'slotgate-packs-'));
t.teardown(() => rmSync(folder, { recursive: true, force: true }));

/** Runs a program in the new project, and fails the test with its output if it fails. */
function run(command: string, args: readonly string[], cwd = folder): string {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8', timeout: 240_000 });
  t.equal(status, 0, `${command} ${args.join(' ')}\n${status === 0 ? '' : stdout + stderr}`);
  return stdout;
}

/** Packs a folder; returns the path of the archive. */
function pack(source: string): string {
  const [{ filename }] = JSON.parse(
    run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], join(ROOT, source)),
  );
  return join(folder, filename);
}

const archives = { server: pack('.'), client: pack('dist/client') };

/** A program with a gateway of its own. */
const LIBRARY = `import { createGateway, createLog, type Log, type Settings, StartError } from 'slotgate';
const logger: Log = createLog('warn');
const settings: Settings = { upstreams: ['http://127.0.0.1:8899', { url: 'https://a.example', weight: 2 }], port: 8080 };
const gateway = await createGateway(settings, { logger, signal: new AbortController().signal });
await gateway.close().catch((error: unknown) => error instanceof StartError && error.exitCode);
// @ts-expect-error no such setting
await createGateway({ upstream: ['http://127.0.0.1:8899'], port: 8080 });
`;

t.test('both packs are as their users and tools expect', async () => {
  run('npm', ['init', '--yes']);
  run('npm', ['pkg', 'set', 'type=module']);
  run('npm', ['install', '--no-audit', '--no-fund', NODE_TYPES, archives.server, archives.client]);
  for (const archive of Object.values(archives)) {
    run('npx', ['--yes', PUBLINT, 'run', '--strict', archive]);
    run('npx', ['--yes', ATTW, '--profile', 'esm-only', archive]);
  }
});

t.test('a newcomer has a verified answer from the packs', async (t) => {
  const command = join(folder, 'node_modules/.bin/slotgate');
  t.match(run(command, ['--version']), /^\d+\.\d+\.\d+\n$/);
  const args = ['start', '--port', '0', '--set', 'embedded.port=0', '--state', join(folder, 'state')];
  const gateway = spawn(command, args, { cwd: folder });
  t.teardown(() => gateway.kill());
  let log = '';
  gateway.stdout.on('data', (chunk) => (log += chunk));
  while (!log.includes('"listening"')) await once(gateway.stdout, 'data');
  const [, url = ''] = /"url":"(http:[^"]+)"/.exec(log) ?? [];
  const WHALE = '9grdmoXBEpJAQTNdRwykoouDMS4MoJ2vrDMLnbTpzT9o';
  t.match(run(command, ['get', `/balance/${WHALE}`, '--url', url, '--nonce']), '"9007199.254740993"');

  const use = `import { createClient } from 'slotgate-client';
import { verifyReceipt } from 'slotgate-client/verify';
import { defineStatusElement } from 'slotgate-client/widget';
const url: string = (globalThis as { url?: string }).url ?? '${url}';
const { result, body } = await createClient({ url }).get('/balance/:addr', { addr: '${WHALE}' });
const { cluster } = (await (await fetch(url + '/api/v1/health')).json()).result;
const { publicKey } = await (await fetch(url + '/api/v1/pubkey')).json();
const request = 'GET /api/v1/balance/${WHALE}';
const verified = verifyReceipt(body, { publicKeys: [publicKey], cluster, request });
const verify = (frame: string, request: string) =>
  verifyReceipt(frame, { publicKeys: [publicKey], cluster, request }).slot > 0;
defineStatusElement({ gateway: url + '/', verify });
document.title = result.sol + ' ' + verified.result.length;
`;
  writeFileSync(join(folder, 'use.ts'), use);
  const typeCheck = (file: string, compilerOptions: object): void => {
    const strict = { strict: true, noEmit: true, module: 'nodenext', target: 'es2023' };
    const config = { compilerOptions: { ...strict, ...compilerOptions }, files: [file] };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
    run(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', folder]);
  };
  typeCheck('use.ts', { lib: ['es2023', 'dom'], types: [], skipLibCheck: false });
  writeFileSync(join(folder, 'library.ts'), LIBRARY);
  typeCheck('library.ts', { types: ['node'], skipLibCheck: true }); // the declarations of kit need newer libraries
  const outfile = join(folder, 'use.js');
  await build({ entryPoints: [join(folder, 'use.ts')], bundle: true, format: 'esm', outfile, absWorkingDir: folder });

  const page = createServer((request, response) => {
    response.setHeader('content-type', request.url === '/use.js' ? 'text/javascript' : 'text/html');
    response.end(
      request.url === '/use.js'
        ? readFileSync(outfile)
        : '<slotgate-status></slotgate-status><script type="module" src="/use.js"></script>',
    );
  }).listen(0, '127.0.0.1');
  t.teardown(() => page.close());
  await once(page, 'listening');
  const { port } = page.address() as AddressInfo; // it listens on TCP
  const browser = await chromium.launch({
    executablePath: process.env['CHROMIUM'] ?? 'chromium',
    args: ['--no-sandbox'],
  });
  t.teardown(() => browser.close());
  const tab = await browser.newPage();
  await tab.goto(`http://127.0.0.1:${port}/`);
  await tab.waitForFunction('document.title !== ""');
  t.equal(await tab.title(), '9007199.254740993 55');
  await tab.waitForFunction('document.querySelector("slotgate-status").frame?.slot > 0');
});
