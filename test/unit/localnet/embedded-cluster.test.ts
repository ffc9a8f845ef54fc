import { once } from 'node:events';
import t from 'tap';
import { WebSocket } from 'ws';
import { StartError } from '../../../src/domain/start-error.ts';
import { startEmbeddedCluster } from '../../../src/localnet/embedded-cluster.ts';
import { rpcRequest } from '../../support/rpc-request.ts';

const first = await startEmbeddedCluster({ slotMs: 50, transactionsPerSlot: 1 });
const port = Number(new URL(first.url).port);

t.test('a cluster in a thread answers like a node', async (t) => {
  t.equal(await rpcRequest(first.url, 'getGenesisHash'), first.genesisHash);
  const slots: number[] = [];
  while (slots.length < 5) {
    const slot = await rpcRequest(first.url, 'getSlot', [{ commitment: 'processed' }]);
    if (slot !== slots.at(-1)) slots.push(slot);
  }
  t.same(
    slots,
    [...slots].sort((a, b) => a - b),
  );
  t.match(await first.control.requestCounts(), { getGenesisHash: 1 });
});

t.test('pubsub is on the port of RPC and on the next one, also when it listens again', async (t) => {
  const next = `http://127.0.0.1:${port + 1}`;
  await first.control.stopListening();
  for (const closed of [first.url, next]) await t.rejects(fetch(closed), closed);
  await first.control.startListening();
  for (const url of [first.url, next]) {
    const socket = new WebSocket(url.replace('http', 'ws'));
    await once(socket, 'open');
    socket.send('{"jsonrpc":"2.0","id":1,"method":"slotSubscribe"}');
    const [acknowledgement] = await once(socket, 'message');
    t.match(JSON.parse(acknowledgement), { id: 1, result: Number });
    socket.terminate();
  }
  t.equal((await fetch(next)).status, 426, 'which has no RPC over HTTP');
});

t.test('a cluster that must have a port which is in use reports the reason', async (t) => {
  const starting = startEmbeddedCluster({ transactionsPerSlot: 0, port });
  const message = new RegExp(
    `can't listen on port ${port}, and on ${port + 1} for WebSocket \\(.*EADDRINUSE.*\\): choose`,
  );
  await t.rejects(starting, { message });
  await starting.catch((thrown) => t.ok(thrown instanceof StartError));
});

t.test('one that may have others is another cluster, with the same demo accounts', async (t) => {
  const second = await startEmbeddedCluster({ transactionsPerSlot: 0, port, orFreePorts: true });
  t.same(second.takenPort, { port, genesisHash: first.genesisHash });
  t.not(await rpcRequest(second.url, 'getGenesisHash'), first.genesisHash);
  t.same(second.accounts, first.accounts);
  await second.close();
  t.equal(await second.ended, undefined);
});

t.test('a killed cluster refuses connections and commands', async (t) => {
  await first.kill();
  t.equal(await first.ended, undefined);
  await t.rejects(rpcRequest(first.url, 'getSlot'), 'connections are refused');
  await t.rejects(first.control.fork(), { message: 'the embedded cluster has ended' });
  await first.close();
});
