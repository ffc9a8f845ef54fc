import { Worker } from 'node:worker_threads';
import type { Clock } from '../domain/clock.ts';
import { GatewayError } from '../domain/gateway-error.ts';
import { FairQueue } from './fair-queue.ts';
import { READY, type TaskMessage, type TaskReply, type ThreadTasks } from './thread-tasks.ts';

export interface ThreadPoolOptions {
  readonly module: URL;
  readonly maxThreads: number;
  readonly maxHeapMb: number;
  /** The most tasks that may wait for a thread. One caller may have a quarter of them. */
  readonly maxWaiting: number;
  readonly maxTaskMs: number;
  readonly idleMs: number;
  readonly clock: Clock;
}

export interface TaskOwner {
  readonly caller: string;
  /** Aborted when nobody waits for the result any more. */
  readonly signal?: AbortSignal | undefined;
}

interface Task {
  readonly message: TaskMessage;
  readonly owner: TaskOwner;
  readonly resolve: (result: never) => void;
  readonly reject: (reason: unknown) => void;
}

interface PoolThread {
  readonly worker: Worker;
  isReady: boolean;
  task: Task | undefined;
  /** Cancels the end of the thread that is due: for being idle, or for taking too long. */
  cancelEnd: () => void;
}

const MAX_START_MS = 30_000;

/** The time that an abandoned task still has: about what a new thread costs. */
const MAX_ABANDONED_MS = 100;

/**
 * A pool of threads for work that would hold the event loop. Threads start when they are needed and end when they are
 * idle. Tasks wait in bounded number, their callers take turns, and one that takes too long ends with its thread.
 */
export class ThreadPool<T extends ThreadTasks> {
  readonly #options: ThreadPoolOptions;
  readonly #threads = new Set<PoolThread>();
  readonly #queue: FairQueue<Task>;
  #isClosed = false;

  constructor(options: ThreadPoolOptions) {
    this.#options = options;
    this.#queue = new FairQueue({ items: options.maxWaiting, waiting: 'wait for a thread' });
  }

  get threadCount(): number {
    return this.#threads.size;
  }

  run<K extends keyof T & string>(name: K, args: Parameters<T[K]>, owner: TaskOwner): Promise<ReturnType<T[K]>> {
    return new Promise((resolve, reject) => {
      this.#enqueue({ message: { name, args }, owner, resolve, reject });
      this.#startTasks();
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (let task = this.#queue.dequeue(); task !== undefined; task = this.#queue.dequeue())
      task.reject(shuttingDown());
    await Promise.all([...this.#threads].map((thread) => this.#end(thread, shuttingDown())));
  }

  #enqueue(task: Task): void {
    const { caller, signal } = task.owner;
    if (this.#isClosed) throw shuttingDown();
    if (signal?.aborted === true) throw overloaded('the caller has gone');
    this.#queue.add(caller, task);
    signal?.addEventListener('abort', () => this.#abandon(task), { once: true });
  }

  #startTasks(): void {
    while (this.#queue.length > 0) {
      const thread = [...this.#threads].find(({ task }) => task === undefined) ?? this.#startThread();
      if (thread === undefined) return;
      thread.task = this.#queue.dequeue();
      if (thread.task === undefined) return;
      const { message } = thread.task;
      thread.worker.postMessage(message, message.args.flatMap(bytesOf));
      if (thread.isReady) this.#endAfter(thread, this.#options.maxTaskMs);
    }
  }

  #startThread(): PoolThread | undefined {
    const { module, maxThreads, maxHeapMb } = this.#options;
    if (this.#threads.size >= maxThreads) return undefined;
    const resourceLimits = { maxOldGenerationSizeMb: maxHeapMb, maxYoungGenerationSizeMb: 8 };
    const worker = new Worker(module, { resourceLimits });
    const thread: PoolThread = { worker, isReady: false, task: undefined, cancelEnd: () => {} };
    this.#threads.add(thread);
    worker.unref(); // a thread keeps no process alive
    worker.on('message', (message: typeof READY | TaskReply) => this.#receive(thread, message));
    worker.on('error', (defect) => void this.#end(thread, defect));
    worker.on('exit', (code) => void this.#end(thread, new Error(`a thread ended with code ${code}`)));
    this.#endAfter(thread, MAX_START_MS);
    return thread;
  }

  #receive(thread: PoolThread, message: typeof READY | TaskReply): void {
    if (message === READY) thread.isReady = true;
    else {
      if (thread.task !== undefined) settle(thread.task, message);
      thread.task = undefined;
    }
    const { maxTaskMs, idleMs } = this.#options;
    this.#endAfter(thread, thread.task === undefined ? idleMs : maxTaskMs);
    this.#startTasks();
  }

  #endAfter(thread: PoolThread, ms: number): void {
    thread.cancelEnd();
    const reason = overloaded(`the work took longer than ${ms} ms`);
    thread.cancelEnd = this.#options.clock.after(ms, () => void this.#end(thread, reason));
  }

  #abandon(task: Task): void {
    if (this.#queue.delete(task.owner.caller, task)) task.reject(overloaded('the caller has gone'));
    const thread = [...this.#threads].find((thread) => thread.task === task);
    if (thread?.isReady === true) this.#endAfter(thread, MAX_ABANDONED_MS);
  }

  async #end(thread: PoolThread, reason: unknown): Promise<void> {
    if (!this.#threads.delete(thread)) return;
    thread.cancelEnd();
    thread.task?.reject(reason);
    if (!this.#isClosed) this.#startTasks();
    await thread.worker.terminate();
  }
}

/** Returns the memory of an argument that is transferred to the thread instead of copied: others may use the rest of a part. */
const bytesOf = (arg: unknown): ArrayBuffer[] =>
  arg instanceof Uint8Array && arg.buffer instanceof ArrayBuffer && arg.length === arg.buffer.byteLength
    ? [arg.buffer]
    : [];

function settle({ resolve, reject }: Task, reply: TaskReply): void {
  if ('result' in reply)
    resolve(reply.result as never); // the thread performs the same tasks
  else if ('refusal' in reply) reject(new GatewayError(reply.refusal.code, reply.refusal.message));
  else reject(reply.defect);
}

const overloaded = (why: string): GatewayError => new GatewayError('overloaded', `${why}; retry in a moment`);

const shuttingDown = (): GatewayError => new GatewayError('shutting_down', 'the gateway is shutting down');
