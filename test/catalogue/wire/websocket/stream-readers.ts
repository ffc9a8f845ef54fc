import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

/** Options of a thread of readers. */
export interface StreamReadersOptions {
  /** URL of the stream. */
  readonly url: string;
  /** WebSocket URL of the gateway's node. */
  readonly nodeUrl: string;
  readonly count: number;
}

/** Report of the readers since the last one. */
export interface StreamReadersReport {
  /** Number of readers still connected. */
  readonly open: number;
  /** Delay of each slot at each reader, relative to the node. */
  readonly latenessMs: readonly number[];
}

/** Honest stream readers, in a thread, so that other work does not delay their measurements. */
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
