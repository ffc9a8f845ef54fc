import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { ChainParameters } from './formula-chain.ts';
import { HEALTHY_BEHAVIOUR, type NodeBehaviour } from './node-behaviour.ts';

/** What the process of a node is told. Each order is answered by the node's counts. */
export type NodeCommand = { readonly name: 'habits'; readonly habits: NodeBehaviour } | { readonly name: 'count' };

/** What it tells. */
export type NodeReport =
  | { readonly name: 'listening'; readonly port: number }
  | { readonly name: 'counts'; readonly counts: Readonly<Record<string, number>> };

const PROGRAM = fileURLToPath(new URL('./formula-node-main.js', import.meta.url));

/** A node of a formula chain that lives in another process. */
export class FormulaNodeProcess {
  readonly port: number;
  readonly #process: ChildProcess;
  #behaviour: NodeBehaviour = HEALTHY_BEHAVIOUR;

  /** Binds the same port again after a {@link kill}. */
  static async start(plan: ChainParameters, port = 0): Promise<FormulaNodeProcess> {
    const process = fork(PROGRAM, [JSON.stringify(plan), `${port}`]);
    const [report]: NodeReport[] = await Promise.race([
      once(process, 'message'),
      once(process, 'exit').then(() => Promise.reject(new Error('a node ended before it listened'))),
    ]);
    if (report?.name !== 'listening') throw new Error('a node said something else first');
    return new FormulaNodeProcess(process, report.port);
  }

  private constructor(process: ChildProcess, port: number) {
    this.#process = process;
    this.port = port;
  }

  /** Changes some of its habits. Resolves when it has. */
  async configure(behaviour: Partial<NodeBehaviour>): Promise<void> {
    this.#behaviour = { ...this.#behaviour, ...behaviour };
    await this.#send({ name: 'habits', habits: this.#behaviour });
  }

  /** How often each method was asked for, and under `subscribed` how many accounts it is to tell of. */
  async counts(): Promise<Readonly<Record<string, number>>> {
    return this.#send({ name: 'count' });
  }

  /** As `kill -9` does. Resolves when the process is gone. */
  async kill(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const exited = once(this.#process, 'exit');
    this.#process.kill('SIGKILL');
    await exited;
  }

  /** It goes on existing, and does nothing. */
  suspend(): void {
    this.#process.kill('SIGSTOP');
  }

  resume(): void {
    this.#process.kill('SIGCONT');
  }

  async #send(command: NodeCommand): Promise<Readonly<Record<string, number>>> {
    const reply = once(this.#process, 'message');
    this.#process.send(command);
    const [report]: NodeReport[] = await reply;
    return report?.name === 'counts' ? report.counts : {};
  }
}
