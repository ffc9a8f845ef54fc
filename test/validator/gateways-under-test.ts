import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { latency } from '../catalogue/faults/proxy/connection-faults.ts';
import { FaultProxy } from '../catalogue/faults/proxy/fault-proxy.ts';
import { type ChildProgram, PATIENT_ARGS, runModule, waitUntilListening } from '../support/child-process.ts';
import { hasLed, writeReceiptKey } from '../support/fleet-gateway.ts';
import { startWorkers } from '../support/gateway-with-workers.ts';
import { type HttpAnswer, httpClient, startGateway, waitFor } from '../support/harness.ts';
import { createReceiptKey } from '../support/receipts/receipt-key.ts';
import { RedisServer } from '../support/redis-server.ts';
import type { TestScope } from '../support/test-scope.ts';

/** An answer, and which gateway gave it: slots never go back at one. */
export interface AnswerOfOne extends HttpAnswer {
  readonly from: string;
}

export interface GatewaysUnderTest {
  readonly url: string;
  readonly publicKey: string;
  /** The Geyser feed by which accounts are dated; undefined for none. */
  readonly feedUrl?: string | undefined;
  /** Sends a request to one of them; rejects where a kill has cut the connection. */
  readonly get: (path: string) => Promise<AnswerOfOne>;
  /** Returns what was logged of claims that were found to be false. */
  alarms(): readonly string[];
  /** Kills a part, and waits until it runs again; undefined where nothing is killed. */
  readonly kill?: () => Promise<string>;
}

/**
 * The gateways that can be run: one process; one over a Geyser feed, whose address is $GEYSER_URL; one over three operators, which
 * are the one node at three distances; one with two workers; two on a Redis. Parts of the latter two are killed.
 */
export const GATEWAYS: Record<string, (t: TestScope, node: string) => Promise<GatewaysUnderTest>> = {
  alone: (t, node) => startOne(t, node, undefined),
  feed: (t, node) => startOne(t, node, process.env['GEYSER_URL']),
  operators: startOverOperators,
  workers: startWithWorkers,
  redis: startOnRedis,
};

/** What is logged of a claim that was found to be false, and of operators that differ. */
const ALARMS = /lease covered|another value of a slot|different values of one slot/;
/** Milliseconds from a node to each operator: they are at different slots most of the time. */
const DISTANCES_MS = [0, 40, 150];
const SETTINGS = ['limits.free.subscriptions=1000', 'limits.free.streams=100', 'rpc.profile=standard'];

const startOne = (t: TestScope, node: string, geyser: string | undefined): Promise<GatewaysUnderTest> =>
  startWith(t, [node], { set: SETTINGS, geyser }, geyser);

async function startOverOperators(t: TestScope, node: string): Promise<GatewaysUnderTest> {
  const feedUrl = process.env['GEYSER_URL'];
  const startProxy = async (target: string, distanceMs: number): Promise<number> => {
    const proxy = await FaultProxy.start(Number(new URL(target).port));
    t.teardown(() => proxy.close());
    proxy.apply(latency(distanceMs));
    return proxy.port;
  };
  const startOperator = async (distanceMs: number) => ({
    url: `http://127.0.0.1:${await startProxy(node, distanceMs)}`,
    ws: `ws://127.0.0.1:${await startProxy(wsUrlOf(node), distanceMs)}`,
    id: `at-${distanceMs}`,
    ...(distanceMs === 0 && feedUrl !== undefined && { geyser: { url: feedUrl } }),
  });
  const upstreams = await Promise.all(DISTANCES_MS.map(startOperator));
  return startWith(t, [], { set: [`upstreams=${JSON.stringify(upstreams)}`, ...SETTINGS] }, feedUrl);
}

async function startWith(
  t: TestScope,
  upstreams: readonly string[],
  options: Parameters<typeof startGateway>[2],
  feedUrl: string | undefined,
): Promise<GatewaysUnderTest> {
  const { gateway, get, logged } = await startGateway(t, upstreams, options);
  if (feedUrl !== undefined)
    await waitFor(async () => (await get('/health')).json.result?.geyser?.status === 'up', 'the feed', 600_000);
  return {
    url: gateway.url,
    publicKey: gateway.publicKey,
    feedUrl,
    get: async (path) => ({ ...(await get(path)), from: 'alone' }),
    alarms: () =>
      logged
        .filter(({ message }) => ALARMS.test(message))
        .map(({ message, fields }) => `${message} ${JSON.stringify(fields)}`),
  };
}

async function startWithWorkers(t: TestScope, node: string): Promise<GatewaysUnderTest> {
  const { child, url, processes } = await startWorkers(t, { url: node, wsUrl: wsUrlOf(node) }, SETTINGS);
  const { get } = httpClient(url);
  const roles = ['0', 'pipeline', '1'];
  let kills = 0;
  return {
    url,
    publicKey: (await get('/pubkey')).json.publicKey,
    get: async (path) => ({ ...(await get(path)), from: 'workers' }),
    alarms: () => alarmsOf([child]),
    async kill() {
      const role = roles[kills++ % roles.length] ?? '';
      const id = processes().get(role);
      if (id === undefined) throw new Error(`there is no process ${role}`);
      process.kill(id, 'SIGKILL');
      await waitFor(() => (processes().get(role) ?? id) !== id, `${role} again`);
      return role;
    },
  };
}

async function startOnRedis(t: TestScope, node: string): Promise<GatewaysUnderTest> {
  const redis = await RedisServer.start();
  t.teardown(() => redis.close());
  const key = createReceiptKey();
  const folder = t.testdir();
  const all: ChildProgram[] = [];
  const start = async (name: string) => {
    const state = join(folder, name);
    const file = writeReceiptKey(state, key);
    const settings = ['limits.free.units=10000000', ...SETTINGS].flatMap((setting) => ['--set', setting]);
    const args = ['--port', '0', '--state', state, '--upstream', `${node},${wsUrlOf(node)}`, '--redis', redis.url];
    const main = new URL('../../src/main.js', import.meta.url);
    const child = runModule(main, [...args, ...PATIENT_ARGS, ...settings], { RECEIPT_KEY_FILE: file });
    all.push(child);
    t.teardown(async () => {
      child.process.kill('SIGKILL');
      await child.exit();
    });
    return { child, name, run: all.length, url: (await waitUntilListening(child)).url };
  };
  const gateways = await Promise.all([start('a'), start('b')]);
  let [sent, kills] = [0, 0];
  return {
    get url() {
      return gateways[0].url;
    },
    publicKey: (await httpClient(gateways[0].url).get('/pubkey')).json.publicKey,
    async get(path) {
      const gateway = gateways[sent++ % 2] ?? gateways[0];
      return { ...(await httpClient(gateway.url).get(path)), from: `${gateway.name} ${gateway.run}` };
    },
    alarms: () => alarmsOf(all),
    async kill() {
      if (kills++ % 2 === 1) {
        await redis.signal('SIGKILL');
        await sleep(3000);
        await redis.restart();
        return 'Redis';
      }
      const place = gateways.findIndex(({ child }) => hasLed(child));
      const killed = gateways[Math.max(0, place)] ?? gateways[0];
      killed.child.process.kill('SIGKILL');
      await killed.child.exit();
      gateways[Math.max(0, place)] = await start(killed.name);
      return place < 0 ? 'a gateway' : 'the leader';
    },
  };
}

export const wsUrlOf = (node: string): string => {
  const url = new URL(node);
  return `ws://${url.hostname}:${Number(url.port) + 1}`;
};

const alarmsOf = (children: readonly ChildProgram[]): readonly string[] =>
  children.flatMap((child) =>
    child
      .stdout()
      .split('\n')
      .filter((line) => ALARMS.test(line)),
  );
