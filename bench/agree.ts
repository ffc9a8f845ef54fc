import { setTimeout as sleep } from 'node:timers/promises';
import { addressOfNumber } from '../test/support/address-of-number.ts';
import { Bench, type Goal, interleave, type Sample } from './support/bench.ts';
import { makeLive, settingsFor, targetsOf } from './support/live-accounts.ts';
import { type Load, writeTargets } from './support/load.ts';
import { measureLoad } from './support/measure-load.ts';
import { type NodeProcess, startNode } from './support/node-process.ts';
import { type ServedProcess, startGatewayOver } from './support/server-process.ts';

// What it costs that two or three operators must give the same, beside one operator, always over three nodes, which are one
// process: slow calls are hedged alike. With an argument: the calls of a node in a minute that this number of live accounts takes.

const bench = new Bench({ rounds: 7, seconds: 2 });
const { rounds, seconds, numbers } = bench;
const [live] = numbers;
const CONNECTIONS = 48;
/** Reads of each contender and round. */
const REQUESTS = 6000;
const NODES = 3;
const MINUTE_MS = 60_000;
const SETTINGS = ['limits.free.inFlight=100000', 'limits.inFlight=5000', 'limits.loopDelayMs=60000', ...bench.settings];

let next = 2_000_000_000;

/** Starts a gateway over nodes of some operators, all of which must agree. */
function startOver({ upstream }: NodeProcess, operators: number, settings: readonly string[]): Promise<ServedProcess> {
  const [url, ws] = upstream.split(',');
  const upstreams = Array.from({ length: NODES }, (_, i) => {
    const operator = `of-${Math.min(i, operators - 1)}`;
    return { id: `node-${i}`, operator, url, ws };
  });
  const set = [`upstreams=${JSON.stringify(upstreams)}`, `receipts.agree=${operators}`];
  return startGatewayOver(undefined, { settings: [...set, ...SETTINGS, ...settings] });
}

/** Reads of accounts that nobody has read yet, or again and again of one. */
const loadOf = (suffix: string, isCold: boolean): Load => ({
  targets: writeTargets(
    Array.from(
      { length: isCold ? REQUESTS : 1 },
      () => `/api/v1/balance/${addressOfNumber(isCold ? next++ : 0)}${suffix}`,
    ),
  ),
  pick: 'turn',
  connections: CONNECTIONS,
  ...(isCold ? { requests: REQUESTS } : { seconds }),
});

const callsOf = async (node: NodeProcess): Promise<number> =>
  (await node.counts()).requests['getMultipleAccounts'] ?? 0;

async function measureReads(name: string, suffix: string, isCold: boolean, goal?: Goal): Promise<void> {
  const node = await startNode();
  const gateways = [await startOver(node, 1, []), await startOver(node, 2, []), await startOver(node, 3, [])] as const;
  const measure = async (gateway: ServedProcess): Promise<Sample> => {
    const before = await callsOf(node);
    const sample = await measureLoad(gateway, loadOf(suffix, isCold));
    return { ...sample, value: (1000 * ((await callsOf(node)) - before)) / sample.requests };
  };
  for (const gateway of gateways) await measure(gateway); // until all is compiled
  const [one, two, three] = gateways;
  const samples = await interleave(rounds, {
    'one operator': () => measure(one),
    'two of two': () => measure(two),
    'three of three': () => measure(three),
  });
  bench.figures(samples);
  const of = (agree: 'two of two' | 'three of three') => [`${name}, ${agree}`, samples[agree]] as const;
  const toOne = ['one operator', samples['one operator']] as const;
  bench.ratio('cpuUs', of('two of two'), toOne, goal);
  bench.ratio('cpuUs', of('three of three'), toOne);
  if (isCold) bench.ratio('value', of('two of two'), toOne, goal);
  for (const gateway of gateways) gateway.stop();
  node.stop();
}

/** Counts the calls of a minute for accounts of which each is read once a second. */
async function measureLive(accounts: number): Promise<void> {
  const targets = targetsOf(accounts);
  const calls: number[] = [];
  for (const operators of [1, 2]) {
    const node = await startNode();
    const gateway = await startOver(node, operators, settingsFor(accounts));
    await makeLive(gateway.url, node, targets, accounts);
    const before = await callsOf(node);
    const load = {
      targets,
      pick: 'turn',
      connections: CONNECTIONS,
      seconds: MINUTE_MS / 1000,
      rate: accounts,
    } as const;
    await Promise.all([measureLoad(gateway, load), sleep(MINUTE_MS)]);
    calls.push((await callsOf(node)) - before);
    gateway.stop();
    node.stop();
  }
  const [one = Number.NaN, two = Number.NaN] = calls;
  bench.value(`${accounts} live accounts, one operator: calls`, 'a minute', [one]);
  bench.value(`${accounts} live accounts, two operators: calls`, 'a minute', [two]);
}

bench.title(`operators that agree, ${CONNECTIONS} connections`);
if (live !== undefined) await measureLive(live);
else {
  await measureReads('cold finalized', '?commitment=finalized', true, { atMost: 2.5 });
  await measureReads('cold confirmed', '', true, { atMost: 1.03 });
  await measureReads('hot', '', false, { atMost: 1.03 });
}
bench.end();
