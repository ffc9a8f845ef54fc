import { fork } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { WebSocket } from 'ws';
import { percentile } from '../test/support/percentile.ts';
import { Bench } from './support/bench.ts';
import { startNode } from './support/node-process.ts';
import { pinToOtherCore, startGatewayOver, startServer } from './support/server-process.ts';
import { openListener } from './support/websocket-listener.ts';

// Added latency: from a node's account notification to the first answer with the change, and from its slot notification
// to the frame at one of a thousand subscribers; the latter also through the bare engine, which publishes the same bytes.
// The reference is a direct subscription to the node. Node, server and reader are separate processes, and so are the
// other subscribers, of whom twenty are measured: a thousand in one process would delay each other.

const bench = new Bench({ rounds: 1, seconds: 20 });
/** Subscribers, and slots. */
const [SUBSCRIBERS = 1000, SLOTS = 200] = bench.numbers;
const WATCHED = 20;
/** Time until the account is live and all code is compiled. */
const WARM_UP_MS = 10_000;
const ACCOUNT = '9grdmoXBEpJAQTNdRwykoouDMS4MoJ2vrDMLnbTpzT9o';

/** A slot and the time at which it was observed. */
interface ObservedSlot {
  readonly slot: number;
  readonly atMs: number;
}

/**
 * Starts to observe slots at a gateway. Returns a function that is called with each slot that the node itself has
 * notified.
 */
type SlotSource = (url: string, hear: (slot: number) => void) => Promise<(slot: number) => void>;

interface Latencies {
  readonly viaServer: readonly number[];
  readonly direct: readonly number[];
}

const nowMs = (): number => Number(process.hrtime.bigint()) / 1e6; // the same in all processes
const [SLOT, PARENT] = [/"slot":(\d+)/, /"parent":(\d+)/];
/** Returns the first slot in a text. */
const slotIn = (text: string, name = SLOT): number => Number(name.exec(text)?.[1]);

/** The server under test. */
type Server = 'gateway' | 'bare engine';

/** Measures the latencies through a server and of a direct subscription to the node. */
async function measureLatencies(
  server: Server,
  slotMs: number,
  commitment: string,
  subscription: object,
  source: SlotSource,
): Promise<Latencies> {
  const node = await startNode({ slotMs, changeEvery: 1 });
  const { upstream, wsUrl } = node;
  const notifiedMs = new Map<number, number>();
  node.onSlot((told) => {
    if (told.commitment === commitment) notifiedMs.set(told.slot, told.atMs);
  });
  const gateway = await startGatewayOver(upstream);
  const bare =
    server === 'gateway'
      ? undefined
      : await startServer('bench/processes/bare-engine.js', [`${gateway.url}/api/v1/network`, wsUrl]);
  if (bare !== undefined) gateway.stop();

  const direct: ObservedSlot[] = [];
  let onDirectSlot = (_: number): void => {};
  const socket = new WebSocket(wsUrl);
  socket.on('open', () => socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, ...subscription })));
  socket.on('message', (data) => {
    const text = String(data);
    const slot = slotIn(text, PARENT.test(text) ? PARENT : SLOT);
    direct.push({ slot, atMs: nowMs() });
    if (slot > 0) onDirectSlot(slot); // otherwise it is the acknowledgement
  });
  const observed: ObservedSlot[] = [];
  onDirectSlot = await source(bare?.url ?? `${gateway.url}/api/v1`, (slot) => observed.push({ slot, atMs: nowMs() }));
  await sleep(WARM_UP_MS);
  for (const list of [observed, direct]) list.length = 0;
  await sleep(SLOTS * slotMs);
  node.stop();
  (bare ?? gateway).stop();
  const ages = (list: readonly ObservedSlot[]): number[] =>
    list.flatMap(({ slot, atMs }) => {
      const onDirectSlot = notifiedMs.get(slot);
      return onDirectSlot === undefined ? [] : [atMs - onDirectSlot];
    });
  return { viaServer: ages(observed), direct: ages(direct) };
}

/**
 * Requests the account when the node has notified a change, and again after each answer until one shows it. Continuous
 * polling would measure how the bench's processes share two cores.
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
  // One buffer for all answers: otherwise each takes 64 KiB, and garbage collection delays the reader.
  const socket = connect({ port: Number(port), host: hostname, onread: { buffer: Buffer.alloc(65_536), callback } });
  socket.on('error', () => {}); // the gateway's end
  return (slot) => {
    if (newest >= wanted) socket.write(request); // otherwise a request is in flight
    wanted = slot;
  };
};

/** Observes frames at some subscribers, spread over all: frames go out in the order of subscription. */
const subscribeStream: SlotSource = async (url, hear) => {
  const stream = `${url}/stream`;
  const crowd = fork(fileURLToPath(new URL('./processes/background-listeners.js', import.meta.url)), [stream]);
  for (let i = 0; i < WATCHED; i++) {
    crowd.send(SUBSCRIBERS / WATCHED - 1);
    await once(crowd, 'message');
    await openListener(stream, (chunk) => hear(slotIn(chunk.toString('latin1', 0, 64))));
  }
  return () => {}; // frames arrive without requests
};

function reportLatencies(server: Server, { viaServer, direct }: Latencies, p99Goal?: number): void {
  for (const [name, share] of [
    ['p50', 0.5],
    ['p99', 0.99],
  ] as const) {
    const goal = share > 0.9 && p99Goal !== undefined ? { atMost: p99Goal } : undefined;
    bench.value(`the notification itself, ${name}`, 'ms', [percentile(direct, share)]);
    bench.value(`through the ${server}, ${name}`, 'ms', [percentile(viaServer, share)], goal);
  }
}

pinToOtherCore();
const account = { method: 'accountSubscribe', params: [ACCOUNT, { commitment: 'confirmed', encoding: 'base64' }] };
console.log(`from an account notification to the changed answer, ${SLOTS} slots`);
reportLatencies('gateway', await measureLatencies('gateway', 100, 'confirmed', account, pollAccount), 5);
const slots = { method: 'slotSubscribe', params: [] };
console.log(`from a slot notification to the frame of one of ${SUBSCRIBERS} subscribers, ${SLOTS} slots`);
reportLatencies('bare engine', await measureLatencies('bare engine', 400, 'processed', slots, subscribeStream));
reportLatencies('gateway', await measureLatencies('gateway', 400, 'processed', slots, subscribeStream), 10);
bench.end();
