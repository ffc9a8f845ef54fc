import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Child, run } from '../child.ts';
import { until } from '../gateway/open.ts';

/** How a gateway's process is. */
export interface Vitals {
  /** Bytes of memory after a collection. */
  readonly rss: number;
  readonly heapUsed: number;
  /** For how long its own work held up its loop at most, since this was last asked. */
  readonly heldUpMs: number;
  /** Processor time that it has used. */
  readonly cpuMs: number;
}

/** A gateway in a process of its own, which lets everybody ask as much as they want. It ends with this process. */
export class GatewayProcess {
  readonly #child: Child;
  readonly #folder: string;
  #asked = 0;

  /** `set`: settings, as `--set` takes them. */
  static async start(upstream: string, set: readonly string[]): Promise<GatewayProcess> {
    const folder = await mkdtemp(join(tmpdir(), 'wire-'));
    const sets = ['limits.free.requests=10000000', 'limits.free.streams=1000000', ...set];
    const child = run(
      new URL('../../src/main.js', import.meta.url),
      ['--port', '0', '--state', folder, '--upstream', upstream, ...sets.flatMap((path) => ['--set', path])],
      { NODE_OPTIONS: `--import ${new URL('./in-gateway.js', import.meta.url)}` },
    );
    return new GatewayProcess(child, folder);
  }

  private constructor(child: Child, folder: string) {
    this.#child = child;
    this.#folder = folder;
  }

  /** Where it listens, as soon as it does. */
  async url(): Promise<string> {
    await this.#child.says('"listening"');
    return /"url":"([^"]+)"/.exec(this.#child.out())?.[1] ?? '';
  }

  /** How it ended by itself, if it has. */
  get ended(): string | undefined {
    const { exitCode, signalCode } = this.#child.process;
    return exitCode === null && signalCode === null ? undefined : `${signalCode ?? exitCode} ${this.#child.err()}`;
  }

  /** The lines of its log that tell of a defect. */
  get defects(): readonly string[] {
    return this.#child
      .out()
      .split('\n')
      .filter((line) => line.includes('a request met a defect'));
  }

  async vitals(): Promise<Vitals> {
    const id = ++this.#asked;
    this.#child.process.stdin?.write(`${id}\n`);
    let told: string | undefined;
    await until(() => {
      told = new RegExp(`^vitals (\\{"id":${id},.*)$`, 'm').exec(this.#child.err())?.[1];
      return told !== undefined || this.ended !== undefined;
    }, 'a sign of life');
    return JSON.parse(told ?? '{}');
  }

  /** Asks it to end, and gives how it did. */
  async terminate(): Promise<number | string> {
    this.#child.process.kill('SIGTERM');
    return await this.#child.ended();
  }

  async close(): Promise<void> {
    this.#child.process.kill('SIGKILL');
    await this.#child.ended();
    await rm(this.#folder, { recursive: true });
  }
}
