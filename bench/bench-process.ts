import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { platform, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startEmbeddedCluster } from '../src/localnet/embedded-cluster.ts';

/** Whether a process can be bound to one core, so that server and load don't share it. */
const canPin = spawnSync('taskset', ['-V']).status === 0;

/** Returns the command bound to one core, where that is possible. */
export const pinned = (core: number, command: readonly string[]): string[] =>
  canPin ? ['taskset', '-c', String(core), ...command] : [...command];

/** A server in a child process on the first core. */
export interface ServedProcess {
  readonly url: string;
  readonly process: ChildProcess;
  stop(): void;
}

/** Starts a module of this project and waits for the output line with its `url`. */
export async function startServer(module: string, args: readonly string[]): Promise<ServedProcess> {
  const path = fileURLToPath(new URL(`../${module}`, import.meta.url)); // from dist/bench to dist
  const [command = '', ...rest] = pinned(0, [process.execPath, path, ...args]);
  const child = spawn(command, rest, { stdio: ['ignore', 'pipe', 'inherit'] });
  process.once('exit', () => child.kill('SIGKILL')); // a failed benchmark leaves no process
  const url = await new Promise<string>((resolve, reject) => {
    let output = '';
    child.stdout.on('data', (chunk) => {
      output += chunk;
      const found = /"url":"([^"]+)".*"listening"/.exec(output)?.[1];
      if (found !== undefined) resolve(found);
    });
    child.once('exit', () => reject(new Error(`${module} ended before it listened: ${output}`)));
  });
  return { url, process: child, stop: () => child.kill('SIGKILL') };
}

/** Moves this process to the other core. */
export function pinToOtherCore(): void {
  if (canPin) spawnSync('taskset', ['-acp', '1', String(process.pid)]);
}

/** Starts a gateway without limits over a cluster in this process, as a node runs on another machine. */
export async function startGateway(...settings: readonly string[]): Promise<ServedProcess> {
  const state = mkdtempSync(join(tmpdir(), 'bench-'));
  pinToOtherCore();
  const { url, wsUrl } = await startEmbeddedCluster({ transactionsPerSlot: 0 });
  return startGatewayOver(`${url},${wsUrl}`, state, settings);
}

/** Starts a gateway without limits over a node. */
export function startGatewayOver(
  upstream: string,
  state: string,
  settings: readonly string[] = [],
): Promise<ServedProcess> {
  const unlimited = ['limits.free.requests=10000000', 'limits.free.streams=1000000', 'limits.connections=1000000'];
  const set = [...unlimited, ...settings].flatMap((setting) => ['--set', setting]);
  return startServer('src/main.js', ['--port', '0', '--state', state, '--upstream', upstream, ...set]);
}

/** Runs each function once, then each again, and so on, so that drift affects all alike. Returns the medians. */
export async function runInterleaved<K extends string>(
  rounds: number,
  runs: Readonly<Record<K, () => number | Promise<number>>>,
): Promise<Record<K, number>> {
  const names = Object.keys(runs) as K[]; // the keys of runs
  const results = new Map<K, number[]>(names.map((name) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const name of names) results.get(name)?.push(await runs[name]());
  }
  const medians = names.map((name) => [name, median(results.get(name) ?? [])]);
  return Object.fromEntries(medians) as Record<K, number>; // one for each name
}

/**
 * Returns the CPU seconds of a server so far, where the system reports them; other work of the machine is not included.
 */
export function cpuSeconds({ process: { pid } }: ServedProcess): number {
  if (platform() !== 'linux') return Number.NaN;
  const [user = 0, system = 0] =
    readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]?.split(' ').slice(11, 13).map(Number) ?? [];
  return (user + system) / TICKS;
}

/** Clock ticks in a second, as /proc counts them. */
const TICKS = 100;

/** Returns the median. */
export const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN;

/** Prints one result: the measure, its value, its ratio to the reference, and the goal. */
export function report(what: string, value: number, unit: string, ratio?: number, goal?: string): void {
  const number = value >= 1000 ? Math.round(value).toLocaleString('en') : value.toFixed(2);
  const share = ratio === undefined ? '' : ratio.toFixed(2);
  console.log(`${what.padEnd(58)} ${number.padStart(12)} ${unit.padEnd(8)} ${share.padStart(6)}  ${goal ?? ''}`);
}
