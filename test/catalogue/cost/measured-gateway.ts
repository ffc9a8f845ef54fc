import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { type ChildProgram, runModule, waitUntilListening } from '../../support/child-process.ts';
import { residentBytesOf } from '../../support/process-memory.ts';

/** What the probe in the gateway reports: spent since its last report. */
export interface ProbeReport {
  readonly id: number;
  /** CPU time of the longest turn of the main thread. */
  readonly longestMs: number;
  /** CPU time of all turns above 2 ms. */
  readonly longTurnsMs: number;
  readonly elapsedMs: number;
  /** CPU time of the process, all threads. */
  readonly cpuMs: number;
  /** Memory in use: V8's heap and what it refers to. */
  readonly keptBytes: number;
  readonly rss: number;
}

export interface MeasuredGatewayOptions {
  /** The built `main.js`; by default this build's. */
  readonly main?: string | undefined;
  /** The nodes, as `--upstream` takes them: one, or several. */
  readonly upstream: string | readonly string[];
  /** Settings, as `--set` takes them. */
  readonly set?: readonly string[];
  /** API keys file to begin with. */
  readonly prepare?: (stateFolder: string) => Promise<void>;
}

const OWN_MAIN = new URL('../../../src/main.js', import.meta.url);
const POLL_MS = 50;

/** A gateway in a child process, of this build or another, that is only measured and called from outside. */
export class MeasuredGateway {
  readonly url: string;
  readonly child: ChildProgram;
  readonly stateFolder: string;
  #reports = 0;
  #readTo = 0;

  static async start({ main, upstream, set = [], prepare }: MeasuredGatewayOptions): Promise<MeasuredGateway> {
    const folder = await mkdtemp(join(tmpdir(), 'cost-'));
    await prepare?.(folder);
    const sets = ['upstream.startMs=30000', ...set].flatMap((path) => ['--set', path]);
    const upstreams = [upstream].flat().flatMap((each) => ['--upstream', each]);
    const child = runModule(
      main === undefined ? OWN_MAIN : pathToFileURL(main),
      ['--port', '0', '--admin-port', '0', '--state', folder, ...upstreams, ...sets],
      { NODE_OPTIONS: `--import ${new URL('../../support/cost-probe.js', import.meta.url)}` },
    );
    const { url } = await waitUntilListening(child);
    return new MeasuredGateway(child, folder, url);
  }

  private constructor(child: ChildProgram, stateFolder: string, url: string) {
    this.child = child;
    this.stateFolder = stateFolder;
    this.url = url;
  }

  /** Returns what was spent since the last report; undefined if the main thread doesn't answer within `withinMs`. */
  async report(command: 'take' | 'weigh', withinMs: number): Promise<ProbeReport | undefined> {
    const id = ++this.#reports;
    this.child.process.stdin?.write(`${command} ${id}\n`);
    const text = await this.#waitForLine(`ready ${id}\n`, withinMs);
    const line = text?.split('\n').find((each) => each.startsWith(`cost {"id":${id},`));
    return line === undefined ? undefined : JSON.parse(line.slice('cost '.length));
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
      if (leftMs <= 0 || this.hasEnded) return undefined;
      const signal = AbortSignal.timeout(Math.ceil(Math.min(POLL_MS, leftMs)));
      await once(this.child.process.stderr ?? this.child.process, 'data', { signal }).catch(() => {}); // not yet
    }
  }

  get hasEnded(): boolean {
    const { exitCode, signalCode } = this.child.process;
    return exitCode !== null || signalCode !== null;
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

  /** Sends SIGTERM; returns the milliseconds until the process ended, or Infinity beyond `withinMs`. */
  async terminate(withinMs: number): Promise<number> {
    const beganMs = performance.now();
    this.child.process.kill('SIGTERM');
    const ended = await Promise.race([this.child.exit().then(() => true), sleep(withinMs, false, { ref: false })]);
    return ended ? performance.now() - beganMs : Number.POSITIVE_INFINITY;
  }

  async close(): Promise<void> {
    this.child.process.kill('SIGKILL');
    await this.child.exit();
    await rm(this.stateFolder, { recursive: true, force: true });
  }
}
