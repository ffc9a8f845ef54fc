import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { httpClient, waitFor } from '../support/harness.ts';

// Each Node that slotgate supports: $NODES names their programs.

const MAIN = fileURLToPath(new URL('../../src/main.js', import.meta.url));
const CLIENT = new URL('../../src/client/client.js', import.meta.url).href;
const VERIFIER = new URL('../../src/client/verify/verify-receipt.js', import.meta.url).href;

const nodes = (process.env['NODES'] ?? '').split(':').filter((node) => node !== '');

/** Ports and waits that fit a test. */
const SETTINGS = ['embedded.port=0', 'admin.port=0', 'upstreamPolicy.startTimeoutMs=60000', 'drainTimeoutMs=0'].flatMap(
  (setting) => ['--set', setting],
);

/** A program that reads by the SDK, with each receipt verified, and then a frame of the stream. */
const PROGRAM = `
  import { createClient } from '${CLIENT}';
  import { verifyReceipt } from '${VERIFIER}';
  const url = process.argv[1];
  const { result: { cluster } } = await (await fetch(url + '/api/v1/health')).json();
  const { publicKey } = await (await fetch(url + '/api/v1/pubkey')).json();
  const text = await (await fetch(url + '/api/v1/slot')).text();
  const { slot } = verifyReceipt(text, { publicKeys: [publicKey], cluster, request: 'GET /api/v1/slot' });
  const client = createClient({ url, publicKey, cluster });
  const { result } = await client.get('/slot');
  process.stdout.write(JSON.stringify({ verified: slot, read: Number(result) }));
  process.exit();
`;

/** Runs a program of the package under a Node to its end. */
const run = (node: string, args: readonly string[]) => spawnSync(node, args, { encoding: 'utf8', timeout: 60_000 });

/** A program with a gateway of its own; the compiler checks the one of test/examples. */
const LIBRARY = `
  import { createClient, createGateway } from 'slotgate';
  const gateway = await createGateway({ port: 0, embedded: { port: 0 }, admin: { port: null }, log: { level: 'error' } });
  const { slot } = await createClient({ url: gateway.url, publicKey: gateway.publicKey }).get('/slot');
  const startMs = performance.now();
  await gateway.close();
  console.log(JSON.stringify({ slot, closeMs: Math.round(performance.now() - startMs) }));
`;

/** Installs the packed package in a new project, with the program in it; returns the project's folder. */
function installPacked(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'slotgate-nodes-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const npm = (cwd: string, ...args: readonly string[]): string => {
    const { status, stdout, stderr } = spawnSync('npm', args, { cwd, encoding: 'utf8', timeout: 240_000 });
    t.equal(status, 0, `npm ${args.join(' ')}\n${status === 0 ? '' : stderr}`);
    return stdout;
  };
  const root = fileURLToPath(new URL('../../../', import.meta.url)); // from dist/test/nodes
  const [{ filename }] = JSON.parse(npm(root, 'pack', '--json', '--ignore-scripts', '--pack-destination', folder));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  npm(folder, 'install', '--no-audit', '--no-fund', '--prefer-offline', join(folder, filename));
  writeFileSync(join(folder, 'library.js'), LIBRARY);
  return folder;
}

/** Starts a gateway over the embedded cluster, reads by all that users have, and ends it. Returns the engine that it chose. */
async function serveAndRead(t: Test, node: string, more: readonly string[] = []): Promise<string> {
  const startMs = performance.now();
  const args = ['--port', '0', '--state', `${t.testdir()}/state`, ...SETTINGS, ...more];
  const gateway = spawn(node, [MAIN, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.teardown(() => gateway.kill('SIGKILL'));
  let log = '';
  gateway.stdout.setEncoding('utf8').on('data', (text: string) => (log += text));
  await waitFor(() => log.includes('"listening"') || gateway.exitCode !== null, 'the port');
  const url = /"url":"([^"]+)"[^\n]*"listening"/.exec(log)?.[1] ?? '';
  const answered = run(node, [MAIN, 'get', '/slot', '--url', url]);
  t.equal(answered.status, 0, `slotgate get: ${answered.stderr}`);
  const seconds = ((performance.now() - startMs) / 1000).toFixed(1);
  const read = run(node, ['--input-type=module', '--eval', PROGRAM, url]);
  t.match(read.stdout, /^\{"verified":\d+,"read":\d+\}$/, `SDK and verifier: ${read.stderr}`);
  const { engine } = (await httpClient(url).get('/health')).json.result;
  t.match(log.split('\n')[0], `"engine":{"name":"${engine.name}","version":"${engine.version}"}`, 'in the first line');
  const admin = /"admin":"([^"]+)"/.exec(log)?.[1];
  const metrics = await (await fetch(`${admin}/metrics`)).text();
  t.match(metrics, `engine="${engine.name} ${engine.version}"`, 'the metric');
  gateway.kill('SIGTERM');
  const [code] = await once(gateway, 'exit');
  t.equal(code, 0, 'SIGTERM ends it');
  t.comment(`${engine.name} ${engine.version}: a verified answer after ${seconds} s`);
  return engine.name;
}

t.ok(nodes.length > 0, 'NODES names some');

const packed = installPacked(t);

for (const node of nodes) {
  const version = run(node, ['-p', 'process.versions.node']).stdout.trim();
  t.test(`Node ${version} serves, reads and verifies`, async (t) => {
    const engine = await serveAndRead(t, node);
    if (engine !== 'node') t.equal(await serveAndRead(t, node, ['--set', 'http.engine=node']), 'node');
    const library = spawnSync(node, ['library.js'], { cwd: packed, encoding: 'utf8', timeout: 60_000 });
    t.match(library.stdout, /^\{"slot":\d+,"closeMs":\d+\}$/m, `the library: ${library.stderr}`);
    t.comment(`the library: ${library.stdout.trim()}`);
    const upstream = ['--upstream', 'http://127.0.0.1:9']; // nobody listens there
    const doctor = run(node, [MAIN, 'doctor', '--state', `${t.testdir()}/doctor`, ...upstream, ...SETTINGS]);
    t.match(doctor.stdout, new RegExp(`HTTP engine +${engine} `), doctor.stderr);
    t.match(doctor.stdout, /node-1/);
    const misspelt = run(node, [MAIN, '--set', 'http.engine=nginx']);
    t.equal(misspelt.status, 78, 'a wrong setting');
    const refused = run(node, [MAIN, '--port', '0', '--set', 'http.engine=uws']);
    if (engine !== 'uws')
      t.match([refused.status, refused.stderr], [78, /^slotgate: http\.engine is uws, which does not load here: /]);
  });
}
