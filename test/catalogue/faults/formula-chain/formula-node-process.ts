import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { ChainParameters } from './formula-chain.ts';
import type { FormulaNode } from './formula-node.ts';

/** A command to the process of a node, which answers with its counts. */
export type NodeCommand = Partial<Pick<FormulaNode, 'rootAheadEvery' | 'lies' | 'latencyMs'>>;

/** Messages from the process. */
export type NodeReport =
  | { readonly name: 'listening'; readonly port: number }
  | { readonly name: 'counts'; readonly counts: Readonly<Record<string, number>> };

const PROGRAM = fileURLToPath(new URL('./formula-node-main.js', import.meta.url));

/** A formula node in a child process. */
export class FormulaNodeProcess {
  readonly port: number;
  readonly #process: ChildProcess;

  static async start(plan: ChainParameters): Promise<FormulaNodeProcess> {
    const process = fork(PROGRAM, [JSON.stringify(plan)]);
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

  /** Sends a command; resolves when it applies, with the number of requests by method. */
  async send(command: NodeCommand): Promise<Readonly<Record<string, number>>> {
    const reply = once(this.#process, 'message');
    this.#process.send(command);
    const [report]: NodeReport[] = await reply;
    return report?.name === 'counts' ? report.counts : {};
  }

  /** Sends SIGKILL; resolves when the process is gone. */
  async kill(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const exited = once(this.#process, 'exit');
    this.#process.kill('SIGKILL');
    await exited;
  }
}
