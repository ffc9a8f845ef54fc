import { setTimeout as sleep } from 'node:timers/promises';
import { Bench, interleave } from './support/bench.ts';
import { startLiveAccounts } from './support/live-accounts.ts';
import { measureLoad, warmUp } from './support/measure-load.ts';

// Reads of many live accounts at a constant rate, while a twentieth of them changes in each slot, against the same reads
// while none changes. Arguments: how many accounts, requests a second.

const CHANGE_EVERY = 20;
/** Time until changes have begun or ended: two slots and what is under way. */
const SETTLE_MS = 2000;

const bench = new Bench({ rounds: 5, seconds: 4 });
const { rounds, seconds, settings } = bench;
const [accounts = 100_000, rate = 40_000] = bench.numbers;
const name = accounts.toLocaleString('en');
const many = await startLiveAccounts({ accounts, settings });
const { node, gateway, targets } = many;
const changes = (accounts / CHANGE_EVERY).toLocaleString('en');
bench.title(`${name} accounts evenly at ${rate.toLocaleString('en')} req/s, gateway and load on a core each`);
bench.note(`${many.live.toLocaleString('en')} of ${name} accounts live after ${many.warmUpSeconds.toFixed(1)} s`);
await warmUp(gateway, { targets });
let notified = 0;
const measured = async (changeEvery: number) => {
  const before = await node.changeEvery(changeEvery);
  await sleep(SETTLE_MS);
  const sample = await measureLoad(gateway, { targets, seconds, rate });
  notified += (await node.counts()).notifications - before.notifications;
  return sample;
};
const samples = await interleave(rounds, { still: () => measured(0), changing: () => measured(CHANGE_EVERY) });
const [still, changing] = ['no account changes', `${changes} accounts change in each slot`];
bench.figures({ [still]: samples.still, [changing]: samples.changing });
bench.note(
  `${notified.toLocaleString('en')} notifications; not sent in time: ${late(samples.still)} and ${late(samples.changing)} requests`,
);
const base = [still, samples.still] as const;
bench.ratio('p999Ms', [changing, samples.changing], base, accounts === 100_000 ? { atMost: 2 } : undefined);
bench.ratio('p99Ms', [changing, samples.changing], base);
bench.ratio('cpuUs', [changing, samples.changing], base);
bench.end();

/** Counts the requests that were due and found no connection free until the end. */
function late(list: readonly { readonly unsent: number }[]): number {
  return list.reduce((sum, { unsent }) => sum + unsent, 0);
}
