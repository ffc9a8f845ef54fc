import { type ChildProcess, fork } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { type Config, closeMsOf } from '../../../config/config-schema.ts';
import type { Clock } from '../../../shared/domain/clock.ts';
import { StartError } from '../../../shared/domain/start-error.ts';
import { exponentialDelayMs } from '../../../shared/runtime/exponential-backoff.ts';
import type { Log } from '../../../shared/runtime/log.ts';
import { repeat } from '../../../shared/runtime/repeat.ts';
import { sleep } from '../../../shared/runtime/sleep.ts';
import type { FromMember, MemberSettings, PipelineFacts, ToMember } from './member-messages.ts';
import { createMemoryFolder } from './memory-folder.ts';

export interface SupervisorOptions extends Omit<MemberSettings, 'folder'> {
  readonly module: URL;
  readonly clock: Clock;
  readonly log: Log;
  /** Called when the start of a process that was up already is refused: the next one's would be, too. */
  readonly onFatal: (failure: StartError) => void;
}

/** The times without a sign of life after which a process is killed: it stands still, and another one can serve. */
const WORKER_SILENCE_MS = 3000;
const PIPELINE_SILENCE_MS = 5000;

/** Time between two checks of that. */
const CHECK_MS = 250;

/** A process that ends sooner than this was not worth starting: the next one waits, longer each time. */
const SHORT_LIFE_MS = 5000;
const [RESTART_MS, MAX_RESTART_MS] = [50, 5000];

interface Member {
  readonly id: number;
  readonly name: string;
  readonly silenceMs: number;
  readonly startMessage: () => ToMember;
  process: ChildProcess | undefined;
  isUp: boolean;
  lastMessageMs: number;
  startedMs: number;
  /** The settings with which it was started. */
  config: Config;
  isLeaving: boolean;
  shortLives: number;
  hasEnded: Promise<void>;
}

export const workerCount = ({ workers }: Config): number =>
  workers.count === 'auto' ? Math.max(1, availableParallelism() - 1) : workers.count;

/** The processes of a gateway: starts them, starts those again that end, and kills those that stand still. */
export class Supervisor {
  readonly #options: SupervisorOptions;
  readonly #folder = createMemoryFolder();
  readonly #pipeline: Member;
  readonly #workers = new Set<Member>();
  readonly #stopChecking: () => void;
  #config: Config;
  #epoch = 0;
  #nextWorker = 0;
  #checkedMs: number;
  #isClosing = false;
  #isRenewing = false;
  #facts: PipelineFacts | undefined;
  /** The port of the listener for operators by the settings, and the one that it got. */
  #adminPort: { readonly wanted: number | null; readonly given: number } | undefined;

  constructor(options: SupervisorOptions) {
    const { clock, config } = options;
    this.#options = options;
    this.#config = config;
    this.#checkedMs = clock.monotonic();
    this.#pipeline = newMember(-1, 'pipeline', config, PIPELINE_SILENCE_MS, () => ({
      kind: 'start',
      role: 'pipeline',
      settings: this.#settings(),
      epoch: ++this.#epoch,
      workers: [...this.#workers].flatMap(({ id, isUp }) => (isUp ? [id] : [])),
    }));
    while (this.#workers.size < workerCount(config)) this.#addWorker();
    this.#stopChecking = repeat(clock, CHECK_MS, () => this.#killStopped());
  }

  /** Starts all. Resolves to the URL when every worker listens; rejects with the StartError of the first that can't. */
  async open(): Promise<{ readonly url: string; readonly facts: PipelineFacts }> {
    try {
      const { facts } = await this.#start(this.#pipeline);
      const [first] = await Promise.all([...this.#workers].map((worker) => this.#start(worker)));
      if (first?.url === undefined || facts === undefined) throw new Error('there is no worker to start');
      return { url: first.url, facts };
    } catch (thrown) {
      await this.close(0);
      throw thrown;
    }
  }

  get nodes(): PipelineFacts['nodes'] {
    return this.#facts?.nodes ?? [];
  }

  reload(): void {
    send(this.#pipeline.process, { kind: 'reload' }); // which makes workers reload, through the log
  }

  countFailedReload(): void {
    send(this.#pipeline.process, { kind: 'reloadFailed' });
  }

  /**
   * Replaces all processes by others that run what is on disk now, with these settings: worker by worker, each once its
   * successor listens, then the pipeline process. Requests are served all the time, and no slot goes back: each
   * successor learns what was served. Returns whether all were replaced; else the settings stay as they were.
   */
  async renew(config: Config): Promise<boolean> {
    const { log } = this.#options;
    if (this.#isRenewing || this.#isClosing) return false;
    this.#isRenewing = true;
    const before = this.#config;
    this.#config = { ...config }; // other settings than those of the workers that are up
    try {
      await this.#replaceWorkers();
      await this.#end(this.#pipeline);
      this.#pipeline.isLeaving = false;
      await this.#start(this.#pipeline);
      log.info({}, 'all processes were replaced');
      return true;
    } catch (err) {
      this.#config = before;
      this.countFailedReload();
      if (this.#isClosing) return false;
      log.error({ err }, 'not all processes could be replaced: the others serve on');
      if (this.#pipeline.process === undefined) this.#restart(this.#pipeline);
      await this.#replaceWorkers().catch((thrown: unknown) =>
        log.error({ err: thrown }, 'workers could not be started with the settings before'),
      );
      return false;
    } finally {
      this.#isRenewing = false;
    }
  }

  /** Starts workers with the settings in use, and lets one with others go with each; at last those that are left. */
  async #replaceWorkers(): Promise<void> {
    const staying = [...this.#workers].filter(({ isLeaving }) => !isLeaving);
    const old = staying.filter((worker) => worker.config !== this.#config);
    const count = workerCount(this.#config) - (staying.length - old.length);
    for (let i = 0; i < Math.max(count, old.length); i++) {
      if (i < count) await this.#startNewWorker();
      const worker = old[i];
      if (worker !== undefined) void this.#end(worker).then(() => this.#workers.delete(worker));
    }
  }

  async #startNewWorker(): Promise<void> {
    const worker = this.#addWorker();
    await this.#start(worker).catch((thrown: unknown) => {
      this.#workers.delete(worker);
      throw thrown;
    });
  }

  /** Closes all, after a time in which the gateway is not ready any more. */
  async close(delayMs = this.#config.drainDelayMs): Promise<void> {
    this.#isClosing = true;
    this.#stopChecking();
    for (const { process } of [this.#pipeline, ...this.#workers]) send(process, { kind: 'leave' });
    if (delayMs > 0) await sleep(this.#options.clock, delayMs);
    await Promise.all([...this.#workers].map((worker) => this.#end(worker)));
    await this.#end(this.#pipeline);
    this.#folder.remove();
  }

  /** Lets a process end. One that stands still at that would end itself in time otherwise, and is killed. */
  async #end(member: Member): Promise<void> {
    member.isLeaving = true;
    send(member.process, { kind: 'close' });
    const cancelKill = this.#options.clock.after(closeMsOf(member.config) + member.silenceMs, () => this.#kill(member));
    await member.hasEnded;
    cancelKill();
  }

  #settings(): MemberSettings {
    const { receiptKey, secrets, isAdminPortChosen, embedded } = this.#options;
    const config = this.#config;
    const { port } = config.admin;
    const given = this.#adminPort?.wanted === port ? this.#adminPort.given : port;
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
      folder: this.#folder.path,
    };
  }

  /** Keeps what the pipeline process reports of the gateway: the next one's listener for operators has the same port. */
  #keepFacts(facts: PipelineFacts): void {
    this.#facts = facts;
    if (facts.admin !== null)
      this.#adminPort = { wanted: this.#config.admin.port, given: Number(/\d+$/.exec(facts.admin)?.[0]) };
  }

  #addWorker(): Member {
    const id = this.#nextWorker++;
    const start = (): ToMember => ({ kind: 'start', role: 'worker', settings: this.#settings(), id });
    const worker = newMember(id, `worker ${id}`, this.#config, WORKER_SILENCE_MS, start);
    this.#workers.add(worker);
    return worker;
  }

  /** Starts a process. Resolves when it is up; rejects if it ends before. */
  #start(member: Member): Promise<Extract<FromMember, { kind: 'up' }>> {
    const { clock, log, module, onFatal } = this.#options;
    if (this.#isClosing) return Promise.reject(new StartError(1, 'the gateway closes'));
    member.startedMs = clock.monotonic();
    member.config = this.#config;
    return new Promise((resolve, reject) => {
      const child = fork(module, [], { serialization: 'advanced', stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
      member.process = child;
      send(child, member.startMessage());
      member.hasEnded = new Promise((ended) => {
        let failure: StartError | undefined;
        child.on('message', (message: FromMember) => {
          member.lastMessageMs = clock.monotonic();
          if (message.kind === 'failed') failure = new StartError(message.exitCode, message.message);
          if (message.kind === 'late') void this.#endLate(message.workers, child);
          if (message.kind !== 'up') return;
          if (message.facts !== undefined) this.#keepFacts(message.facts);
          member.isUp = true;
          resolve(message);
        });
        const onEnd = (code: number | string | null, signal: NodeJS.Signals | null): void => {
          const wasUp = member.isUp;
          member.isUp = false;
          member.process = undefined;
          ended();
          reject(failure ?? new StartError(1, `the process "${member.name}" ended at its start: ${signal ?? code}`));
          if (this.#isClosing || member.isLeaving || !wasUp) return;
          if (failure !== undefined) onFatal(failure);
          else {
            log.warn({ process: member.name, code, signal }, 'a process has ended; it is started again');
            this.#restart(member);
          }
        };
        child.once('exit', onEnd);
        // No exit follows where there was no process, as where the system has no place for one. Else it does.
        child.on('error', ({ message }) => child.pid === undefined && onEnd(message, null));
      });
    });
  }

  #restart(member: Member): void {
    const { clock, log } = this.#options;
    const isShort = clock.monotonic() - member.startedMs < SHORT_LIFE_MS;
    member.shortLives = isShort ? member.shortLives + 1 : 0;
    const delayMs = member.shortLives < 2 ? 0 : exponentialDelayMs(member.shortLives, RESTART_MS, MAX_RESTART_MS);
    clock.after(delayMs, () => {
      if (this.#isClosing || member.isLeaving || member.process !== undefined) return; // a renewal has replaced it
      this.#start(member)
        .then(() => log.info({ process: member.name }, 'the process runs again'))
        .catch((err: unknown) => {
          log.error({ process: member.name, err }, 'a process could not be started again');
          this.#restart(member);
        });
    });
  }

  #killStopped(): void {
    const nowMs = this.#options.clock.monotonic();
    const stoodStillMs = nowMs - this.#checkedMs - CHECK_MS;
    this.#checkedMs = nowMs;
    for (const member of [this.#pipeline, ...this.#workers]) {
      member.lastMessageMs += Math.max(0, stoodStillMs); // while this process stood still it received nothing
      if (member.isUp && !member.isLeaving && nowMs - member.lastMessageMs > member.silenceMs) this.#kill(member);
    }
  }

  /** Ends workers that don't know what others show, and says so to the pipeline process, which waits for that. */
  async #endLate(ids: readonly number[], pipeline: ChildProcess): Promise<void> {
    const late = [...this.#workers].filter(({ id }) => ids.includes(id));
    const ended = late.map(({ hasEnded }) => hasEnded);
    for (const worker of late) this.#kill(worker);
    await Promise.all(ended);
    send(pipeline, { kind: 'lateEnded' });
  }

  #kill({ process, name }: Member): void {
    if (process === undefined) return;
    this.#options.log.warn({ process: name }, 'a process stands still, and is killed');
    process.kill('SIGKILL');
  }
}

function newMember(id: number, name: string, config: Config, silenceMs: number, startMessage: () => ToMember): Member {
  const state = { process: undefined, isUp: false, isLeaving: false, hasEnded: Promise.resolve() };
  return { id, name, config, silenceMs, startMessage, lastMessageMs: 0, startedMs: 0, shortLives: 0, ...state };
}

function send(child: ChildProcess | undefined, message: ToMember): void {
  if (child?.connected === true) child.send(message, () => {}); // one that is gone needs no message
}
