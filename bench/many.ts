import { Bench, interleave, type Sample } from './support/bench.ts';
import { type LiveAccounts, startLiveAccounts } from './support/live-accounts.ts';
import { type Load, runLoad } from './support/load.ts';
import { cpuSeconds, residentBytes } from './support/server-process.ts';

// Reads of many live accounts against reads of one: each gateway has a node of its own, whose accounts don't change.
// Arguments: how many accounts.

const bench = new Bench('many', { rounds: 5, seconds: 3 });
const counts = bench.numbers.length > 0 ? bench.numbers : [1_000, 10_000, 100_000];
const MIB = 2 ** 20;

/** Seconds of load before the first round: what is hot is compiled. */
const WARM_UP_SECONDS = 2;

async function measure(
  { gateway, targets }: LiveAccounts,
  pick: Load['pick'] & string,
  seconds = bench.seconds,
): Promise<Sample> {
  const before = cpuSeconds(gateway);
  const result = await runLoad(gateway.url, { targets, pick, seconds });
  return { ...result, cpuUs: ((cpuSeconds(gateway) - before) / result.requests) * 1e6 };
}

bench.title('GET /balance by IP, 64 connections, gateway and load on a core each');
const one = await startLiveAccounts({ accounts: 1, settings: bench.settings });
const oneBytes = residentBytes(one.gateway);
for (const accounts of counts) {
  const many = await startLiveAccounts({ accounts, settings: bench.settings });
  const name = accounts.toLocaleString('en');
  bench.note(`${many.live.toLocaleString('en')} of ${name} accounts live after ${many.warmUpSeconds.toFixed(1)} s`);
  for (const warm of [one, many]) await measure(warm, 'even', WARM_UP_SECONDS);
  const before = await many.node.counts();
  const samples = await interleave(bench.rounds, {
    one: () => measure(one, 'even'),
    even: () => measure(many, 'even'),
    zipf: () => measure(many, 'zipf'),
  });
  const after = await many.node.counts();
  const [oneName, evenName, zipfName] = ['one account', `${name} evenly`, `${name} zipf`];
  bench.figures({ [oneName]: samples.one, [evenName]: samples.even, [zipfName]: samples.zipf });
  const base = [oneName, samples.one] as const;
  bench.ratio('cpuUs', [evenName, samples.even], base, accounts === 10_000 ? { atMost: 2 } : undefined);
  bench.ratio('cpuUs', [zipfName, samples.zipf], base);
  bench.ratio('rate', [evenName, samples.even], base);
  bench.ratio('rate', [zipfName, samples.zipf], base, accounts === 100_000 ? { atLeast: 0.4 } : undefined);
  const p99 = (list: readonly Sample[]): number[] => list.map(({ p99Ms = Number.NaN }) => p99Ms);
  if (accounts === 10_000) bench.value(`p99, ${evenName}`, 'ms', p99(samples.even), { atMost: 10 });
  if (accounts === 100_000) bench.value(`p99, ${zipfName}`, 'ms', p99(samples.zipf), { atMost: 20 });
  const rss = residentBytes(many.gateway);
  bench.note(
    `RSS ${(rss / MIB).toFixed(0)} MiB, ${((rss - oneBytes) / accounts / 1024).toFixed(1)} KiB an account above that with one`,
  );
  const methods = Object.keys(after.requests)
    .map((method) => [method, (after.requests[method] ?? 0) - (before.requests[method] ?? 0)] as const)
    .filter(([, calls]) => calls > 0)
    .map(([method, calls]) => `${method} ${calls}`);
  bench.note(
    `${after.sockets} WebSockets (at most ${after.mostSockets}); upstream requests meanwhile: ${methods.join(', ')}`,
  );
  many.stop();
}
bench.end();
