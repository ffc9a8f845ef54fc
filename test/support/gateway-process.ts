import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Child, listening, run } from './child-process.ts';
import { until } from './open.ts';

/** For how long a gateway's loop was held up at most: by its own work, and altogether. */
export interface HoldUp {
  readonly ownMs: number;
  readonly wholeMs: number;
}

const TICKS_PER_SECOND = 100;

/** The upstream of a node or a proxy, as a gateway takes it. */
export const onPort = ({ port }: { readonly port: number }): string =>
  `http://127.0.0.1:${port},ws://127.0.0.1:${port}`;

/** A gateway in a process of its own, which lets everybody ask as much as they want. It ends with this process. */
export class GatewayProcess {
  readonly child: Child;
  readonly #folder: string;
  #holdUpsTaken = 0;
  #weighed = 0;

  /** `set`: settings, as `--set` takes them. */
  static async start(upstreams: readonly string[], set: readonly string[] = []): Promise<GatewayProcess> {
    const folder = await mkdtemp(join(tmpdir(), 'faults-'));
    const nodes = upstreams.flatMap((upstream) => ['--upstream', upstream]);
    const sets = ['limits.free.requests=10000000', 'limits.connections=1000000', ...set].flatMap((path) => [
      '--set',
      path,
    ]);
    const child = run(
      new URL('../../src/main.js', import.meta.url),
      ['--port', '0', '--state', folder, ...nodes, ...sets],
      { NODE_OPTIONS: `--import ${new URL('./in-gateway.js', import.meta.url)}` },
    );
    return new GatewayProcess(child, folder);
  }

  private constructor(child: Child, folder: string) {
    this.child = child;
    this.#folder = folder;
  }

  /** Where it listens, as soon as it does. */
  async url(): Promise<string> {
    return (await listening(this.child)).url;
  }

  /** Seconds of processor time that it has used. */
  async cpuSeconds(): Promise<number> {
    const stat = await readFile(`/proc/${this.child.process.pid}/stat`, 'latin1');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
  }

  /** The longest since this was last asked. */
  takeHoldUp(): HoldUp {
    const told = [...this.child.err().matchAll(/held up ([\d.]+) ([\d.]+)/g)];
    const since = told.slice(this.#holdUpsTaken);
    this.#holdUpsTaken = told.length;
    const longest = (column: number): number => Math.max(...since.map((found) => Number(found[column])));
    return { ownMs: longest(1), wholeMs: longest(2) };
  }

  /** Bytes of memory after a collection. */
  async rss(): Promise<number> {
    const id = ++this.#weighed;
    this.child.process.stdin?.write(`weigh ${id}\n`);
    const told = new RegExp(`^weighed ${id} (\\d+)\n`, 'm');
    await until(() => told.test(this.child.err()) || this.ending !== undefined, 'the memory of the gateway');
    return Number(told.exec(this.child.err())?.[1]);
  }

  /** Gives a route, named by its path, a defect: from now on it throws where it would read. */
  async breakRoute(path: string): Promise<void> {
    this.child.process.stdin?.write(`break ${path}\n`);
    const isBroken = (): boolean => this.child.err().includes(`broken ${path}\n`);
    await until(() => isBroken() || this.ending !== undefined, 'the defect');
  }

  /** How it ended by itself; undefined while it runs. */
  get ending(): string | undefined {
    const { exitCode, signalCode } = this.child.process;
    return exitCode === null && signalCode === null ? undefined : `${signalCode ?? exitCode} ${this.child.err()}`;
  }

  /** The lines of its log that tell of a defect. */
  get defects(): readonly string[] {
    const lines = this.child.out().split('\n');
    return lines.filter((line) => line.includes('a request met a defect'));
  }

  /** Asks it to end, and gives how it did. */
  async terminate(): Promise<number | string> {
    this.child.process.kill('SIGTERM');
    return await this.child.ended();
  }

  async close(): Promise<void> {
    this.child.process.kill('SIGKILL');
    await this.child.ended();
    await rm(this.#folder, { recursive: true });
  }
}
