import { readdirSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';
import type { Route } from '../../src/routing/route.ts';
import { collectGarbage } from './collect-garbage.ts';
import type { MemoryInUse } from './gateway-process.ts';
import { TurnMeter } from './longest-turn.ts';

// Loaded into a gateway by NODE_OPTIONS. It ends the gateway when its parent ends, and reports on standard error, four
// times a second, the longest event-loop delay: by the gateway's own work, and in total with the machine's other work.
// It runs the commands on standard input, one a line: `weigh ID` reports the memory in use after a garbage
// collection, `turns ID` what the turns of the main thread cost since the last such command, `break PATH` makes a route
// throw.

const TICK_MS = 5;

if (isMainThread) runProbe(); // worker threads load this, too

function runProbe(): void {
  reportDelays();
  const meter = new TurnMeter();
  process.stdin
    .setEncoding('utf8')
    .on('data', (lines: string) => {
      for (const line of lines.trim().split('\n')) void runCommand(line, meter);
    })
    .on('end', () => process.exit());
}

function reportDelays(): void {
  let lastMs = performance.now();
  let last = process.cpuUsage();
  let [ownMs, wholeMs] = [0, 0];

  setInterval(() => {
    const nowMs = performance.now();
    const lateMs = Math.max(0, nowMs - lastMs - TICK_MS);
    const { user, system } = process.cpuUsage(last);
    ownMs = Math.max(ownMs, Math.min(lateMs, (user + system) / 1000)); // CPU time of all threads
    wholeMs = Math.max(wholeMs, lateMs);
    lastMs = nowMs;
    last = process.cpuUsage();
  }, TICK_MS).unref();

  setInterval(() => {
    process.stderr.write(`held up ${ownMs.toFixed(1)} ${wholeMs.toFixed(1)}\n`);
    [ownMs, wholeMs] = [0, 0];
  }, 250).unref();
}

async function runCommand(line: string, meter: TurnMeter): Promise<void> {
  const [command, argument] = line.split(' ');
  if (command === 'break') await breakRoute(argument);
  else if (command === 'turns') process.stderr.write(`turned ${argument} ${JSON.stringify(meter.take())}\n`);
  else reportMemory(argument);
}

function reportMemory(id: string | undefined): void {
  collectGarbage();
  const { heapUsed, external, rss } = process.memoryUsage();
  const memory: MemoryInUse = { keptBytes: heapUsed + external, residentBytes: rss };
  process.stderr.write(`weighed ${id} ${JSON.stringify(memory)}\n`);
}

async function breakRoute(path: string | undefined): Promise<void> {
  const bundle = new URL('../../src/bundle/', import.meta.url); // the process has the routes from there, loaded by now
  const file = readdirSync(bundle).find((name) => /^routes-\w+\.js$/.test(name));
  if (file === undefined) throw new Error('the bundle has no routes of their own');
  const { routes }: { routes: readonly Route[] } = await import(new URL(file, bundle).href);
  const route = routes.find((route) => route.path === path);
  if (route === undefined) throw new Error(`no route ${path}`);
  const resolve = (): never => {
    throw new TypeError('broken on purpose');
  };
  Object.assign(route, { resolve });
  process.stderr.write(`broken ${path}\n`);
}
