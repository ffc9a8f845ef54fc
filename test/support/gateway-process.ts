import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type ChildProgram, type ListeningLine, runModule, waitUntilListening } from './child-process.ts';
import { engineEnvironment } from './harness.ts';
import { residentBytesOf } from './process-usage.ts';

/** What the probe in the gateway reports: spent since its last report. */
export interface ProbeReport extends MemoryInUse {
  readonly id: number;
  /** CPU time of the longest turn of the main thread. */
  readonly longestMs: number;
  readonly elapsedMs: number;
  /** CPU time of the process, all threads. */
  readonly cpuMs: number;
}

/** Memory that a process has in use. */
export interface MemoryInUse {
  /** Objects and buffers of the main thread. */
  readonly keptBytes: number;
  /** All pages: also native memory, other threads, and room that V8 keeps for objects to come, which varies by MiB. */
  readonly residentBytes: number;
}

export interface GatewayProcessOptions {
  /** Settings, as `--set` accepts them. */
  readonly set?: readonly string[];
  readonly nodeOptions?: readonly string[];
  /** The built `main.js`; by default this build's. */
  readonly main?: string | undefined;
  readonly maxOpenFiles?: number;
  /** Whether callers have the limits that the gateway ships with. Default: they have none. */
  readonly isLimited?: boolean;
}

const OWN_MAIN = new URL('../../src/main.js', import.meta.url);
const UNLIMITED = ['limits.free.units=10000000', 'limits.connections=1000000'];
const POLL_MS = 50;
/** Time for a collection of garbage on a busy machine. */
const PATIENCE_MS = 60_000;

/** Formats a node's or proxy's port as an upstream argument. */
export const upstreamOnPort = ({ port }: { readonly port: number }): string =>
  `http://127.0.0.1:${port},ws://127.0.0.1:${port}`;

/** A gateway in a child process, of this build or another, measured from outside and by a probe. It ends with this process. */
export class GatewayProcess {
  readonly child: ChildProgram;
  readonly #stateFolder: string;
  #line: ListeningLine = { url: '', cluster: null };
  #reports = 0;
  #readTo = 0;

  /** Starts a gateway; resolves when it listens. Rejects with the `exitCode` of one that ends before. */
  static async start(
    upstreams: readonly string[],
    { set = [], nodeOptions = [], main, maxOpenFiles, isLimited = false }: GatewayProcessOptions = {},
  ): Promise<GatewayProcess> {
    const folder = await mkdtemp(join(tmpdir(), 'gateway-'));
    const settings = ['upstreamPolicy.startTimeoutMs=30000', ...(isLimited ? [] : UNLIMITED), ...set];
    const child = runModule(
      main === undefined ? OWN_MAIN : pathToFileURL(main),
      [
        ...['--port', '0', '--admin-port', '0', '--state', folder],
        ...upstreams.flatMap((upstream) => ['--upstream', upstream]),
        ...settings.flatMap((setting) => ['--set', setting]),
      ],
      {
        ...engineEnvironment(),
        NODE_OPTIONS: [`--import ${new URL('./gateway-probe.js', import.meta.url)}`, ...nodeOptions].join(' '),
      },
      maxOpenFiles,
    );
    const gateway = new GatewayProcess(child, folder);
    try {
      gateway.#line = await waitUntilListening(child);
    } catch (thrown) {
      await gateway.close();
      throw Object.assign(new Error(String(thrown)), { exitCode: await child.exit() });
    }
    return gateway;
  }

  private constructor(child: ChildProgram, stateFolder: string) {
    this.child = child;
    this.#stateFolder = stateFolder;
  }

  get url(): string {
    return this.#line.url;
  }

  /** The URL of its listener for operators. */
  get admin(): string {
    return this.#line.admin ?? '';
  }

  /**
   * Returns what was spent since the last report, after a collection of garbage with `weigh`; undefined if the main
   * thread doesn't answer within `withinMs`.
   */
  async report(command: 'measure' | 'weigh', withinMs: number): Promise<ProbeReport | undefined> {
    const id = ++this.#reports;
    this.child.process.stdin?.write(`${command} ${id}\n`);
    const text = await this.#waitForLine(`ready ${id}\n`, withinMs);
    const line = text?.split('\n').find((each) => each.startsWith(`cost {"id":${id},`));
    return line === undefined ? undefined : JSON.parse(line.slice('cost '.length));
  }

  /** Returns the memory in use after a garbage collection. */
  async memory(): Promise<MemoryInUse> {
    const report = await this.report('weigh', PATIENCE_MS);
    if (report === undefined) throw new Error(`the gateway does not report its memory: ${this.exitReason}`);
    return report;
  }

  /** Returns standard error since the last report, once it contains `line`. */
  async #waitForLine(line: string, withinMs: number): Promise<string | undefined> {
    const deadlineMs = performance.now() + withinMs;
    for (;;) {
      const text = this.child.stderr().slice(this.#readTo);
      if (text.includes(line)) {
        this.#readTo += text.length;
        return text;
      }
      const leftMs = deadlineMs - performance.now();
      if (leftMs <= 0 || this.exitReason !== undefined) return undefined;
      const signal = AbortSignal.timeout(Math.ceil(Math.min(POLL_MS, leftMs)));
      await once(this.child.process.stderr ?? this.child.process, 'data', { signal }).catch(() => {}); // not yet
    }
  }

  /** Reads the CPU milliseconds of the main thread from outside, which works while it is busy. */
  async mainThreadMs(): Promise<number> {
    const { pid } = this.child.process;
    return Number((await readFile(`/proc/${pid}/task/${pid}/schedstat`, 'latin1')).split(' ', 1)[0]) / 1e6;
  }

  /** Returns the peak of resident memory since {@link resetPeak}. */
  peakBytes(): number {
    return residentBytesOf(this.child.process.pid, 'peak');
  }

  /** Makes the peak of resident memory what is resident now. */
  async resetPeak(): Promise<void> {
    await writeFile(`/proc/${this.child.process.pid}/clear_refs`, '5').catch(() => {}); // not every kernel allows it
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
    await rm(this.#stateFolder, { recursive: true, force: true });
  }
}
