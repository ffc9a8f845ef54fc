import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { WebSocket } from 'ws';
import { percentile } from '../test/support/percentile.ts';
import { pinToOtherCore, report, startGatewayOver, startServer } from './bench-process.ts';
import type { SlotNotification } from './notifying-node.ts';
import { openListener } from './websocket-listener.ts';

// How old news is: from a node's notification of an account to the first answer that shows the change, and from its
// notification of a slot to the frame at a subscriber, one of a thousand; to the latter also through the bare engine,
// which publishes the same bytes. Beside each, how long the notification takes to somebody who listens to the node
// itself. Node, server and reader are processes of their own; so is the crowd of subscribers, of whom twenty are the
// reader's: a thousand in one process would wait for each other.

const SUBSCRIBERS = Number(process.env['SUBSCRIBERS'] ?? 1000);
const WATCHED = 20;
const SLOTS = Number(process.env['SLOTS'] ?? 200);
/** Until the account is kept live, and all that it takes is compiled. */
const WARM_UP_MS = 10_000;
const ACCOUNT = '9grdmoXBEpJAQTNdRwykoouDMS4MoJ2vrDMLnbTpzT9o';

/** A slot that somebody has heard of. */
interface ObservedSlot {
  readonly slot: number;
  readonly atMs: number;
}

/** Begins to hear of slots at a gateway. What it returns is told of each slot that the node itself has told of. */
type SlotSource = (url: string, hear: (slot: number) => void) => Promise<(slot: number) => void>;

interface Latencies {
  readonly viaServer: readonly number[];
  readonly direct: readonly number[];
}

const nowMs = (): number => Number(process.hrtime.bigint()) / 1e6; // the same in all processes
const [SLOT, PARENT] = [/"slot":(\d+)/, /"parent":(\d+)/];
/** The slot that is named first. */
const slotIn = (text: string, name = SLOT): number => Number(name.exec(text)?.[1]);

/** Through what news is heard. */
type Server = 'gateway' | 'bare engine';

/** How old news is behind a server, and at the node itself, where it is asked for by `subscription`. */
async function measureLatencies(
  server: Server,
  slotMs: number,
  commitment: string,
  subscription: object,
  source: SlotSource,
): Promise<Latencies> {
  const node = fork(fileURLToPath(new URL('./notifying-node.js', import.meta.url)), [`${slotMs}`]);
  const [port] = await once(node, 'message');
  const notifiedMs = new Map<number, number>();
  node.on('message', (telling: SlotNotification) => {
    if (telling.commitment === commitment) notifiedMs.set(telling.slot, telling.atMs);
  });
  const wsUrl = `ws://127.0.0.1:${port}`;
  const gateway = await startGatewayOver(`http://127.0.0.1:${port},${wsUrl}`, mkdtempSync(join(tmpdir(), 'bench-')));
  const bare =
    server === 'gateway'
      ? undefined
      : await startServer('bench/bare-engine.js', [`${gateway.url}/api/v1/network`, wsUrl]);
  if (bare !== undefined) gateway.stop();

  const direct: ObservedSlot[] = [];
  let onDirectSlot = (_: number): void => {};
  const socket = new WebSocket(wsUrl);
  socket.on('open', () => socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, ...subscription })));
  socket.on('message', (data) => {
    const text = String(data);
    const slot = slotIn(text, PARENT.test(text) ? PARENT : SLOT);
    direct.push({ slot, atMs: nowMs() });
    if (slot > 0) onDirectSlot(slot); // else it is the acknowledgement
  });
  const observed: ObservedSlot[] = [];
  onDirectSlot = await source(bare?.url ?? `${gateway.url}/api/v1`, (slot) => observed.push({ slot, atMs: nowMs() }));
  await sleep(WARM_UP_MS);
  for (const list of [observed, direct]) list.length = 0;
  await sleep(SLOTS * slotMs);
  node.kill('SIGKILL');
  (bare ?? gateway).stop();
  const ages = (list: readonly ObservedSlot[]): number[] =>
    list.flatMap(({ slot, atMs }) => {
      const onDirectSlot = notifiedMs.get(slot);
      return onDirectSlot === undefined ? [] : [atMs - onDirectSlot];
    });
  return { viaServer: ages(observed), direct: ages(direct) };
}

/**
 * Asks for the account when the node has told of a change, and again with each answer until one shows it. Who asks all
 * the time measures how the processes of the bench share two cores.
 */
const pollAccount: SlotSource = async (url, hear) => {
  const { hostname, port } = new URL(url);
  const request = `GET /api/v1/balance/${ACCOUNT} HTTP/1.1\r\nHost: ${hostname}\r\n\r\n`;
  let [wanted, newest] = [0, 0];
  const callback = (length: number, buffer: Uint8Array): boolean => {
    const slot = slotIn(Buffer.from(buffer.buffer, 0, length).toString('latin1'));
    if (slot > newest) {
      hear(slot);
      newest = slot;
    }
    if (newest < wanted) socket.write(request);
    return true;
  };
  // Into one buffer: else it takes another 64 KiB for each answer, and what collects them holds up the reader.
  const socket = connect({ port: Number(port), host: hostname, onread: { buffer: Buffer.alloc(65_536), callback } });
  socket.on('error', () => {}); // the gateway's end
  return (slot) => {
    if (newest >= wanted) socket.write(request); // else it is asking already
    wanted = slot;
  };
};

/** Some of a crowd, as far apart from each other as can be: frames go out in the order of subscription. */
const subscribeStream: SlotSource = async (url, hear) => {
  const stream = `${url}/stream`;
  const crowd = fork(fileURLToPath(new URL('./background-listeners.js', import.meta.url)), [stream]);
  for (let i = 0; i < WATCHED; i++) {
    crowd.send(SUBSCRIBERS / WATCHED - 1);
    await once(crowd, 'message');
    await openListener(stream, (chunk) => hear(slotIn(chunk.toString('latin1', 0, 64))));
  }
  return () => {}; // frames come by themselves
};

function reportLatencies(server: Server, { viaServer, direct }: Latencies, goal: string): void {
  for (const [name, share] of [
    ['p50', 0.5],
    ['p99', 0.99],
  ] as const) {
    const base = percentile(direct, share);
    const value = percentile(viaServer, share);
    report(`the notification itself, ${name}`, base, 'ms', 1);
    report(`through the ${server}, ${name}`, value, 'ms', value / base, share > 0.9 ? goal : '');
  }
}

pinToOtherCore();
const account = { method: 'accountSubscribe', params: [ACCOUNT, { commitment: 'confirmed', encoding: 'base64' }] };
console.log(`from an account notification to the changed answer, ${SLOTS} slots`);
reportLatencies(
  'gateway',
  await measureLatencies('gateway', 100, 'confirmed', account, pollAccount),
  'goal below 5 ms',
);
const slots = { method: 'slotSubscribe', params: [] };
console.log(`from a slot notification to the frame of one of ${SUBSCRIBERS} subscribers, ${SLOTS} slots`);
reportLatencies('bare engine', await measureLatencies('bare engine', 400, 'processed', slots, subscribeStream), '');
reportLatencies(
  'gateway',
  await measureLatencies('gateway', 400, 'processed', slots, subscribeStream),
  'goal below 10 ms',
);
process.exit();
