import { generateKeyPairSync } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { newApiKey } from '../../src/access/api-key.ts';
import { keysPath } from '../../src/access/key-store.ts';
import { startEmbedded } from '../../src/cluster/embedded.ts';
import { issue, recordOf } from '../access/issued.ts';
import { run } from '../child.ts';
import { client, type Got, until } from './open.ts';

const folders = t.testdir({ cluster: {}, state: {} });
const state = `${folders}/state`;

const pem = generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
const seed = Buffer.from(pem.split('\n')[1] ?? '', 'base64').subarray(-32);
const [valid, guessed] = [newApiKey(), newApiKey()];
/** What may be told to nobody but whom it is for, each by who that is. */
const SECRETS = {
  upstream: ['path5ecretOfTheNode', 'query5ecretOfTheNode', 'socket5ecretOfTheNode'],
  caller: [valid, guessed, valid.slice(8), guessed.slice(8)],
  process: [pem.split('\n')[1] ?? '', seed.toString('hex'), seed.toString('base64')],
};
const PATIENT = ['upstream.timeoutMs=60000', 'upstream.slowTimeoutMs=60000'].flatMap((set) => ['--set', set]);
const [path, query, socket] = SECRETS.upstream;

const cluster = await startEmbedded({ state: `${folders}/cluster`, slotMs: 100, perSlot: 1 });
t.teardown(cluster.close);

/** A node that notes all that it gets, and whose errors tell how it was asked. */
const heard: string[] = [];
const node = createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = Buffer.concat(chunks).toString();
  heard.push(`${request.method} ${request.url} ${request.rawHeaders.join(' ')} ${body}`);
  if (body.includes('getSignaturesForAddress')) {
    const { id } = JSON.parse(body);
    const message = `not for http://${request.headers.host}${request.url}, key ${path}: ${query}`;
    response.end(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32603, message } }));
    return;
  }
  if (body.includes('getClusterNodes')) {
    response.writeHead(500).end(`no more for ${request.url}`);
    return;
  }
  const passed = await fetch(cluster.url, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  response.end(await passed.text());
});
await new Promise<void>((resolve) => node.listen(0, '127.0.0.1', resolve));
t.teardown(() => {
  node.close();
  node.closeAllConnections();
});
const { port } = node.address() as AddressInfo; // it listens on TCP

t.test('25: nothing that the process says, shows or keeps holds a secret, nor what it asks of a node', async (t) => {
  await issue(keysPath(state), recordOf(valid));
  const upstream = `http://127.0.0.1:${port}/v2/${path}?api-key=${query},${cluster.wsUrl}/?token=${socket}`;
  const main = new URL('../../src/main.js', import.meta.url);
  const child = run(main, ['--port', '0', '--state', state, '--upstream', upstream, ...PATIENT], { RECEIPT_KEY: pem });
  t.teardown(() => child.process.kill('SIGKILL'));
  await child.says('"listening"');
  const line =
    child
      .out()
      .split('\n')
      .find((line) => line.includes('"listening"')) ?? '{}';
  const { get, rpc } = client(JSON.parse(line).url);

  const shown: string[] = [];
  const ask = async (asking: Promise<Got>): Promise<number> => {
    const { status, headers, text } = await asking;
    shown.push(JSON.stringify([...headers]), text);
    return status;
  };
  const wallet = 'So11111111111111111111111111111111111111112';
  for (const key of [valid, guessed, `${valid}x`]) {
    const headers = { 'x-api-key': key, 'content-type': 'application/json' };
    const asked = [
      get('/slot', { headers }),
      get(`/balance/${wallet}`, { headers }),
      get(`/address/${wallet}/history`, { headers }),
      rpc({ method: 'getSignaturesForAddress', params: [wallet] }, { headers }),
      rpc({ method: 'getClusterNodes' }, { headers }),
    ];
    for (const answer of asked) t.equal((await ask(answer)) === 401, key !== valid);
  }
  for (const open of ['/health', '/pubkey', '/openapi.json', '/network']) await ask(get(open));
  const title = existsSync('/proc/self/cmdline') ? readFileSync(`/proc/${child.process.pid}/cmdline`, 'utf8') : '';
  const usage = `${state}/usage.log`;
  await until(() => existsSync(usage), 'usage'); // it is written a second later
  node.closeAllConnections();
  node.close();
  await ask(get('/account/Vote111111111111111111111111111111111111111'));
  child.process.kill('SIGTERM');
  t.equal(await child.ended(), 0);

  const kept = readdirSync(state).map((name) => readFileSync(`${state}/${name}`, 'utf8'));
  const said = { log: child.out() + child.err(), shown: shown.join('\n'), title, kept: kept.join('\n') };
  for (const [where, text] of Object.entries(said)) {
    for (const secret of Object.values(SECRETS).flat()) t.notOk(text.includes(secret), `${where}: ${secret}`);
  }
  t.match(said.log, /"level"/);
  t.ok(heard.length > 5 && heard.some((question) => question.includes(`${path}`)));
  for (const secret of [...SECRETS.caller, ...SECRETS.process])
    t.notOk(
      heard.some((question) => question.includes(secret)),
      'a node hears nothing of callers',
    );
});
