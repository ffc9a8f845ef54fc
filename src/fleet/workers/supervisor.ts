import { type ChildProcess, fork } from 'node:child_process';
import { accessSync, constants, mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Config } from '../../config/config-schema.ts';
import type { Clock } from '../../domain/clock.ts';
import { StartError } from '../../domain/start-error.ts';
import type { Log } from '../../runtime/log.ts';
import { repeat } from '../../runtime/repeat.ts';
import type { FromMember, MemberSettings, PipelineFacts, ToMember } from './member-messages.ts';

export interface SupervisorOptions extends Omit<MemberSettings, 'folder'> {
  /** The module of each process. */
  readonly module: URL;
  readonly clock: Clock;
  readonly log: Log;
}

/** The times without a sign of life after which a process is killed: it stands still, and another one can serve. */
const WORKER_SILENCE_MS = 3000;
const PIPELINE_SILENCE_MS = 5000;

/** Time between two looks. */
const LOOK_MS = 250;

/** A process that ends sooner than this was not worth starting: the next one waits, longer each time. */
const SHORT_LIFE_MS = 5000;
const MAX_RESTART_MS = 5000;

/** A process, from one start to the next. */
interface Member {
  readonly name: string;
  readonly silenceMs: number;
  readonly startMessage: () => ToMember;
  process: ChildProcess | undefined;
  isUp: boolean;
  heardMs: number;
  startedMs: number;
  /** Whether its end is wanted. */
  isLeaving: boolean;
  /** The number of short lives in a row. */
  shortLives: number;
  hasEnded: Promise<void>;
}

/** Returns the number of workers that the settings ask for. */
export const workerCount = ({ workers }: Config): number =>
  workers.count === 'auto' ? Math.max(1, availableParallelism() - 1) : workers.count;

/** The processes of a gateway: starts them, starts those again that end, and kills those that stand still. */
export class Supervisor {
  readonly #options: SupervisorOptions;
  readonly #folder: string;
  readonly #pipeline: Member;
  readonly #workers = new Map<number, Member>();
  readonly #stopLooking: () => void;
  #config: Config;
  #epoch = 0;
  #nextWorker = 0;
  #lookedMs: number;
  #isClosing = false;
  #isRenewing = false;
  #facts: PipelineFacts | undefined;
  /** The port of the listener for operators that was asked for, and the one that it got. */
  #adminPort: { readonly asked: number | null; readonly given: number } | undefined;

  constructor(options: SupervisorOptions) {
    const { clock, config } = options;
    this.#options = options;
    this.#config = config;
    this.#folder = mkdtempSync(join(memoryFolder(), 'slotgate-')); // mkdtemp: for its owner only
    this.#lookedMs = clock.monotonic();
    this.#pipeline = this.#memberOf('pipeline', PIPELINE_SILENCE_MS, () => ({
      kind: 'start',
      role: 'pipeline',
      settings: this.#settings(),
      epoch: ++this.#epoch,
      workers: [...this.#workers].flatMap(([id, { isUp }]) => (isUp ? [id] : [])),
    }));
    while (this.#workers.size < workerCount(config)) this.#addWorker();
    this.#stopLooking = repeat(clock, LOOK_MS, () => this.#killStopped());
  }

  /** Starts all. Resolves to the URL when every worker listens; rejects with the StartError of the first that can't. */
  async open(): Promise<{ readonly url: string; readonly facts: PipelineFacts }> {
    try {
      const { facts } = await this.#start(this.#pipeline);
      const [first] = await Promise.all([...this.#workers.values()].map((worker) => this.#start(worker)));
      if (first?.url === undefined || facts === undefined) throw new Error('there is no worker to start');
      return { url: first.url, facts };
    } catch (thrown) {
      await this.close();
      throw thrown;
    }
  }

  get nodes(): PipelineFacts['nodes'] {
    return this.#facts?.nodes ?? [];
  }

  /** Has all processes read again what the operator may have changed. */
  reload(): void {
    send(this.#pipeline.process, { kind: 'reload' }); // workers hear of it through the log
  }

  /** Has settings counted that were read again and could not be applied. */
  countFailedReload(): void {
    send(this.#pipeline.process, { kind: 'reloadFailed' });
  }

  /**
   * Replaces all processes by others that run what is on disk now, with these settings: worker by worker, each once its
   * successor listens, then the pipeline process. Requests are served meanwhile, and no slot goes back: each successor hears
   * of what was shown. Returns whether all were replaced; else the settings stay as they were.
   */
  async renew(config: Config): Promise<boolean> {
    const { log } = this.#options;
    if (this.#isRenewing || this.#isClosing) return false;
    this.#isRenewing = true;
    const before = this.#config;
    this.#config = config;
    try {
      await this.#replaceWorkers([...this.#workers], workerCount(config));
      this.#pipeline.isLeaving = true;
      send(this.#pipeline.process, { kind: 'close' });
      await this.#pipeline.hasEnded;
      this.#pipeline.isLeaving = false;
      await this.#start(this.#pipeline);
      log.info({}, 'all processes were replaced');
      return true;
    } catch (err) {
      this.#config = before;
      this.countFailedReload();
      log.error({ err }, 'not all processes could be replaced: the others serve on');
      if (this.#pipeline.process === undefined) this.#restart(this.#pipeline);
      return false;
    } finally {
      this.#isRenewing = false;
    }
  }

  /** Starts so many workers, and lets one of the old ones go with each; at last those that are left. */
  async #replaceWorkers(old: readonly (readonly [id: number, worker: Member])[], count: number): Promise<void> {
    for (let i = 0; i < Math.max(count, old.length); i++) {
      if (i < count) await this.#startNewWorker();
      const [id, worker] = old[i] ?? [];
      if (id === undefined || worker === undefined) continue;
      worker.isLeaving = true;
      send(worker.process, { kind: 'close' });
      void worker.hasEnded.then(() => this.#workers.delete(id));
    }
  }

  /** Starts one more worker; one that can't start is forgotten. */
  async #startNewWorker(): Promise<void> {
    const worker = this.#addWorker();
    try {
      await this.#start(worker);
    } catch (thrown) {
      for (const [id, each] of this.#workers) if (each === worker) this.#workers.delete(id);
      throw thrown;
    }
  }

  /** Ends the workers, which first answer what they were asked, then the pipeline process. */
  async close(): Promise<void> {
    this.#isClosing = true;
    this.#stopLooking();
    const workers = [...this.#workers.values()];
    for (const { process } of workers) send(process, { kind: 'close' });
    await Promise.all(workers.map(({ hasEnded }) => hasEnded));
    send(this.#pipeline.process, { kind: 'close' });
    await this.#pipeline.hasEnded;
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #settings(): MemberSettings {
    const { receiptKey, secrets, isAdminPortChosen, embedded } = this.#options;
    const config = this.#config;
    const { port } = config.admin;
    const given = this.#adminPort?.asked === port ? this.#adminPort.given : port;
    return {
      config: {
        ...config,
        workers: { ...config.workers, count: workerCount(config) },
        admin: { ...config.admin, port: given },
      },
      receiptKey,
      secrets,
      isAdminPortChosen: isAdminPortChosen && given === port,
      embedded,
      folder: this.#folder,
    };
  }

  /** Keeps what the pipeline process tells of the gateway: the next one's listener for operators has the same port. */
  #keepFacts(facts: PipelineFacts): void {
    this.#facts = facts;
    if (facts.admin !== null)
      this.#adminPort = { asked: this.#config.admin.port, given: Number(new URL(facts.admin).port) };
  }

  #addWorker(): Member {
    const id = this.#nextWorker++;
    const start = (): ToMember => ({ kind: 'start', role: 'worker', settings: this.#settings(), id });
    const worker = this.#memberOf(`worker ${id}`, WORKER_SILENCE_MS, start);
    this.#workers.set(id, worker);
    return worker;
  }

  #memberOf(name: string, silenceMs: number, startMessage: () => ToMember): Member {
    return {
      name,
      silenceMs,
      startMessage,
      process: undefined,
      isUp: false,
      heardMs: 0,
      startedMs: 0,
      isLeaving: false,
      shortLives: 0,
      hasEnded: Promise.resolve(),
    };
  }

  /** Starts a process. Resolves when it is up; rejects if it ends before. */
  #start(member: Member): Promise<Extract<FromMember, { kind: 'up' }>> {
    const { clock, log, module } = this.#options;
    const child = fork(module, [], { serialization: 'advanced', stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    member.process = child;
    member.startedMs = clock.monotonic();
    send(child, member.startMessage());
    return new Promise((resolve, reject) => {
      member.hasEnded = new Promise((ended) => {
        let failure: StartError | undefined;
        child.on('message', (message: FromMember) => {
          member.heardMs = clock.monotonic();
          if (message.kind === 'failed') failure = new StartError(message.exitCode, message.message);
          if (message.kind === 'late') for (const id of message.workers) this.#kill(this.#workers.get(id));
          if (message.kind !== 'up') return;
          if (message.facts !== undefined) this.#keepFacts(message.facts);
          member.isUp = true;
          resolve(message);
        });
        child.on('error', () => {}); // exit follows, or the process was gone already
        child.once('exit', (code, signal) => {
          const wasUp = member.isUp;
          member.isUp = false;
          member.process = undefined;
          ended();
          reject(failure ?? new StartError(1, `the process "${member.name}" ended at its start: ${signal ?? code}`));
          if (this.#isClosing || member.isLeaving) return;
          if (wasUp && failure !== undefined) throw failure; // its start was refused late: the next one's would be, too
          if (wasUp) log.warn({ process: member.name, code, signal }, 'a process has ended; it is started again');
          if (wasUp || member.shortLives > 0) this.#restart(member);
        });
      });
    });
  }

  /** Starts a process again: at once, unless the one before has hardly lived. */
  #restart(member: Member): void {
    const { clock, log } = this.#options;
    const isShort = clock.monotonic() - member.startedMs < SHORT_LIFE_MS;
    member.shortLives = isShort ? member.shortLives + 1 : 0;
    const delayMs = member.shortLives < 2 ? 0 : Math.min(MAX_RESTART_MS, 50 * 2 ** member.shortLives);
    clock.after(delayMs, () => {
      if (this.#isClosing) return;
      this.#start(member)
        .then(() => log.info({ process: member.name }, 'the process runs again'))
        .catch((err: unknown) => {
          log.error({ process: member.name, err }, 'a process could not be started again');
          if (!this.#isClosing && member.shortLives === 0) this.#restart(member);
        });
    });
  }

  #killStopped(): void {
    const nowMs = this.#options.clock.monotonic();
    const stoodStillMs = nowMs - this.#lookedMs - LOOK_MS;
    this.#lookedMs = nowMs;
    for (const member of [this.#pipeline, ...this.#workers.values()]) {
      member.heardMs += Math.max(0, stoodStillMs); // while this process stood still it heard nothing
      if (member.isUp && !member.isLeaving && nowMs - member.heardMs > member.silenceMs) this.#kill(member);
    }
  }

  #kill(member: Member | undefined): void {
    if (member?.process === undefined) return;
    this.#options.log.warn({ process: member.name }, 'a process stands still, and is killed');
    member.process.kill('SIGKILL');
  }
}

/** Sends a message, unless the process is gone. */
function send(child: ChildProcess | undefined, message: ToMember): void {
  if (child?.connected === true) child.send(message, () => {}); // who is gone needs no message
}

/** Returns a folder in memory where there is one. */
function memoryFolder(): string {
  try {
    accessSync('/dev/shm', constants.W_OK);
    return '/dev/shm';
  } catch {
    return tmpdir();
  }
}
