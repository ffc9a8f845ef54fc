import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { type Message, Wire } from '../../../../src/fleet/workers/wire.ts';
import { openWorker, shortFolder } from './worker-world.ts';

const MIB = 1 << 20;

/** Opens a connection between a wire, and a socket that does what a test wants. */
async function openWire(t: Test) {
  const received: Message[] = [];
  const path = join(shortFolder(), 'socket');
  const server = createServer();
  await once(server.listen(path), 'listening');
  const peer: Socket = connect(path);
  peer.on('error', () => {}); // it is cut off
  const [socket] = (await once(server, 'connection')) as [Socket];
  let isClosed = false;
  const wire = new Wire(
    socket,
    (message) => received.push(message),
    () => {
      isClosed = true;
    },
  );
  t.teardown(() => {
    peer.destroy();
    server.close();
  });
  return { wire, peer, received, isClosed: () => isClosed };
}

t.test('messages arrive whole and in order, however they are cut', async (t) => {
  const { wire, peer, received } = await openWire(t);
  const data: Buffer[] = [];
  peer.on('data', (piece: Buffer) => data.push(piece));
  const sent: Message[] = [['a', 1, 'text'], ['b', 'x'.repeat(100_000)], ['c']];
  for (const message of sent) wire.send(...message);
  while (Buffer.concat(data).length < 100_000) await once(peer, 'data');
  const bytes = Buffer.concat(data);
  for (let at = 0; at < bytes.length; at += 7_001) {
    peer.write(bytes.subarray(at, at + 7_001));
    await new Promise(setImmediate);
  }
  while (received.length < sent.length) await new Promise(setImmediate);
  t.same(received, sent);
});

t.test('F13: a process that reads nothing is cut off before it costs much memory', async (t) => {
  const { wire, peer } = await openWire(t);
  peer.pause();
  let sent = 0;
  while (wire.isOpen && sent < 300) {
    wire.send('answered', new Uint8Array(MIB));
    sent++;
  }
  t.ok(sent > 100 && sent < 200, `after ${sent} MiB`);
});

t.test('F13: who announces a message that no process sends is cut off', async (t) => {
  const { peer, isClosed } = await openWire(t);
  const head = Buffer.alloc(4);
  head.writeUInt32LE(100 * MIB, 0);
  peer.write(head);
  await once(peer, 'close');
  t.ok(isClosed());
});

t.test('F13: a worker keeps so many calls waiting, and refuses the next at once', async (t) => {
  const worker = openWorker(shortFolder()); // there is no pipeline process
  t.teardown(() => worker.close());
  const codes = new Map<string, number>();
  const asked = Array.from({ length: 10_050 }, async () => {
    const { code } = await worker.ask('/api/v1/slot', undefined, false).catch((thrown) => thrown);
    codes.set(code, (codes.get(code) ?? 0) + 1);
  });
  await new Promise(setImmediate);
  t.strictSame([...codes], [['overloaded', 50]]);
  await Promise.all(asked);
  t.equal(codes.get('upstream_unavailable'), 10_000);
});
