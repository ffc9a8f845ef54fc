import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { ChainPlan } from './formula-chain.ts';
import { GOOD_HABITS, type Habits } from './habits.ts';

/** What the process of a node is told. Each order is answered by the node's counts. */
export type Order = { readonly name: 'habits'; readonly habits: Habits } | { readonly name: 'count' };

/** What it tells. */
export type Report =
  | { readonly name: 'listening'; readonly port: number }
  | { readonly name: 'counts'; readonly counts: Readonly<Record<string, number>> };

const PROGRAM = fileURLToPath(new URL('./node-process.js', import.meta.url));

/** A node of a formula chain that lives in another process. */
export class PlayedNode {
  readonly port: number;
  readonly #process: ChildProcess;
  #habits: Habits = GOOD_HABITS;

  /** Binds the same port again after a {@link kill}. */
  static async start(plan: ChainPlan, port = 0): Promise<PlayedNode> {
    const process = fork(PROGRAM, [JSON.stringify(plan), `${port}`]);
    const [report]: Report[] = await Promise.race([
      once(process, 'message'),
      once(process, 'exit').then(() => Promise.reject(new Error('a node ended before it listened'))),
    ]);
    if (report?.name !== 'listening') throw new Error('a node said something else first');
    return new PlayedNode(process, report.port);
  }

  private constructor(process: ChildProcess, port: number) {
    this.#process = process;
    this.port = port;
  }

  /** Changes some of its habits. Resolves when it has. */
  async take(habits: Partial<Habits>): Promise<void> {
    this.#habits = { ...this.#habits, ...habits };
    await this.#order({ name: 'habits', habits: this.#habits });
  }

  /** How often each method was asked for, and under `subscribed` how many accounts it is to tell of. */
  async counts(): Promise<Readonly<Record<string, number>>> {
    return this.#order({ name: 'count' });
  }

  /** As `kill -9` does. Resolves when the process is gone. */
  async kill(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const gone = once(this.#process, 'exit');
    this.#process.kill('SIGKILL');
    await gone;
  }

  /** It goes on existing, and does nothing. */
  freeze(): void {
    this.#process.kill('SIGSTOP');
  }

  thaw(): void {
    this.#process.kill('SIGCONT');
  }

  async #order(order: Order): Promise<Readonly<Record<string, number>>> {
    const answered = once(this.#process, 'message');
    this.#process.send(order);
    const [report]: Report[] = await answered;
    return report?.name === 'counts' ? report.counts : {};
  }
}
