import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

/** What a thread of readers is told. */
export interface Reading {
  /** Of the stream. */
  readonly url: string;
  /** Of the node that the gateway hears of slots from. */
  readonly nodeUrl: string;
  readonly count: number;
}

/** What readers have got since they were last asked. */
export interface Read {
  /** How many still listen. */
  readonly open: number;
  /** For each frame and each of them, how much later than from the node it told of its slot. */
  readonly latenessMs: readonly number[];
}

/** Honest readers of the stream, in a thread of their own, so that others' work does not hold up their clock. */
export class Readers {
  readonly #thread: Worker;

  static async open(reading: Reading): Promise<Readers> {
    const thread = new Worker(new URL('./readers-thread.js', import.meta.url), { workerData: reading });
    await once(thread, 'message');
    return new Readers(thread);
  }

  private constructor(thread: Worker) {
    this.#thread = thread;
  }

  async take(): Promise<Read> {
    this.#thread.postMessage('tell');
    const [read]: [Read] = (await once(this.#thread, 'message')) as [Read]; // as the thread posts it
    return read;
  }

  async stop(): Promise<void> {
    await this.#thread.terminate();
  }
}
