import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import { CLOCK_SYSVAR } from '../../../../src/domain/well-known-addresses.ts';
import { loadEngine } from '../../../../src/http/load-engine.ts';
import { runSlotgate } from '../../../support/run-slotgate.ts';
import {
  errorBody,
  notificationJson,
  resultBody,
  ScriptedNode,
  SECRET,
  subscriptionId,
} from '../../../support/scripted-node.ts';

interface Told {
  readonly verdict: string;
  readonly name: string;
  readonly finding: string;
  readonly fix?: string;
}

/** Runs the doctor, over the engine that loads everywhere; returns what is not in order, by name, and its exit code. */
async function examine(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const { code, out, err } = await runSlotgate(
    ['doctor', '--json', '--port', '0', '--admin-port', '0', '--set', 'http.engine=node', ...args],
    env,
  );
  const { findings }: { readonly findings: readonly Told[] } = JSON.parse(out);
  const faults = new Map(findings.filter(({ verdict }) => verdict !== 'ok').map((told) => [told.name, told]));
  return { code, err, text: out, faults };
}

const answerAll = ['getVersion', 'getFirstAvailableBlock'] as const;

/** Starts a node in order, which has news for every subscription. */
async function startNode(t: Test): Promise<ScriptedNode> {
  const node = await ScriptedNode.start();
  t.teardown(() => node.close());
  const replies = node.replies as Record<string, ScriptedNode['replies']['getSlot']>;
  for (const method of answerAll) replies[method] = method === 'getVersion' ? '{"solana-core":"3.0.0"}' : '0';
  node.onPubsubRequest = (socket, asked) => {
    socket.send(resultBody(asked, subscriptionId(asked)));
    socket.send(notificationJson(asked.method, subscriptionId(asked), '{}'));
  };
  const { READ_METHODS } = await import('../../../../src/domain/rpc-methods.ts');
  for (const method of READ_METHODS) replies[method] ??= 'null';
  return node;
}

/** Returns the flag that names a node, with keys in both URLs. */
const upstream = (node: ScriptedNode): readonly string[] => {
  const { url, wsUrl } = node.nodeOptions('node-1');
  return ['--upstream', `${url},${wsUrl}`];
};

/** Asserts that a fault is named with a fix, and that nothing else is. */
function names(t: Test, found: Awaited<ReturnType<typeof examine>>, faults: Readonly<Record<string, RegExp>>): void {
  t.same([...found.faults.keys()].sort(), Object.keys(faults).sort(), found.text);
  for (const [name, finding] of Object.entries(faults)) {
    const told = found.faults.get(name);
    t.match(told?.finding, finding, name);
    t.ok(told?.fix, `${name} has a fix`);
  }
  const fails = [...found.faults.values()].filter(({ verdict }) => verdict === 'fail').length;
  t.equal(found.code, fails > 0 ? 1 : 0);
  t.notMatch(found.text + found.err, SECRET, 'no secret');
}

t.test('a machine and a node in order have no finding but ok', async (t) => {
  const node = await startNode(t);
  names(t, await examine([...upstream(node), '--state', `${t.testdir()}/new`], { RECEIPT_KEY: 'ephemeral' }), {
    'receipt key': /given inline/,
  });
});

t.test('the HTTP engine is named, and what it does worse than another', async (t) => {
  const node = await startNode(t);
  const args = [...upstream(node), '--state', `${t.testdir()}/new`, '--set', 'http.engine=auto'];
  const { text, faults } = await examine(args, { RECEIPT_KEY: 'ephemeral' });
  const { engine, drawback } = await loadEngine('auto');
  t.match(text, `"name":"HTTP engine","finding":"${engine.name} ${engine.version}`);
  t.equal(faults.get('HTTP engine')?.fix, drawback);
});

t.test('planted faults of this machine are named with a fix', async (t) => {
  const node = await startNode(t);
  const ask = (args: readonly string[], env?: Readonly<Record<string, string>>) =>
    examine([...upstream(node), ...args], env);
  const folder = t.testdir({ state: {}, file: '' });
  const state = `${folder}/state`;
  chmodSync(state, 0o700);
  const inState = ['--state', state];

  names(t, await ask(['--set', 'cache.byte=1']), { settings: /unknown setting cache\.byte, .* cache\.bytes/ });
  names(t, await ask(['--state', `${folder}/file`]), { 'state folder': /is no folder/, 'receipt key': /./ });

  const other = createServer((_, response) => response.end('{}')).listen(0, '127.0.0.1');
  t.teardown(() => other.close());
  await new Promise((resolve) => other.once('listening', resolve));
  const { port } = other.address() as AddressInfo; // it listens on TCP
  names(t, await ask([...inState, '--port', `${port}`]), { port: /the port is in use/ });

  writeFileSync(`${state}/receipt-key.pem`, 'no key', { mode: 0o600 });
  writeFileSync(`${state}/keys.json`, '{', { mode: 0o600 });
  names(t, await ask(inState), { 'receipt key': /can't be used/, 'API keys': /is not JSON/ });

  mkdirSync(`${folder}/open`);
  chmodSync(`${folder}/open`, 0o755);
  t.equal((await runSlotgate(['receipt', 'key', 'create', '--state', `${folder}/open`])).code, 0);
  chmodSync(`${folder}/open/receipt-key.pem`, 0o644);
  names(t, await ask(['--state', `${folder}/open`]), {
    'state folder': /open to others \(mode 755\)/,
    'receipt key': /has mode 644, others can use it/,
  });

  const huge = ['cache.bytes=1099511627776', 'watch.accounts=1000000', 'upstream.connections=10000'].flatMap((each) => [
    '--set',
    each,
  ]);
  names(t, await ask([...huge, '--state', `${folder}/new`], { SLOTGATE_PORT: 'tcp://10.0.0.1:8787' }), {
    environment: /enableServiceLinks/,
    memory: /the cache takes up to/,
    'open files': /slotgate takes \d{5} itself/,
  });
});

t.test('planted faults of nodes are named with a fix', async (t) => {
  const state = ['--state', `${t.testdir()}/new`];
  const ask = (...args: readonly string[]) => examine([...args, ...state]);

  const missing = await startNode(t);
  await missing.close();
  names(t, await ask(...upstream(missing)), { 'node-1 HTTP': /^connection refused$/ });

  const faulty = await startNode(t);
  const { replies } = faulty;
  replies.getBlock = (response, asked) =>
    response.end(errorBody(asked, '{"code":-32601,"message":"Method not found"}'));
  replies.getTransaction = (response, asked) =>
    response.end(
      errorBody(asked, `{"code":-32000,"message":"getTransaction is not available on the plan of ${SECRET}"}`),
    );
  let reads = 0;
  replies.getSlot = (response, asked) => {
    const lag = { processed: 0, confirmed: 1, finalized: 200 }[asked.params[0]?.commitment as 'processed'] ?? 200;
    response.setHeader('date', new Date(Date.now() - 60_000).toUTCString());
    response.end(resultBody(asked, `${1000 - lag + (reads++ % 2) * 5}`));
  };
  replies.getGenesisHash = (response, asked) => {
    response.setHeader('date', new Date(Date.now() - 60_000).toUTCString());
    response.end(resultBody(asked, '"EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG"'));
  };
  faulty.onPubsubRequest = (socket, asked) => {
    if (asked.params[0] === CLOCK_SYSVAR) socket.send(errorBody(asked, '{"code":-32005,"message":"too many"}'));
    else if (asked.method === 'programSubscribe')
      socket.send(errorBody(asked, `{"code":-32601,"message":"no programSubscribe for ${SECRET}"}`));
    else {
      socket.send(resultBody(asked, subscriptionId(asked)));
      socket.send(notificationJson(asked.method, subscriptionId(asked), '{}'));
    }
  };
  const cluster = ['--set', 'cluster=5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d'];
  names(t, await ask(...upstream(faulty), ...cluster), {
    'node-1 cluster': /^devnet EtWT.*, but the setting cluster is 5eykt/,
    'node-1 slots': /finalized -\d+/,
    'node-1 reads': /slots went back by 5: it is many nodes/,
    'node-1 methods': /^19 of 21 methods; refused: (getBlock, getTransaction|getTransaction, getBlock)$/,
    'node-1 account news': /^refused: error -32005 too many$/,
    'node-1 program news': /refused: error -32601/,
    clock: /^(59|60|61) s ahead of the nodes$/,
  });
});

t.test('nodes are compared, and one without a WebSocket or over its limit is named', async (t) => {
  const state = ['--state', `${t.testdir()}/new`];
  const [ahead, behind, limited] = await Promise.all([startNode(t), startNode(t), startNode(t)]);
  ahead.slots = { processed: 200, confirmed: 198, finalized: 168 };
  const { url } = behind.nodeOptions('');
  limited.replies.getSlot = (response) => response.writeHead(429).end();
  const found = await examine([
    ...[...upstream(ahead), '--upstream', `${url},ws://127.0.0.1:1/${SECRET}`],
    ...[...upstream(limited), ...state],
  ]);
  names(t, found, {
    'node-2 lag': /^100 slots behind the newest node$/,
    'node-2 WebSocket': /^connection refused$/,
    'node-3 slots': /does not tell its slots/,
    'node-3 reads': /HTTP 429/,
    'node-3 methods': /HTTP 429/,
  });
  const text = await runSlotgate(['doctor', '--port', '0', '--admin-port', '0', ...upstream(ahead), ...state]);
  t.match(text.out, /^ok {4}node-1 {15}http:\/\/127\.0\.0\.1:\d+\/\*\*\*, ws:\/\/127\.0\.0\.1:\d+\/\*\*\*$/m);
  t.notMatch(text.out, '\u001b');
});
