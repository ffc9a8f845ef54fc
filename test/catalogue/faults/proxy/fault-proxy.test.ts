import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { waitFor } from '../../../support/harness.ts';
import {
  type ConnectionFault,
  garbled,
  halfOpen,
  latency,
  reset,
  stalled,
  throttled,
  truncated,
} from './connection-faults.ts';
import { FaultProxy } from './fault-proxy.ts';

const WORDS = 'what the node says';

/** Starts a server that answers any data with fixed bytes, a proxy before it, and a client. */
async function start(t: Test, fault?: ConnectionFault, hidesEnds = false) {
  const accepted = new Set<Socket>();
  const server = createServer((socket) => {
    accepted.add(socket);
    socket.on('error', () => {}).on('data', () => socket.write(WORDS));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const proxy = await FaultProxy.start((server.address() as AddressInfo).port); // it listens on TCP
  if (fault !== undefined) proxy.apply(fault, { hidesEnds });
  const socket = connect(proxy.port, '127.0.0.1').on('error', () => {});
  let text = '';
  let isClosed = false;
  socket.on('data', (chunk) => (text += chunk.toString('latin1'))).on('close', () => (isClosed = true));
  socket.write('hello');
  t.teardown(async () => {
    socket.destroy();
    await proxy.close();
    server.close();
  });
  const nodeAccepted = (): Promise<void> => waitFor(() => accepted.size > 0, 'a connection to the node');
  return { proxy, accepted, socket, nodeAccepted, text: () => text, isClosed: () => isClosed };
}

const allOf = (text: () => string): Promise<void> => waitFor(() => text() === WORDS, 'all of the words');

t.test("a proxy without a fault forwards all bytes, and the node's close", async (t) => {
  const { text, isClosed, accepted } = await start(t);
  await allOf(text);
  for (const socket of accepted) socket.destroy();
  await waitFor(isClosed, 'the end');
});

t.test('latency: all bytes arrive, and not sooner', async (t) => {
  const beganMs = performance.now();
  const { text } = await start(t, latency(50));
  await allOf(text);
  t.ok(performance.now() - beganMs >= 49);
});

t.test('stalled: no byte arrives until the fault is healed, then all of them', async (t) => {
  const { text, proxy, nodeAccepted } = await start(t, stalled);
  await nodeAccepted();
  t.equal(text(), '');
  proxy.heal();
  await allOf(text);
});

t.test('half-open: neither bytes nor the close arrive until the fault is healed', async (t) => {
  const { text, proxy, accepted, nodeAccepted, isClosed } = await start(t, halfOpen, true);
  await nodeAccepted();
  for (const socket of accepted) await new Promise((resolve) => socket.on('close', resolve).destroy());
  t.notOk(isClosed());
  proxy.heal();
  await waitFor(isClosed, 'the end');
  t.equal(text(), '');
});

t.test('truncated: the connection closes in the middle', async (t) => {
  const { text, isClosed } = await start(t, truncated(4));
  await waitFor(isClosed, 'the end');
  t.equal(text(), WORDS.slice(0, 4));
});

t.test('garbled: some bytes are replaced', async (t) => {
  const { text } = await start(t, garbled(5));
  await waitFor(() => text().length === WORDS.length, 'as many bytes');
  t.equal(text(), 'what\0the \0ode \0ays');
});

t.test('reset: the connection is reset instead of an answer', async (t) => {
  const { text, isClosed, socket } = await start(t, reset);
  const failed = once(socket, 'error');
  await waitFor(isClosed, 'the end');
  t.equal(text(), '');
  t.match(await failed, [{ code: 'ECONNRESET' }]);
});

t.test('throttled: all bytes arrive, a few at a time', async (t) => {
  const { text, socket } = await start(t, throttled(200));
  const [first] = await once(socket, 'data');
  t.ok(first.length < WORDS.length);
  await allOf(text);
});

t.test('connections are counted, and can be reset', async (t) => {
  const { proxy, text, isClosed } = await start(t);
  await allOf(text);
  t.equal(proxy.connections, 1);
  proxy.resetConnections();
  await waitFor(isClosed, 'the end');
  await waitFor(() => proxy.connections === 0, 'nothing open');
  t.equal(proxy.takePeakConnections(), 1);
  t.equal(proxy.takePeakConnections(), 0);
});
