import { once } from 'node:events';
import t from 'tap';
import { WebSocket } from 'ws';
import { startEmbeddedCluster } from '../../src/localnet/embedded-cluster.ts';
import { WALLETS } from '../../src/localnet/traffic/demo-accounts.ts';
import { type Child, listening, PATIENT, run } from '../support/child-process.ts';
import { client, until } from '../support/open.ts';

const folders = t.testdir({ cluster: {}, killed: {}, rotated: {}, drained: {} });
const cluster = await startEmbeddedCluster({ state: `${folders}/cluster`, slotMs: 100, transactionsPerSlot: 1 });
t.teardown(cluster.close);

async function serve(state: string): Promise<{ readonly child: Child; readonly url: string }> {
  const upstream = `${cluster.url},${cluster.wsUrl}`;
  const child = run(new URL('../../src/main.js', import.meta.url), [
    ...['--port', '0', '--state', `${folders}/${state}`, '--upstream', upstream, ...PATIENT],
  ]);
  t.teardown(() => child.process.kill('SIGKILL'));
  return { child, url: (await listening(child)).url };
}

t.test('a gateway that was killed comes back with the same key, which nobody else holds', async (t) => {
  const first = await serve('killed');
  const { text } = await client(first.url).get('/pubkey');
  first.child.process.kill('SIGKILL');
  t.equal(await first.child.ended(), 'SIGKILL');
  const second = await serve('killed');
  t.equal((await client(second.url).get('/pubkey')).text, text);
  t.match(first.child.out(), 'receipt key created');
  t.notMatch(second.child.out(), 'receipt key created');
  t.notMatch(second.child.out(), 'another process');
  second.child.process.kill('SIGTERM');
  t.equal(await second.child.ended(), 0);
});

t.test('a key that was rotated is told of on SIGHUP, and signs without a restart', async (t) => {
  const { child, url } = await serve('rotated');
  const { get } = client(url);
  const before = (await get('/pubkey')).json.publicKey;
  const rotate = run(new URL('../../src/main.js', import.meta.url), [
    ...['receipt', 'key', 'rotate', '--after', '0', '--state', `${folders}/rotated`],
  ]);
  t.equal(await rotate.ended(), 0, rotate.err());
  const [, publicKey] = /^active {3}[0-9a-f]{16} {2}(\w+)/m.exec(rotate.out()) ?? [];
  t.equal((await get('/pubkey')).json.publicKey, before);
  child.process.kill('SIGHUP');
  await until(() => child.out().includes('the receipt keys were read again'));
  t.equal((await get('/pubkey')).json.publicKey, publicKey);
  child.process.kill('SIGTERM');
  t.equal(await child.ended(), 0);
});

t.test('on SIGTERM what is under way is answered, listeners are told, and the process ends with 0', async (t) => {
  const { child, url } = await serve('drained');
  const { get } = client(url);
  const socket = new WebSocket(`${url.replace('http', 'ws')}/api/v1/stream`);
  await once(socket, 'message');
  await cluster.control.delayResponses(700);
  const calls = async () => (await cluster.control.requestCounts())['getMultipleAccounts'] ?? 0;
  const before = await calls();
  const answer = get(`/balance/${WALLETS[0].address}`);
  const closed = once(socket, 'close');
  await new Promise((resolve) => setTimeout(resolve, 200)); // the request is with the cluster
  t.equal(await calls(), before, 'which has not looked at it yet');
  child.process.kill('SIGTERM');
  await until(() => child.out().includes('"closing"'));
  const [code] = await closed;
  t.equal(code, 1001);
  await t.rejects(get('/slot'), 'no new connection is taken');
  const { status, json, headers } = await answer;
  t.equal(status, 200);
  t.type(json.result.lamports, 'number');
  t.equal(headers.get('connection'), 'close');
  t.equal(await child.ended(), 0);
  t.equal(child.err(), '');
});
