import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ChildProgram, runModule, waitUntilListening } from './child-process.ts';
import { engineEnvironment, waitFor } from './harness.ts';
import type { TurnCosts } from './longest-turn.ts';

/** Longest event-loop delay: by the gateway's own work, and in total. */
export interface LoopDelay {
  readonly ownMs: number;
  readonly wholeMs: number;
}

/** Memory that a process has in use after a garbage collection. */
export interface MemoryInUse {
  /** Live objects and buffers of the main thread. */
  readonly keptBytes: number;
  /** All pages: also native memory, other threads, and room that V8 keeps for objects to come, which varies by MiB. */
  readonly residentBytes: number;
}

const TICKS_PER_SECOND = 100;

/** Formats a node's or proxy's port as an upstream argument. */
export const upstreamOnPort = ({ port }: { readonly port: number }): string =>
  `http://127.0.0.1:${port},ws://127.0.0.1:${port}`;

/** A gateway in a child process, without limits on callers. It ends with this process. */
export class GatewayProcess {
  readonly child: ChildProgram;
  readonly #folder: string;
  #delaysTaken = 0;
  #memoryReports = 0;
  #turnReports = 0;

  /** Starts a gateway. `set` holds settings, as `--set` takes them; `nodeOptions` those of Node. */
  static async start(
    upstreams: readonly string[],
    set: readonly string[] = [],
    nodeOptions: readonly string[] = [],
  ): Promise<GatewayProcess> {
    const folder = await mkdtemp(join(tmpdir(), 'faults-'));
    const nodes = upstreams.flatMap((upstream) => ['--upstream', upstream]);
    const sets = ['limits.free.requests=10000000', 'limits.connections=1000000', ...set].flatMap((path) => [
      '--set',
      path,
    ]);
    const child = runModule(
      new URL('../../src/main.js', import.meta.url),
      ['--port', '0', '--admin-port', '0', '--state', folder, ...nodes, ...sets],
      {
        ...engineEnvironment(),
        NODE_OPTIONS: [`--import ${new URL('./gateway-probe.js', import.meta.url)}`, ...nodeOptions].join(' '),
      },
    );
    return new GatewayProcess(child, folder);
  }

  private constructor(child: ChildProgram, folder: string) {
    this.child = child;
    this.#folder = folder;
  }

  /** Waits until the gateway listens; returns its URL. */
  async url(): Promise<string> {
    return (await waitUntilListening(this.child)).url;
  }

  /** Reads the CPU seconds used so far. */
  async cpuSeconds(): Promise<number> {
    const stat = await readFile(`/proc/${this.child.process.pid}/stat`, 'latin1');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
  }

  /** Returns the longest delay since the last call. */
  takeLoopDelay(): LoopDelay {
    const reports = [...this.child.stderr().matchAll(/held up ([\d.]+) ([\d.]+)/g)];
    const since = reports.slice(this.#delaysTaken);
    this.#delaysTaken = reports.length;
    const longest = (column: number): number => Math.max(...since.map((found) => Number(found[column])));
    return { ownMs: longest(1), wholeMs: longest(2) };
  }

  /** Returns the memory in use after a garbage collection. */
  async memory(): Promise<MemoryInUse> {
    const id = ++this.#memoryReports;
    this.child.process.stdin?.write(`weigh ${id}\n`);
    const report = new RegExp(`^weighed ${id} (.+)\n`, 'm');
    await waitFor(() => report.test(this.child.stderr()) || this.exitReason !== undefined, 'the memory of the gateway');
    return JSON.parse(report.exec(this.child.stderr())?.[1] ?? '');
  }

  /** Returns what the turns of its main thread cost since the last call. */
  async takeTurns(): Promise<TurnCosts> {
    const id = ++this.#turnReports;
    this.child.process.stdin?.write(`turns ${id}\n`);
    const report = new RegExp(`^turned ${id} (.+)\n`, 'm');
    await waitFor(() => report.test(this.child.stderr()) || this.exitReason !== undefined, 'the turns of the gateway');
    return JSON.parse(report.exec(this.child.stderr())?.[1] ?? '');
  }

  /** Makes a route, named by its path, throw from now on. */
  async breakRoute(path: string): Promise<void> {
    this.child.process.stdin?.write(`break ${path}\n`);
    const isBroken = (): boolean => this.child.stderr().includes(`broken ${path}\n`);
    await waitFor(() => isBroken() || this.exitReason !== undefined, 'the defect');
  }

  /** Reason why the gateway ended by itself; undefined while it runs. */
  get exitReason(): string | undefined {
    const { exitCode, signalCode } = this.child.process;
    return exitCode === null && signalCode === null ? undefined : `${signalCode ?? exitCode} ${this.child.stderr()}`;
  }

  /** Log lines that report a defect. */
  get defectLogLines(): readonly string[] {
    const lines = this.child.stdout().split('\n');
    return lines.filter((line) => line.includes('a request met a defect'));
  }

  /** Sends SIGTERM and returns the exit code or signal. */
  async terminate(): Promise<number | string> {
    this.child.process.kill('SIGTERM');
    return await this.child.exit();
  }

  async close(): Promise<void> {
    this.child.process.kill('SIGKILL');
    await this.child.exit();
    await rm(this.#folder, { recursive: true });
  }
}
