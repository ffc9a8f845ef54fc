import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { platform } from 'node:os';
import { fileURLToPath } from 'node:url';
import { startEmbeddedCluster } from '../../src/localnet/embedded-cluster.ts';
import { atExit } from './at-exit.ts';
import { makeTemporaryFolder } from './temporary-folder.ts';

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
  const path = fileURLToPath(new URL(`../../${module}`, import.meta.url)); // from dist/bench/support to dist
  const [command = '', ...rest] = pinned(0, [process.execPath, path, ...args]);
  const child = spawn(command, rest, { stdio: ['ignore', 'pipe', 'inherit'] });
  atExit(() => child.kill('SIGKILL')); // a failed benchmark leaves no process
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
  pinToOtherCore();
  const { url, wsUrl } = await startEmbeddedCluster({ transactionsPerSlot: 0 });
  return startGatewayOver(`${url},${wsUrl}`, makeTemporaryFolder(), settings);
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

/**
 * Returns the CPU seconds of all threads of a server so far; other work of the machine is not included. NaN where the
 * system doesn't report them.
 */
export function cpuSeconds({ process: { pid } }: ServedProcess): number {
  if (platform() !== 'linux') return Number.NaN;
  const threads = `/proc/${pid}/task`;
  const nanoseconds = readdirSync(threads).map((thread) => readFileSync(`${threads}/${thread}/schedstat`, 'latin1'));
  return nanoseconds.reduce((sum, line) => sum + Number(line.split(' ')[0]), 0) / 1e9;
}

/** Returns the resident memory of a server in bytes. */
export function residentBytes({ process: { pid } }: ServedProcess): number {
  if (platform() !== 'linux') return Number.NaN;
  return 1024 * Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1]);
}
