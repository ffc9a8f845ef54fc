import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { isMainThread } from 'node:worker_threads';
import type { ProbeReport } from './gateway-process.ts';
import { TurnMeter } from './longest-turn.ts';

// Loaded into a gateway by NODE_OPTIONS. It ends the gateway when its parent ends, and answers each line on standard
// input, `measure ID` or `weigh ID`, by a line of JSON on standard error: what was spent since the last line. `weigh`
// collects garbage first, so that the memory is what is kept; it is slow, and no part of the next figures.

/** Time in which the meter notices the last turn. */
const SETTLE_MS = 3;

setFlagsFromString('--expose-gc');
const gc: () => void = runInNewContext('gc');

if (isMainThread) {
  const meter = new TurnMeter();
  let cpu = process.cpuUsage();
  const report = (line: string): void => {
    const [command, id] = line.split(' ');
    const { longestMs, elapsedMs } = meter.lap();
    const { user, system } = process.cpuUsage(cpu);
    if (command === 'weigh') {
      gc();
      gc(); // collects what the first call has finalized
    }
    const { heapUsed, external, rss } = process.memoryUsage();
    const memory = { keptBytes: heapUsed + external, residentBytes: rss };
    const figures: ProbeReport = { id: Number(id), longestMs, elapsedMs, cpuMs: (user + system) / 1000, ...memory };
    process.stderr.write(`cost ${JSON.stringify(figures)}\n`);
    setTimeout(() => {
      meter.lap(); // without this report
      cpu = process.cpuUsage();
      process.stderr.write(`ready ${id}\n`);
    }, SETTLE_MS).unref();
  };
  process.stdin
    .setEncoding('utf8')
    .on('data', (lines: string) => {
      for (const line of lines.trim().split('\n')) setTimeout(report, SETTLE_MS, line);
    })
    .on('end', () => process.exit());
}
