import { setTimeout as sleep } from 'node:timers/promises';
import { startEmbeddedCluster } from '../src/localnet/embedded-cluster.ts';
import type { JsonAt } from '../test/support/answer-json.ts';
import { GatewayProcess } from '../test/support/gateway-process.ts';
import { Bench } from './support/bench.ts';
import { settingsFor, targetsOf } from './support/live-accounts.ts';
import { runLoad } from './support/load.ts';
import { UNLIMITED } from './support/server-process.ts';

// What an account costs that a Geyser feed keeps live and nobody reads or writes: the memory that a gateway keeps after a
// garbage collection, less what it keeps with a tenth of the accounts; the streams that they take; and the CPU of a slot. The
// accounts don't exist, so they have no value, and their answers have left the cache. Arguments: how many accounts.

const bench = new Bench({ rounds: 1, seconds: 2 });
const accounts = bench.numbers[0] ?? 100_000;
const POLL_MS = 500;
/** Until the last ones are known, and whose CPU is measured. */
const IDLE_SLOTS = 50;
const PATIENCE_MS = 10_000;
/** The part of the accounts from which on it is not waited for more: few that are read at the same pace come last. */
const NEARLY_ALL = 0.9;

bench.title(`${accounts.toLocaleString('en')} idle accounts over a Geyser feed`);
const [few, many] = [await weigh(accounts / 10), await weigh(accounts)];
const bytes = (many.keptBytes - few.keptBytes) / (many.live - few.live);
bench.value('an idle account, beside its value', 'bytes', [bytes], { atMost: 600 });
bench.value('streams', '', [many.streams], { atMost: 4 });
bench.value('CPU of a slot', 'ms', [many.slotMs]);
bench.note(`CPU of a slot with a tenth of them: ${few.slotMs.toFixed(2)} ms`);
bench.end();

async function weigh(count: number) {
  const cluster = await startEmbeddedCluster({ transactionsPerSlot: 1, geyserPort: 0 });
  const node = { url: cluster.url, ws: cluster.wsUrl, geyser: { url: cluster.geyserUrl } };
  const idle = ['live.idleMs=3600000', 'live.callerShare=1', 'cache.bytes=1000000'];
  const upstreams = `upstreams=${JSON.stringify([node])}`;
  const set = [...UNLIMITED, ...settingsFor(accounts), upstreams, ...idle, ...bench.settings];
  const gateway = await GatewayProcess.start([], { set });
  const feed = async () => {
    const answer = (await (await fetch(`${gateway.url}/api/v1/health`)).json()) as JsonAt<'/health'>;
    return answer.result.geyser;
  };
  const pass = async (slots: number): Promise<number> => {
    const first = (await feed()).slot;
    while ((await feed()).slot < first + slots) await sleep(POLL_MS);
    return (await feed()).slot - first;
  };
  while ((await feed()).status !== 'up') await sleep(POLL_MS);
  const load = { targets: targetsOf(count), pick: 'turn', connections: 40, requests: count } as const;
  while ((await feed()).accounts < count * NEARLY_ALL) await runLoad(gateway.url, { ...load, expectsRefusals: true });
  await pass(IDLE_SLOTS);
  const { keptBytes } = await gateway.memory();
  const slots = await pass(IDLE_SLOTS);
  const spent = await gateway.report('measure', PATIENCE_MS);
  const { streams, accounts: live } = await feed();
  await gateway.close();
  await cluster.close();
  return { keptBytes, live, streams, slotMs: (spent?.cpuMs ?? Number.NaN) / slots };
}
