import { residentBytesOf } from '../test/support/process-usage.ts';
import { Bench, interleave, type Sample } from './support/bench.ts';
import { startLiveAccounts } from './support/live-accounts.ts';
import { measureLoad, warmUp } from './support/measure-load.ts';

// Reads of many live accounts against reads of one: each gateway has a node of its own, whose accounts don't change.
// Arguments: how many accounts.

const MIB = 2 ** 20;
/** Subscriptions that a node allows on a WebSocket, where it has a limit. */
const NODE_LIMIT = 1000;

const bench = new Bench({ rounds: 5, seconds: 3 });
const { rounds, seconds, settings } = bench;
const counts = bench.numbers.length > 0 ? bench.numbers : [1_000, 10_000, 100_000];

bench.title('GET /balance by IP, 64 connections, gateway and load on a core each');
const one = await startLiveAccounts({ accounts: 1, settings });
const oneBytes = residentBytesOf(one.gateway.process.pid);
await warmUp(one.gateway, one);
for (const accounts of counts) await compare(accounts);
one.stop();
if (counts.includes(10_000)) {
  const limited = await startLiveAccounts({ accounts: 10_000, settings, node: { maxSubscriptions: NODE_LIMIT } });
  const { accountSockets } = await limited.node.counts();
  bench.value(`WebSockets for 10,000 accounts, ${NODE_LIMIT} each`, '', [accountSockets], { atMost: 11 });
  limited.stop();
}
bench.end();

async function compare(accounts: number): Promise<void> {
  const name = accounts.toLocaleString('en');
  const many = await startLiveAccounts({ accounts, settings });
  bench.note(`${many.live.toLocaleString('en')} of ${name} accounts live after ${many.warmUpSeconds.toFixed(1)} s`);
  await warmUp(many.gateway, many);
  const before = await many.node.counts();
  const { targets } = many;
  const samples = await interleave(rounds, {
    one: () => measureLoad(one.gateway, { targets: one.targets, seconds }),
    even: () => measureLoad(many.gateway, { targets, seconds }),
    zipf: () => measureLoad(many.gateway, { targets, seconds, pick: 'zipf' }),
  });
  const after = await many.node.counts();
  const [oneName, evenName, zipfName] = ['one account', `${name} evenly`, `${name} zipf`];
  bench.figures({ [oneName]: samples.one, [evenName]: samples.even, [zipfName]: samples.zipf });
  const base = [oneName, samples.one] as const;
  const p99 = (list: readonly Sample[]): number[] => list.map(({ p99Ms = Number.NaN }) => p99Ms);
  bench.ratio('cpuUs', [evenName, samples.even], base, accounts === 10_000 ? { atMost: 2 } : undefined);
  bench.ratio('cpuUs', [zipfName, samples.zipf], base);
  bench.ratio('rate', [evenName, samples.even], base);
  bench.ratio('rate', [zipfName, samples.zipf], base, accounts === 100_000 ? { atLeast: 0.4 } : undefined);
  bench.value(`p99, ${evenName}`, 'ms', p99(samples.even), accounts === 10_000 ? { atMost: 10 } : undefined);
  bench.value(`p99, ${zipfName}`, 'ms', p99(samples.zipf), accounts === 100_000 ? { atMost: 20 } : undefined);
  if (accounts === 10_000)
    bench.value('WebSockets for 10,000 accounts, no limit', '', [after.accountSockets], { atMost: 2 });
  const rss = residentBytesOf(many.gateway.process.pid);
  const [mib, perAccount] = [rss / MIB, (rss - oneBytes) / accounts / 1024];
  bench.note(`RSS ${mib.toFixed(0)} MiB, ${perAccount.toFixed(1)} KiB an account above that with one`);
  const calls = Object.entries(after.requests).map(
    ([method, n]) => [method, n - (before.requests[method] ?? 0)] as const,
  );
  const made = calls.filter(([, n]) => n > 0).map(([method, n]) => `${method} ${n}`);
  bench.note(`${after.accountSockets} WebSockets with accounts; upstream requests while measured: ${made.join(', ')}`);
  many.stop();
}
