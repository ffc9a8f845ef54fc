import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

/** What a thread of readers is told. */
export interface StreamReadersOptions {
  /** Of the stream. */
  readonly url: string;
  /** Of the node that the gateway hears of slots from. */
  readonly nodeUrl: string;
  readonly count: number;
}

/** What readers have got since they were last asked. */
export interface StreamReadersReport {
  /** How many still listen. */
  readonly open: number;
  /** For each frame and each of them, how much later than from the node it told of its slot. */
  readonly latenessMs: readonly number[];
}

/** Honest readers of the stream, in a thread of their own, so that others' work does not hold up their clock. */
export class StreamReaders {
  readonly #thread: Worker;

  static async open(reading: StreamReadersOptions): Promise<StreamReaders> {
    const thread = new Worker(new URL('./stream-readers-thread.js', import.meta.url), { workerData: reading });
    await once(thread, 'message');
    return new StreamReaders(thread);
  }

  private constructor(thread: Worker) {
    this.#thread = thread;
  }

  async takeReport(): Promise<StreamReadersReport> {
    this.#thread.postMessage('tell');
    const [read]: [StreamReadersReport] = (await once(this.#thread, 'message')) as [StreamReadersReport]; // as the thread posts it
    return read;
  }

  async stop(): Promise<void> {
    await this.#thread.terminate();
  }
}
