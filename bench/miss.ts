import { setTimeout as sleep } from 'node:timers/promises';
import { addressOfNumber } from '../test/support/address-of-number.ts';
import { Bench, type Goal, interleave, type Sample } from './support/bench.ts';
import { makeLive, settingsFor, targetsOf } from './support/live-accounts.ts';
import { type LoadResult, type TargetFile, writeTargets } from './support/load.ts';
import { measureLoad } from './support/measure-load.ts';
import { type NodeProcess, startNode } from './support/node-process.ts';
import { cpuSeconds, type ServedProcess, startGatewayOver, startServer } from './support/server-process.ts';

// What the first read of an account costs: the gateway, a server that calls the node for each request, and the floor, over
// one node. With --baseline DIST another build is a fourth. Arguments: rows by name, all but `live` if there are none.

const bench = new Bench({ rounds: 7, seconds: 5 }, [], true);
const { rounds, seconds, baseline } = bench;
/** Connections of the load, and requests of each contender and round. */
const CONNECTIONS = 48;
const REQUESTS = 15_000;
/** No caller of the load is refused for what it has in flight, nor since other work has the core. */
const NEVER_OVERLOADED = 'limits.loopDelayMs=60000';
const SETTINGS = ['limits.free.inFlight=100000', 'limits.inFlight=5000', NEVER_OVERLOADED, ...bench.settings];
const CHANGING = 1000;
const SLOT_MS = 400;
const MILLION = 1_000_000;
const SETTLING_SECONDS = 60;
/** Milliseconds in which each account is read once, until all are live. */
const READ_EACH_MS = 5000;

let next = 1_000_000_000;

const rpcLine = (method: string, config: string) => (address: string) =>
  `/api/v1/rpc {"jsonrpc":"2.0","id":1,"method":"${method}","params":["${address}",${config}]}`;

interface ColdRow {
  lineOf(address: string): string;
  readonly yardstick: string;
  readonly cpu: Goal;
  readonly rate?: Goal;
  /** The goal against the floor, which answers balances alone. */
  readonly floor?: Goal;
}

const COLD: Readonly<Record<string, ColdRow>> = {
  balance: {
    lineOf: (address) => `/api/v1/balance/${address}`,
    yardstick: 'call for each',
    cpu: { atMost: 0.7 },
    rate: { atLeast: 1.3 },
    floor: { atMost: 1.6 },
  },
  account: {
    lineOf: (address) => `/api/v1/account/${address}`,
    yardstick: 'call for each, base64',
    cpu: { atMost: 0.9 },
  },
  'rpc-balance': {
    lineOf: rpcLine('getBalance', '{"commitment":"confirmed"}'),
    yardstick: 'proxy',
    cpu: { atMost: 1 },
  },
  'rpc-account': {
    lineOf: rpcLine('getAccountInfo', '{"commitment":"confirmed","encoding":"base64"}'),
    yardstick: 'proxy',
    cpu: { atMost: 1 },
  },
};

const wanted = bench.rest.length > 0 ? bench.rest : [...Object.keys(COLD), 'changed', 'zipf'];
bench.title(`first reads, ${CONNECTIONS} connections`);
for (const name of wanted) {
  const row = COLD[name];
  if (row !== undefined) await measureCold(name, row);
  else if (name === 'changed') await measureChanged();
  else if (name === 'zipf') await measureZipf();
  else if (name === 'zipf-settled') await measureSettledZipf();
  else if (name.startsWith('live')) await measureLive(Number(name.slice(4)) || 10_000);
  else throw new Error(`there is no row ${name}`);
}
bench.end();

/** Accounts that nobody has read yet. */
function newTargets(lineOf: ColdRow['lineOf']): TargetFile {
  return writeTargets(Array.from({ length: REQUESTS }, () => lineOf(addressOfNumber(next++))));
}

async function measureCold(name: string, { lineOf, yardstick, cpu, rate, floor }: ColdRow): Promise<void> {
  const node = await startNode({ accounts: name.endsWith('account') ? 'token' : 'system' });
  const url = `http://127.0.0.1:${node.port}`;
  const servers: Record<string, ServedProcess> = {
    slotgate: await startGatewayOver(node.upstream, { settings: SETTINGS }),
    ...(baseline !== undefined && {
      baseline: await startGatewayOver(node.upstream, { settings: SETTINGS, dist: baseline }),
    }),
    [yardstick]: await startServer('bench/processes/calling-server.js', [url]),
    ...(floor !== undefined && { floor: await startServer('bench/processes/floor-server.js', [url]) }),
  };
  const measure = (server: ServedProcess): Promise<Sample> =>
    measureLoad(server, {
      targets: newTargets(lineOf),
      pick: 'turn',
      connections: CONNECTIONS,
      requests: REQUESTS,
    });
  for (const server of Object.values(servers)) await measure(server); // until all is compiled
  const samples = await interleave(
    rounds,
    Object.fromEntries(Object.entries(servers).map(([contender, server]) => [contender, () => measure(server)])),
  );
  bench.figures(samples);
  const of = (contender: string) => [contender, samples[contender] ?? []] as const;
  const slotgate = [`cold ${name}`, samples['slotgate'] ?? []] as const;
  bench.ratio('cpuUs', slotgate, of(yardstick), cpu);
  bench.ratio('rate', slotgate, of(yardstick), rate);
  if (floor !== undefined) bench.ratio('cpuUs', slotgate, of('floor'), floor);
  if (baseline !== undefined) bench.ratio('cpuUs', slotgate, of('baseline'));
  for (const server of Object.values(servers)) server.stop();
  node.stop();
}

/** Live accounts that all change in each slot, each read once in it, against the same without changes. */
async function measureChanged(): Promise<void> {
  const targets = targetsOf(CHANGING);
  const start = async (dist?: string) => {
    const node = await startNode({ slotMs: SLOT_MS });
    const gateway = await startGatewayOver(node.upstream, {
      settings: [...settingsFor(CHANGING), ...SETTINGS],
      dist,
    });
    await makeLive(gateway.url, node, targets, CHANGING);
    return { node, gateway };
  };
  const rate = (CHANGING * 1000) / SLOT_MS;
  const builds = { slotgate: await start(), ...(baseline !== undefined && { baseline: await start(baseline) }) };
  for (const [name, { node, gateway }] of Object.entries(builds)) {
    /** CPU of a request beyond what the gateway uses without requests. */
    const measure = async (changeEvery: number): Promise<Sample> => {
      await node.changeEvery(changeEvery);
      await sleep(4 * SLOT_MS);
      const [beforeS, startedMs] = [cpuSeconds(gateway), performance.now()];
      await sleep((seconds * 1000) / 2);
      const idle = (cpuSeconds(gateway) - beforeS) / (performance.now() - startedMs);
      const load = { targets, pick: 'turn', connections: CONNECTIONS, seconds, rate } as const;
      const sample = await measureLoad(gateway, load);
      return { value: sample.cpuUs === undefined ? Number.NaN : sample.cpuUs - (idle * 1e9) / rate };
    };
    const samples = await interleave(rounds, { changed: () => measure(1), hit: () => measure(0) });
    const of = name === 'slotgate' ? '' : `${name}: `;
    bench.figures(samples);
    bench.ratio('value', [`${of}first read after a change, CPU`, samples.changed], ['a hit', samples.hit], {
      atMost: 2,
    });
    gateway.stop();
    node.stop();
  }
}

/** Accounts by Zipf over a million, each contender from its first second on, the gateway with the default settings. */
async function measureZipf(): Promise<void> {
  const node = await startNode();
  const load = zipfLoad();
  const fresh = async (start: () => Promise<ServedProcess>): Promise<Sample & LoadResult> => {
    const server = await start();
    const sample = await measureLoad(server, load);
    server.stop();
    return sample;
  };
  const samples = await interleave<string, Sample & LoadResult>(rounds, {
    slotgate: () => fresh(() => startDefault(node)),
    ...(baseline === undefined ? {} : { baseline: () => fresh(() => startDefault(node, baseline)) }),
    'call for each': () => fresh(() => startCalling(node)),
  });
  reportZipf('zipf over a million', samples);
  node.stop();
}

/** The same of servers that have had the load for a minute. */
async function measureSettledZipf(): Promise<void> {
  const node = await startNode();
  const load = zipfLoad();
  const servers: Record<string, ServedProcess> = {
    slotgate: await startDefault(node),
    ...(baseline !== undefined && { baseline: await startDefault(node, baseline) }),
    'call for each': await startCalling(node),
  };
  for (const server of Object.values(servers)) await measureLoad(server, { ...load, seconds: SETTLING_SECONDS });
  const samples = await interleave(
    rounds,
    Object.fromEntries(Object.entries(servers).map(([name, server]) => [name, () => measureLoad(server, load)])),
  );
  reportZipf(`zipf after ${SETTLING_SECONDS} s`, samples);
  bench.value('accounts subscribed to', '', [(await node.counts()).subscriptions]);
  for (const server of Object.values(servers)) server.stop();
  node.stop();
}

function zipfLoad() {
  return { targets: targetsOf(MILLION), pick: 'zipf', connections: CONNECTIONS, seconds } as const;
}

function startDefault(node: NodeProcess, dist?: string): Promise<ServedProcess> {
  return startGatewayOver(node.upstream, { settings: [NEVER_OVERLOADED, ...bench.settings], dist });
}

function startCalling({ port }: NodeProcess): Promise<ServedProcess> {
  return startServer('bench/processes/calling-server.js', [`http://127.0.0.1:${port}`]);
}

function reportZipf(what: string, samples: Readonly<Record<string, readonly (Sample & LoadResult)[]>>): void {
  bench.figures(samples);
  const { slotgate = [], 'call for each': base = [] } = samples;
  bench.ratio('rate', [what, slotgate], ['call for each', base], { atLeast: 2 });
  bench.ratio('cpuUs', [what, slotgate], ['call for each', base], { atMost: 0.5 });
  const shares = slotgate.map(({ hits, requests }) => hits / requests);
  bench.value(`${what}: part that the cache answers`, '', shares, { atLeast: 0 });
}

/** The time until accounts are live of which each is read once in five seconds. */
async function measureLive(accounts: number): Promise<void> {
  const targets = targetsOf(accounts);
  for (const [name, dist] of Object.entries({ slotgate: undefined, ...(baseline !== undefined && { baseline }) })) {
    const node = await startNode();
    const gateway = await startGatewayOver(node.upstream, { settings: bench.settings, dist });
    const startedMs = performance.now();
    const load = { targets, pick: 'turn', connections: CONNECTIONS, rate: (accounts * 1000) / READ_EACH_MS } as const;
    const loading = measureLoad(gateway, { ...load, seconds: 600, expectsRefusals: true }).catch(() => undefined);
    let live = 0;
    while (live < accounts && performance.now() - startedMs < 600_000) {
      await sleep(500);
      live = (await node.counts()).subscriptions;
    }
    const tookS = (performance.now() - startedMs) / 1000;
    bench.value(`${name}: ${live.toLocaleString('en')} accounts subscribed to after`, 's', [tookS], {
      atMost: accounts <= 10_000 ? 20 : 120,
    });
    gateway.stop();
    node.stop();
    void loading;
  }
}
