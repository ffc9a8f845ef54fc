import type { Clock } from '../../shared/domain/clock.ts';
import { GatewayError } from '../../shared/domain/gateway-error.ts';
import { StartError } from '../../shared/domain/start-error.ts';
import { sleep } from '../../shared/runtime/sleep.ts';
import type { Mesh } from '../upstream/mesh/mesh.ts';
import { describeProblems } from '../upstream/mesh/node-problems.ts';

export interface StartupOptions {
  readonly mesh: Pick<Mesh, 'connect' | 'genesisHash' | 'nodes'>;
  readonly clock: Clock;
  readonly settings: { readonly startTimeoutMs: number; readonly backoffMaxMs: number };
  onUnreached(problem: string): void;
  onConnected(): void;
  isClosing(): boolean;
}

/** The way from a process without a cluster to the first answers, which may take longer than callers are kept waiting. */
export class Startup {
  readonly #options: StartupOptions;
  #isReady = false;
  #isLate = false;

  constructor(options: StartupOptions) {
    this.#options = options;
  }

  /**
   * Connects to the cluster and follows it: `follow` resolves when its first answers are there. Resolves then, or after
   * `startTimeoutMs` without a node, and goes on trying. Rejects with a StartError if every node is of another cluster by then.
   */
  async run(follow: () => Promise<void>): Promise<void> {
    const { mesh, clock, settings, onUnreached, onConnected, isClosing } = this.#options;
    const firstAnswers = this.#connect()
      .then(follow)
      .then(() => {
        this.#isReady = true;
        if (this.#isLate) onConnected();
      });
    const inTime = new AbortController();
    const limit = sleep(clock, settings.startTimeoutMs, inTime.signal).then(
      () => (mesh.genesisHash === undefined ? undefined : firstAnswers),
      () => {},
    );
    await Promise.race([firstAnswers, limit]).finally(() => inTime.abort());
    const { problem } = this;
    if (problem === undefined) return;
    this.#isLate = true;
    onUnreached(problem);
    firstAnswers.catch((thrown: unknown) => {
      if (!isClosing()) throw thrown; // a StartError or a defect, which ends the process
    });
  }

  /** Reason why the first answers are not there yet; undefined once they are. */
  get problem(): string | undefined {
    if (this.#isReady) return undefined;
    const { mesh } = this.#options;
    if (mesh.genesisHash !== undefined) return 'the first answers are being read from the cluster';
    return ['no node of the cluster was reached yet', ...describeProblems(mesh.nodes())].join('; ');
  }

  async #connect(): Promise<void> {
    const { mesh, clock, settings, isClosing } = this.#options;
    for (;;) {
      try {
        await mesh.connect();
        return;
      } catch (thrown) {
        if (!this.#isLate || isClosing()) throw new StartError(1, GatewayError.from(thrown).message, thrown);
      }
      await sleep(clock, settings.backoffMaxMs); // all are of another cluster: one may come back as the right one
    }
  }
}
