import { setTimeout as sleep } from 'node:timers/promises';
import { GatewayProcess, upstreamOnPort } from '../test/support/gateway-process.ts';
import type { NodeOptions } from './processes/notifying-node.ts';
import { atExit } from './support/at-exit.ts';
import { Bench } from './support/bench.ts';
import { FIRST_BALANCE, makeLive, settingsFor, targetsOf } from './support/live-accounts.ts';
import { runLoad } from './support/load.ts';
import { startNode } from './support/node-process.ts';
import { UNLIMITED } from './support/server-process.ts';

// Memory of an account that is kept live, everything included: its state, subscription, entry and sealed body. What a
// gateway keeps after a garbage collection, all accounts being live and read in the slot, less what it keeps with a tenth
// of them; then the same once none of them was read for some slots, when there is no sealed body. Arguments: how many
// accounts.

const bench = new Bench({ rounds: 1, seconds: 2 });
const accounts = bench.numbers[0] ?? 100_000;
const KIB = 1024;
const UNREAD_MS = 2000;

bench.title(`${accounts.toLocaleString('en')} live accounts`);
for (const [kind, route] of [
  ['system', 'balance'],
  ['token', 'account'],
] as const) {
  const [few, many] = [await weigh(accounts / 10, kind, route), await weigh(accounts, kind, route)];
  const perAccount = (measure: keyof typeof many): number => (many[measure] - few[measure]) / (accounts * 0.9) / KIB;
  bench.value(`a ${kind} account, read by /${route}`, 'KiB', [perAccount('keptBytes')], { atMost: 2 });
  bench.value(`a ${kind} account, unread for some slots`, 'KiB', [perAccount('unreadBytes')]);
  bench.note(
    `resident: ${perAccount('residentBytes').toFixed(2)} KiB an account, ${(many.residentBytes / KIB / KIB).toFixed(0)} MiB`,
  );
}
bench.end();

async function weigh(count: number, kind: NodeOptions['accounts'], route: string) {
  const node = await startNode({ accounts: kind });
  const settings = [...UNLIMITED, ...settingsFor(count), 'cache.bytes=2000000000', ...bench.settings];
  const gateway = await GatewayProcess.start([upstreamOnPort(node)], { set: settings });
  atExit(() => gateway.child.process.kill('SIGKILL'));
  const { url } = gateway;
  const targets = targetsOf(count, route);
  await makeLive(url, node, targets, count);
  await runLoad(url, { targets, pick: 'turn', requests: count });
  const memory = await gateway.memory();
  for (const endMs = performance.now() + UNREAD_MS; performance.now() < endMs; ) {
    await runLoad(url, { targets: FIRST_BALANCE, requests: 1 }); // what is spent is removed when something is sealed
    await sleep(UNREAD_MS / 10);
  }
  const { keptBytes: unreadBytes } = await gateway.memory();
  await gateway.close();
  node.stop();
  return { ...memory, unreadBytes };
}
