import { spawnSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { addressOfNumber } from '../test/support/address-of-number.ts';
import { writeReceiptKey } from '../test/support/fleet-gateway.ts';
import { percentile } from '../test/support/percentile.ts';
import { createReceiptKey } from '../test/support/receipts/receipt-key.ts';
import { RedisServer } from '../test/support/redis-server.ts';
import { Bench } from './support/bench.ts';
import { makeLive, settingsFor, targetsOf } from './support/live-accounts.ts';
import { startNode } from './support/node-process.ts';
import { type ServedProcess, startGatewayOver } from './support/server-process.ts';
import { makeTemporaryFolder } from './support/temporary-folder.ts';

// Four gateways that share a Redis, all on all cores: how many subscriptions they have together, and how much later a
// follower's subscribers receive a changed account than those of the leader. Needs redis-server. Arguments: how many
// accounts, how many changes are measured.

const GATEWAYS = 4;
const SLOT_MS = 200;
/** The time in which every gateway has come to follow, and has compiled what it runs. */
const SETTLE_MS = 5000;

const bench = new Bench({ rounds: 1, seconds: 20 });
const [accounts = 200, changes = 300] = bench.numbers;
const CHANGING = addressOfNumber(accounts);

bench.title(`${GATEWAYS} gateways on a Redis, ${accounts.toLocaleString('en')} accounts that all of them read`);
if (spawnSync('redis-server', ['--version']).status === 0) await measureFleet();
else bench.note('redis-server: not installed');
bench.end();

async function measureFleet(): Promise<void> {
  const redis = await RedisServer.start();
  const node = await startNode({ slotMs: SLOT_MS });
  const notifiedMs = new Map<number, number>();
  node.onSlot(({ commitment, slot, atMs }) => {
    if (commitment === 'confirmed') notifiedMs.set(slot, atMs);
  });
  const key = createReceiptKey();
  const gateways: ServedProcess[] = [];
  for (let i = 0; i < GATEWAYS; i++) gateways.push(await startGateway(node.upstream, redis.url, key));

  const targets = targetsOf(accounts);
  for (const { url } of gateways) await makeLive(url, node, targets, accounts);
  const { subscriptions, accountSockets } = await node.counts();
  bench.value('subscriptions of all gateways, those of one being 1', '', [subscriptions / accounts], { atMost: 1 });
  bench.value('WebSockets with them', '', [accountSockets], { atMost: 1 });

  await node.changeEvery(1);
  const lags = { up: [] as number[], idle: [] as number[] };
  const measure = async (gateway: ServedProcess): Promise<void> => {
    const found = await measureLags(gateway, notifiedMs);
    lags[await nodeStateOf(gateway)].push(...found);
  };
  await Promise.all(gateways.map(measure));
  for (const share of [0.5, 0.99]) {
    const [leader, followers] = [percentile(lags.up, share), percentile(lags.idle, share)];
    bench.value(`from a notification to the leader's subscribers, p${share * 100}`, 'ms', [leader]);
    const goal = share > 0.9 ? { atMost: 10 } : undefined;
    bench.value(`to those of followers later by, p${share * 100}`, 'ms', [followers - leader], goal);
  }
  for (const gateway of gateways) gateway.stop();
  node.stop();
  await redis.close();
}

/** Starts a gateway with a copy of the receipt key, as on a machine of its own. */
function startGateway(upstream: string, redisUrl: string, key: string): Promise<ServedProcess> {
  const state = makeTemporaryFolder();
  process.env['RECEIPT_KEY_FILE'] = writeReceiptKey(state, key);
  const settings = [...settingsFor(accounts + 1), `redis.url=${redisUrl}`, ...bench.settings];
  return startGatewayOver(upstream, { settings, state, workers: 0 });
}

/** Returns whether a gateway is subscribed to the node itself, as the leader is: `up`; or rests. */
async function nodeStateOf({ url }: ServedProcess): Promise<'up' | 'idle'> {
  const health = await fetch(`${url}/api/v1/health`);
  const { result } = (await health.json()) as { result: { upstreams: readonly [{ ws: 'up' | 'idle' }] } };
  return result.upstreams[0].ws;
}

/** Returns the times from the notifications of an account that changes in each slot to a gateway's pushes. */
async function measureLags(
  { url }: ServedProcess,
  notifiedMs: ReadonlyMap<number, number>,
): Promise<readonly number[]> {
  const found: number[] = [];
  const socket = new WebSocket(`${url.replace('http', 'ws')}/api/v1/stream`);
  const subscription = { op: 'subscribe', id: 1, topic: 'balance', address: CHANGING, commitment: 'confirmed' };
  socket.on('open', () => socket.send(JSON.stringify(subscription)));
  const settledMs = performance.now() + SETTLE_MS;
  socket.on('message', (data) => {
    const nowMs = Number(process.hrtime.bigint()) / 1e6; // as in the node's process
    const atMs = notifiedMs.get(Number(/,"slot":(\d+),"receipt"/.exec(String(data))?.[1]));
    if (atMs !== undefined && performance.now() > settledMs) found.push(nowMs - atMs);
  });
  while (found.length < changes) await sleep(SLOT_MS);
  socket.close();
  return found;
}
