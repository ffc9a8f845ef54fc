import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { platform } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { cpuSecondsOf, NODE_OPTIONS } from '../../test/support/process-usage.ts';
import { atExit } from './at-exit.ts';
import { makeTemporaryFolder } from './temporary-folder.ts';

/** Whether a process can be bound to one core, so that server and load don't share it. */
const canPin = spawnSync('taskset', ['-V']).status === 0;

/** The folder of the build that this benchmark belongs to. */
export const DIST = fileURLToPath(new URL('../..', import.meta.url));

/** Returns the command bound to one core, where that is possible. */
export const pinned = (core: number, command: readonly string[]): string[] =>
  canPin ? ['taskset', '-c', String(core), ...command] : [...command];

/** A server in a process of its own, on the first core. */
export interface ServedProcess {
  readonly url: string;
  readonly process: ChildProcess;
  stop(): void;
}

/** Starts a module of this build and waits for the output line with its `url`. */
export const startServer = (module: string, args: readonly string[]): Promise<ServedProcess> =>
  startListening([process.execPath, join(DIST, module), ...args]);

/** Starts a program, on the first core or on any, and waits for the output line with its `url`. */
export async function startListening(command: readonly string[], isPinned = true): Promise<ServedProcess> {
  const [program = '', ...args] = isPinned ? pinned(0, command) : command;
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  atExit(() => child.kill('SIGKILL'));
  const url = await new Promise<string>((resolve, reject) => {
    let output = '';
    child.stdout.on('data', (chunk) => {
      output += chunk;
      const found = /"url":"([^"]+)".*"listening"/.exec(output)?.[1];
      if (found !== undefined) resolve(found);
    });
    child.once('exit', () => reject(new Error(`${command.slice(0, 2).join(' ')} ended before it listened: ${output}`)));
  });
  return { url, process: child, stop: () => child.kill('SIGKILL') };
}

/** Starts any program that will listen on the given port, and waits until it answers. */
export async function startProgram(command: readonly string[], port: number, path: string): Promise<ServedProcess> {
  const [program = '', ...args] = pinned(0, command);
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  atExit(() => child.kill('SIGKILL'));
  const url = `http://127.0.0.1:${port}`;
  for (;;) {
    if (child.exitCode !== null) throw new Error(`${command[0]} ended before it listened`);
    const answers = await fetch(`${url}${path}`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (answers) return { url, process: child, stop: () => child.kill('SIGKILL') };
    await sleep(50);
  }
}

export function pinToOtherCore(): void {
  if (canPin) spawnSync('taskset', ['-acp', '1', String(process.pid)]);
}

export interface GatewayOptions {
  /** Settings, as `--set` accepts them. */
  readonly settings?: readonly string[];
  /** The state folder. Default: a new one. */
  readonly state?: string;
  /** The folder of the build that is started. Default: that of this benchmark. */
  readonly dist?: string | undefined;
  /** The number of workers, 0 for a single process, on all cores. Default: a single process on the first core. */
  readonly workers?: number | undefined;
}

/** Settings without limits on callers. */
export const UNLIMITED = [
  'limits.free.units=10000000',
  'limits.free.windowSeconds=1',
  'limits.scale.units=10000000',
  'limits.scale.windowSeconds=1',
  'limits.free.streams=1000000',
  'limits.connections=1000000',
];

/** Starts a gateway without limits over a node, or over those of its settings. */
export function startGatewayOver(upstream: string | undefined, options: GatewayOptions = {}): Promise<ServedProcess> {
  const { settings = [], state = makeTemporaryFolder(), dist = DIST, workers } = options;
  const set = [...UNLIMITED, ...settings].flatMap((setting) => ['--set', setting]);
  const command = [process.execPath, ...NODE_OPTIONS, join(dist, 'src/main.js'), '--port', '0', '--state', state];
  command.push(...(upstream === undefined ? [] : ['--upstream', upstream]), ...set);
  if (workers === undefined) return startListening(command);
  return startListening([...command, '--workers', `${workers}`], false);
}

/** Issues an API key of the tier `scale` in a state folder. */
export function issueKey(state: string): string {
  const args = [join(DIST, 'src/main.js'), 'keys', 'create', '--tier', 'scale', '--label', 'bench', '--state', state];
  return spawnSync(process.execPath, args, { encoding: 'utf8' }).stdout.trim();
}

/** Returns the CPU seconds of a server so far; other work of the machine is not included. NaN where the system has none. */
export const cpuSeconds = ({ process: { pid } }: ServedProcess): number => cpuSecondsOf(pid ?? 0);

/** Returns the memory of a process in bytes that it shares with no other. */
export function privateBytes(pid: number): number {
  if (platform() !== 'linux') return Number.NaN;
  const lines = readFileSync(`/proc/${pid}/smaps_rollup`, 'latin1').matchAll(/^Private_\w+:\s+(\d+)/gm);
  return [...lines].reduce((sum, [, kib]) => sum + 1024 * Number(kib), 0);
}
