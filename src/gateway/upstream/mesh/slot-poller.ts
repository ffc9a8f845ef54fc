import type { Clock } from '../../../shared/domain/clock.ts';
import { COMMITMENTS, type Commitment } from '../../../shared/domain/commitment.ts';
import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import { repeat } from '../../../shared/runtime/repeat.ts';
import type { MethodSupport } from '../rpc/method-support.ts';
import type { RpcClient } from '../rpc/rpc-client.ts';

/** Time between two polls, and without a notification after which a slot is polled. */
const POLL_MS = 1000;

export interface SlotPollerOptions {
  readonly client: RpcClient;
  readonly clock: Clock;
  readonly support: MethodSupport;
  verifyGenesis(): Promise<unknown>;
  onPolled(): void;
}

/** Calls getSlot for each commitment that the WebSocket doesn't notify of, and for all of a failing node. */
export class SlotPoller {
  readonly #options: SlotPollerOptions;
  readonly #lastNotificationMs = new Map<Commitment, number>();
  #stop = (): void => {};

  constructor(options: SlotPollerOptions) {
    this.#options = options;
  }

  start(): void {
    const { clock, onPolled } = this.#options;
    // A failure shows in the node's status.
    this.#stop = repeat(clock, POLL_MS, () => this.#poll().finally(onPolled));
  }

  stop(): void {
    this.#stop();
  }

  onNotification(commitment: Commitment): void {
    this.#lastNotificationMs.set(commitment, this.#options.clock.monotonic());
  }

  pollMissing(): Promise<void> {
    return this.#getSlots(COMMITMENTS.filter((it) => this.#options.client.slots.latest(it) === undefined));
  }

  async #poll(): Promise<void> {
    const { client, clock, verifyGenesis } = this.#options;
    const now = clock.monotonic();
    const isQuiet = (commitment: Commitment): boolean =>
      now - (this.#lastNotificationMs.get(commitment) ?? Number.NEGATIVE_INFINITY) >= POLL_MS;
    await verifyGenesis();
    await this.#getSlots(COMMITMENTS.filter((it) => client.isFailing || client.breaker.isOpen || isQuiet(it)));
  }

  /** Calls getSlot, but not at processed where the node refuses that: a confirmed slot is a processed one, too. */
  async #getSlots(commitments: readonly Commitment[]): Promise<void> {
    const { client, support } = this.#options;
    const getSlot = async (commitment: Commitment): Promise<void> => {
      if (commitment === 'processed' && support.refusesProcessed) return;
      try {
        await client.call('getSlot', [{ commitment }], commitment);
      } catch (thrown) {
        if (thrown instanceof GatewayError) support.record('getSlot', thrown);
        if (commitment !== 'processed' || !support.refusesProcessed) throw thrown;
      }
    };
    await Promise.all(commitments.map(getSlot));
  }
}
