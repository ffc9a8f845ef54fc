import { addressOfNumber } from '../test/support/address-of-number.ts';
import { childrenOf } from '../test/support/gateway-with-workers.ts';
import { percentile } from '../test/support/percentile.ts';
import { cpuSecondsOf } from '../test/support/process-usage.ts';
import { Bench, interleave, type Sample } from './support/bench.ts';
import { FIRST_BALANCE, type LiveAccounts, startLiveAccounts } from './support/live-accounts.ts';
import { type Load, runLoad, writeTargets } from './support/load.ts';
import { startNode } from './support/node-process.ts';
import { privateBytes, type ServedProcess, startGatewayOver } from './support/server-process.ts';
import { openListener } from './support/websocket-listener.ts';

// Two workers behind one port against a single process, both and the load on all cores: hits, many live accounts, misses,
// the way of a slot to the readers, and memory. Where there are two cores the load needs one of them: the plain rate shows
// little, CPU per request does. Argument: how many accounts.

const WORKERS = 2;
const DEPTH = 16;
const ACCOUNTS = 10_000;
const MIB = 2 ** 20;
/** Misses a second, and how long they take from a node that answers immediately. */
const MISS_RATE = 200;
const MISS_SECONDS = 3;
/** Time between two slots of the node, and how many frames are measured. */
const [SLOT_MS, FRAMES] = [100, 200];

const bench = new Bench({ rounds: 5, seconds: 3 });
const { rounds, seconds, settings } = bench;
const accounts = bench.numbers[0] ?? ACCOUNTS;
const name = accounts.toLocaleString('en');

/** The processes of a gateway that answer requests, and all of them. */
interface Processes {
  readonly serving: readonly number[];
  readonly all: readonly number[];
}

const processesOf = ({ process: { pid = 0 } }: ServedProcess): Processes => {
  const children = childrenOf(pid);
  if (children.size === 0) return { serving: [pid], all: [pid] };
  const serving = [...children].filter(([role]) => role !== 'pipeline').map(([, child]) => child);
  return { serving, all: [pid, ...children.values()] };
};

const cpuOf = (pids: readonly number[]): number => pids.reduce((sum, pid) => sum + cpuSecondsOf(pid), 0);

/** Makes load, and measures the CPU time of all processes, or of those that answer. */
async function measure({ gateway }: LiveAccounts, load: Load, which: keyof Processes): Promise<Sample> {
  const pids = processesOf(gateway)[which];
  const before = cpuOf(pids);
  const result = await runLoad(gateway.url, { ...load, isFree: true });
  return { ...result, cpuUs: ((cpuOf(pids) - before) / result.requests) * 1e6 };
}

let used = 0;
/** Reads accounts that nobody has read before. */
function measureMisses({ gateway }: LiveAccounts): Promise<Sample> {
  const first = 1_000_000 + used;
  used += MISS_RATE * MISS_SECONDS;
  const count = MISS_RATE * MISS_SECONDS;
  const targets = writeTargets(
    Array.from({ length: count }, (_, n) => `/api/v1/balance/${addressOfNumber(first + n)}`),
  );
  return runLoad(gateway.url, { targets, pick: 'turn', rate: MISS_RATE, requests: count, isFree: true });
}

/** Measures the time from a node's slot notification to the frame, of two gateways over one node. */
async function measureFrames(): Promise<Record<'one' | 'workers', number[]>> {
  const node = await startNode({ slotMs: SLOT_MS });
  const notifiedMs = new Map<number, number>();
  node.onSlot(({ commitment, slot, atMs }) => {
    if (commitment === 'processed') notifiedMs.set(slot, atMs);
  });
  const more = [...settings, `stream.throttleMs=${SLOT_MS / 2}`];
  const ages = { one: [] as number[], workers: [] as number[] };
  const servers = await Promise.all(
    (
      [
        ['one', 0],
        ['workers', WORKERS],
      ] as const
    ).map(async ([which, workers]) => {
      const server = await startGatewayOver(node.upstream, { settings: more, workers });
      await openListener(`${server.url}/api/v1/stream`, (chunk) => {
        const slot = Number(/"slot":(\d+)/.exec(chunk.toString('latin1', 0, 64))?.[1]);
        const atMs = notifiedMs.get(slot);
        if (atMs !== undefined) ages[which].push(Number(process.hrtime.bigint()) / 1e6 - atMs);
      });
      return server;
    }),
  );
  while (Math.min(ages.one.length, ages.workers.length) < FRAMES) await new Promise((next) => setTimeout(next, 100));
  for (const server of servers) server.stop();
  node.stop();
  return ages;
}

bench.title(`${WORKERS} workers and a single process, 64 connections, all on all cores`);
const single = await startLiveAccounts({ accounts: 1, settings, workers: 0 });
const several = await startLiveAccounts({ accounts: 1, settings, workers: WORKERS });
const both = <T>(work: (world: LiveAccounts) => Promise<T>, worlds = [single, several] as const) =>
  interleave(rounds, { one: () => work(worlds[0]), workers: () => work(worlds[1]) });
for (const world of [single, several])
  await runLoad(world.gateway.url, { targets: FIRST_BALANCE, seconds: 2, depth: DEPTH, isFree: true });

const plain = await both((world) => measure(world, { targets: FIRST_BALANCE, seconds }, 'all'));
const piped = await both((world) => measure(world, { targets: FIRST_BALANCE, seconds, depth: DEPTH }, 'all'));
bench.figures({
  'a hit, a single process': plain.one,
  'a hit, workers': plain.workers,
  [`${DEPTH} in flight, a single process`]: piped.one,
  [`${DEPTH} in flight, workers`]: piped.workers,
});
bench.ratio('rate', ['hits, workers', plain.workers], ['a single process', plain.one]);
bench.ratio('cpuUs', ['hits, workers', plain.workers], ['a single process', plain.one], { atMost: 1.15 });
bench.ratio('rate', [`${DEPTH} in flight, workers`, piped.workers], ['a single process', piped.one], { atLeast: 1.3 });
bench.ratio('cpuUs', [`${DEPTH} in flight, workers`, piped.workers], ['a single process', piped.one], { atMost: 1.15 });

const misses = await both(measureMisses);
const p50 = (list: readonly Sample[]): number[] => list.map(({ p50Ms = Number.NaN }) => p50Ms);
bench.figures({ 'a miss, a single process': misses.one, 'a miss, workers': misses.workers });
const added = p50(misses.workers).map((ms, round) => ms - (p50(misses.one)[round] ?? Number.NaN));
bench.value('a miss in a worker, p50, more than in a single process', 'ms', added, { atMost: 0.3 });

for (const [whose, { gateway }] of [
  ['single process', single],
  ['with workers', several],
] as const) {
  const mib = processesOf(gateway).all.map((pid) => (privateBytes(pid) / MIB).toFixed(0));
  bench.note(`private memory, ${whose}: ${mib.join(' + ')} MiB`);
}
for (const world of [single, several]) world.stop();

const frames = await measureFrames();
for (const share of [0.5, 0.99]) {
  const [one, workers] = [percentile(frames.one, share), percentile(frames.workers, share)];
  const goal = share > 0.9 ? { atMost: 5 } : undefined;
  bench.value(`from a slot to the frame, p${share * 100}, a single process`, 'ms', [one]);
  bench.value(`from a slot to the frame, p${share * 100}, in a worker later by`, 'ms', [workers - one], goal);
}

const manyOptions = { accounts, settings };
const manySingle = await startLiveAccounts({ ...manyOptions, workers: 0 });
const manySeveral = await startLiveAccounts({ ...manyOptions, workers: WORKERS });
const worlds = [manySingle, manySeveral] as const;
for (const { gateway, targets } of worlds)
  await runLoad(gateway.url, { targets, pick: 'zipf', seconds: 2, isFree: true });
const many = await both(
  (world) => measure(world, { targets: world.targets, pick: 'zipf', seconds }, 'serving'),
  worlds,
);
bench.figures({ [`${name} accounts, a single process`]: many.one, [`${name} accounts, workers alone`]: many.workers });
// The single process as the contender: its CPU time over ours is our speed over its.
bench.ratio('cpuUs', [`${name} accounts, a single process`, many.one], ['workers alone', many.workers], {
  atLeast: 0.8,
});
bench.end();
