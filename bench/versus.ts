import { resolve } from 'node:path';
import { Bench, interleave } from './support/bench.ts';
import { startLiveAccounts } from './support/live-accounts.ts';
import { measureLoad, warmUp } from './support/measure-load.ts';

// CPU of a hit in this build against another, whose dist folder is the first argument: both in turn. The second argument
// is how many live accounts are read, the third how many requests are in flight on each connection.

const bench = new Bench({ rounds: 15, seconds: 2 }, ['DIST']);
const { rounds, seconds, settings } = bench;
const [accounts = 1, depth = 1] = bench.numbers;
const before = await startLiveAccounts({ accounts, settings, dist: resolve(bench.words[0] ?? '') });
const now = await startLiveAccounts({ accounts, settings });
for (const { gateway, targets } of [before, now]) await warmUp(gateway, { targets, depth });

bench.title(`/balance of ${accounts.toLocaleString('en')} accounts evenly, 64 connections, ${depth} in flight on each`);
const samples = await interleave(rounds, {
  before: () => measureLoad(before.gateway, { targets: before.targets, seconds, depth }),
  now: () => measureLoad(now.gateway, { targets: now.targets, seconds, depth }),
});
bench.figures(samples);
bench.note('requests per CPU second of this build, of the other: the interval is to begin at 0.97 or more');
// The build before as the contender: its CPU time over ours is our speed over its.
bench.ratio('cpuUs', ['before', samples.before], ['now', samples.now], { lowAtLeast: 0.97 });
bench.end();
