import { Bench, interleave } from './support/bench.ts';
import { FIRST_BALANCE, startLiveAccounts } from './support/live-accounts.ts';
import { measureLoad, warmUp } from './support/measure-load.ts';
import { issueKey, startServer } from './support/server-process.ts';
import { makeTemporaryFolder } from './support/temporary-folder.ts';

// Hits with 16 requests in flight on each connection, against the bare engine with the same bytes: of one account, and of
// many that are all live, of which a twentieth changes in each slot. No connection may be cut off.

const DEPTH = 16;
const ACCOUNTS = 10_000;
const CHANGE_EVERY = 20;

const bench = new Bench({ rounds: 5, seconds: 3 });
const { rounds, seconds, settings } = bench;
const state = makeTemporaryFolder();
const headers = { 'x-api-key': issueKey(state) };
const accounts = bench.numbers[0] ?? ACCOUNTS;
const one = await startLiveAccounts({ accounts: 1, settings, state, node: { changeEvery: 1 } });
const many = await startLiveAccounts({ accounts, settings });
await many.node.changeEvery(CHANGE_EVERY);
const bare = await startServer('bench/processes/bare-engine.js', [`${one.gateway.url}${FIRST_BALANCE}`]);
const piped = { seconds, depth: DEPTH };
const cut = { one: 0, many: 0 };
await warmUp(one.gateway, { targets: one.targets, depth: DEPTH });
await warmUp(bare, { targets: '/prebuilt', depth: DEPTH });

bench.title(`${DEPTH} requests in flight on each of 64 connections, server and load on a core each`);
const manyName = `/balance of ${accounts.toLocaleString('en')} accounts`;
const measured = async (whose: keyof typeof cut, more: object) => {
  const { gateway, targets } = whose === 'one' ? one : many;
  const result = await measureLoad(gateway, { targets, ...piped, ...more, expectsRefusals: true });
  cut[whose] += result.cut;
  return result;
};
const samples = await interleave(rounds, {
  bare: () => measureLoad(bare, { targets: '/prebuilt', ...piped }),
  byIp: () => measured('one', {}),
  byKey: () => measured('one', { headers }),
  many: () => measured('many', {}),
});
bench.figures({
  'bare engine, the same bytes as one block': samples.bare,
  '/balance by IP': samples.byIp,
  '/balance by key': samples.byKey,
  [manyName]: samples.many,
});
const base = ['bare engine', samples.bare] as const;
bench.ratio('rate', ['/balance by IP, 16 in flight', samples.byIp], base, { atLeast: 0.4 });
bench.ratio('rate', ['/balance by key, 16 in flight', samples.byKey], base);
bench.ratio('cpuUs', ['/balance by IP, 16 in flight', samples.byIp], base);
bench.value('connections cut off, one account', '', [cut.one], { atMost: 0 });
bench.value(`connections cut off, ${accounts.toLocaleString('en')} accounts`, '', [cut.many], { atMost: 0 });
bench.end();
