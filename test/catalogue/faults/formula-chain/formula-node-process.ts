import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { ChainParameters } from './formula-chain.ts';
import { HEALTHY_BEHAVIOUR, type NodeBehaviour } from './node-behaviour.ts';

/** Commands to the process of a node. Each is answered with the node's counts. */
export type NodeCommand = { readonly name: 'habits'; readonly habits: NodeBehaviour } | { readonly name: 'count' };

/** Messages from the process. */
export type NodeReport =
  | { readonly name: 'listening'; readonly port: number }
  | { readonly name: 'counts'; readonly counts: Readonly<Record<string, number>> };

const PROGRAM = fileURLToPath(new URL('./formula-node-main.js', import.meta.url));

/** A formula node in a child process. */
export class FormulaNodeProcess {
  readonly port: number;
  readonly #process: ChildProcess;
  #behaviour: NodeBehaviour = HEALTHY_BEHAVIOUR;

  /** Starts a node; it can bind the same port again after {@link kill}. */
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

  /** Changes parts of the node's behaviour; resolves when they apply. */
  async configure(behaviour: Partial<NodeBehaviour>): Promise<void> {
    this.#behaviour = { ...this.#behaviour, ...behaviour };
    await this.#send({ name: 'habits', habits: this.#behaviour });
  }

  /** Returns the number of requests by method, and the number of account subscriptions under `subscribed`. */
  async counts(): Promise<Readonly<Record<string, number>>> {
    return this.#send({ name: 'count' });
  }

  /** Sends SIGKILL; resolves when the process is gone. */
  async kill(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const exited = once(this.#process, 'exit');
    this.#process.kill('SIGKILL');
    await exited;
  }

  /** Sends SIGSTOP: the process exists and does nothing. */
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
