import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { NodeScript } from './node-answers.ts';

/** Calls and bytes at the node since the last count. */
export interface NodeCounts {
  readonly calls: Readonly<Record<string, number>>;
  /** Bytes of the answers by method. */
  readonly bytes: Readonly<Record<string, number>>;
}

/** A node in a thread of its own: chosen methods are answered by a script, all others by a cluster. */
export class CountingNode {
  readonly url: string;
  readonly #thread: Worker;

  static async start(clusterUrl: string): Promise<CountingNode> {
    const thread = new Worker(new URL('./scripted-node-thread.js', import.meta.url), { workerData: clusterUrl });
    const [{ port }] = (await once(thread, 'message')) as [{ readonly port: number }]; // as the thread posts it
    return new CountingNode(thread, port);
  }

  private constructor(thread: Worker, port: number) {
    this.#thread = thread;
    this.url = `http://127.0.0.1:${port}`;
  }

  async setScript(script: NodeScript): Promise<void> {
    this.#thread.postMessage({ script });
    await once(this.#thread, 'message');
  }

  async nextCounts(): Promise<NodeCounts> {
    this.#thread.postMessage({ count: true });
    const [counts] = (await once(this.#thread, 'message')) as [NodeCounts]; // as the thread posts it
    return counts;
  }

  async close(): Promise<void> {
    await this.#thread.terminate();
  }
}
