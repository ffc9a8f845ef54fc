import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import { listenOnPair } from '../../../src/localnet/port-pair.ts';

const GENESIS = '4vJ9JU1bJJE96FWSJKvHsmmFADCg4gpZQff4P3bkLKi';

const portOf = (server: Server): number => (server.address() as AddressInfo).port; // it listens on TCP

/** Creates two servers, which are closed when the test ends. */
function twoServers(t: Test): [Server, Server] {
  const servers: [Server, Server] = [createServer(), createServer()];
  t.teardown(() => {
    for (const server of servers) server.close();
  });
  return servers;
}

/** Listens on a port, as another process does; returns it. */
async function occupy(t: Test, respond: RequestListener): Promise<number> {
  const server = createServer(respond).listen(0, '127.0.0.1');
  t.teardown(() => server.close());
  await once(server, 'listening');
  return portOf(server);
}

t.test('two free ports are neighbours', async (t) => {
  for (const wanted of [{}, { port: 0 }, { port: 0, orFreePorts: true }]) {
    const [first, next] = twoServers(t);
    const { port, taken } = await listenOnPair(first, next, wanted);
    t.same([portOf(first), portOf(next)], [port, port + 1]);
    t.equal(taken, undefined);
  }
});

t.test('a port that is wanted, or the next one, is in use', async (t) => {
  const port = await occupy(t, (_, response) => response.end());
  for (const wanted of [port, port - 1]) {
    const [first, next] = twoServers(t);
    await t.rejects(listenOnPair(first, next, { port: wanted }), { code: 'EADDRINUSE' });
    t.notOk(first.listening || next.listening, 'neither is kept');
  }
});

t.test('two free ports may do instead, and the cluster at the wanted one is named', async (t) => {
  const cluster = await occupy(t, (_, response) => response.end(`{"jsonrpc":"2.0","result":"${GENESIS}","id":1}`));
  const other = await occupy(t, (_, response) => response.writeHead(404).end('no such page'));
  const silent = await occupy(t, ({ socket }) => socket.destroy());
  for (const [wanted, genesisHash] of [
    [cluster, GENESIS],
    [other, null],
    [other - 1, null],
    [silent, null],
  ] as const) {
    const [first, next] = twoServers(t);
    const { port, taken } = await listenOnPair(first, next, { port: wanted, orFreePorts: true });
    t.not(port, wanted);
    t.same([portOf(first), portOf(next)], [port, port + 1]);
    t.match(taken, { port: Number, genesisHash });
  }
});
