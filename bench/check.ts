import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, release, totalmem, type } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { formatResult, type Result } from './support/bench.ts';
import { DIST } from './support/server-process.ts';

// Runs benchmarks one after the other, prints the table of goals, and says what has become slower than recorded in
// bench/results.json. It fails only if a benchmark can't run: figures of two runs on a busy machine differ.
//
//   --short    a minute: what is quick to measure, in few and short rounds
//   --full     everything, with the default rounds of each benchmark
//   NAME…      these alone, with the default rounds of each
//   --record   writes the results of the benchmarks that ran into bench/results.json

/** The results of one benchmark, and where they were measured. */
interface Recorded {
  readonly command: string;
  readonly date: string;
  readonly machine: string;
  readonly node: string;
  readonly results: readonly Result[];
}

type Suite = readonly (readonly [bench: string, ...args: string[]])[];

/** How far beyond the recorded range a result may be: what is measured once has no range. */
const SLACK = 0.02;

const QUICK = ['--rounds', '2', '--seconds', '0.5'];
const SHORT: Suite = [
  ['hit', ...QUICK],
  ['many', ...QUICK, '1000'],
  ['start', '--rounds', '1'],
];
const DEFAULT: Suite = [['hit'], ['pipelined'], ['many', '1000', '10000'], ['nonce'], ['start']];
const FULL: Suite = [
  ['hit'],
  ['peers'],
  ['pipelined'],
  ['many'],
  ['tick'],
  ['memory'],
  ['feed'],
  ['nonce'],
  ['miss'],
  ['fanout'],
  ['start'],
  ['workers'],
  ['fleet'],
];

const { values: flags, positionals: names } = parseArgs({
  options: { short: { type: 'boolean' }, full: { type: 'boolean' }, record: { type: 'boolean' } },
  allowPositionals: true,
});
const path = fileURLToPath(new URL('../../bench/results.json', import.meta.url)); // from dist/bench
const recorded: Record<string, Recorded> = existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : {};
const machine = `${cpus()[0]?.model ?? 'unknown'}, ${availableParallelism()} cores, ${Math.round(totalmem() / 2 ** 30)} GiB, ${type()} ${release()}`;

const measured: Record<string, Recorded> = {};
const failed: string[] = [];
for (const [bench, ...args] of suiteOf()) {
  const command = ['node', `dist/bench/${bench}.js`, ...args].join(' ');
  console.log(`\n${command}`);
  const results = await run(bench, args);
  if (results === undefined) failed.push(command);
  else measured[bench] = { command, date: new Date().toISOString(), machine, node: process.version, results };
}

console.log(`\nGoals, on ${machine}, Node ${process.version}`);
for (const [bench, { results }] of Object.entries(measured)) {
  for (const result of results)
    if (result.goal !== undefined) console.log(`${bench.padEnd(10)}${formatResult(result)}`);
}
if (Object.keys(recorded).length === 0) console.log('\nNothing is recorded yet: --record does it');
else reportSlower();
if (flags.record) {
  writeFileSync(path, `${JSON.stringify({ ...recorded, ...measured }, null, 2)}\n`);
  console.log(`\nwrote ${path}`);
}
if (failed.length > 0) console.log(`\nCould not run: ${failed.join(', ')}`);
process.exit(failed.length > 0 ? 1 : 0);

function suiteOf(): Suite {
  const unknown = names.find((name) => !FULL.some(([bench]) => bench === name));
  if (unknown !== undefined) throw new Error(`there is no benchmark ${unknown}`);
  if (names.length > 0) return FULL.filter(([bench]) => names.includes(bench));
  return flags.short ? SHORT : flags.full ? FULL : DEFAULT;
}

/** Runs a benchmark in a process of its own. Returns its results; undefined if it has failed. */
async function run(bench: string, args: readonly string[]): Promise<readonly Result[] | undefined> {
  const child = fork(join(DIST, `bench/${bench}.js`), args);
  let results: readonly Result[] | undefined;
  child.on('message', (sent: readonly Result[]) => {
    results = sent;
  });
  const [exitCode] = await once(child, 'exit');
  return exitCode === 0 ? results : undefined;
}

/** Says which results are worse than the recorded range. Times are left out: other machines take others. */
function reportSlower(): void {
  const slower: string[] = [];
  let compared = 0;
  for (const [bench, { results }] of Object.entries(measured)) {
    for (const result of results) {
      const before = recorded[bench]?.results.find(({ name }) => name === result.name);
      if (before === undefined || result.unit === 'ms') continue;
      compared++;
      const { median } = result.spread;
      const { low, high } = before.spread;
      const isWorse = result.better === 'higher' ? median < low * (1 - SLACK) : median > high * (1 + SLACK);
      const range = `${low.toFixed(2)} to ${high.toFixed(2)}`;
      if (isWorse) slower.push(`${bench}: ${result.name}: ${median.toFixed(2)}, recorded ${range}`);
    }
  }
  console.log(
    `\n${compared} results compared with bench/results.json; worse than the recorded range: ${slower.length}`,
  );
  for (const line of slower) console.log(`  ${line}`);
}
