import { COMMITMENTS } from '../../../shared/domain/commitment.ts';
import type { NodeSlots } from '../rpc/node-slots.ts';
import type { SlotConsensus } from './slot-consensus.ts';

/** Lag from which on a node is `behind` (I12), and below which it no longer is: two bounds, so that it doesn't flap. */
export const MAX_LAG_SLOTS = 20;
const RECOVERED_LAG_SLOTS = 10;

export class NodeLag {
  readonly #slots: NodeSlots;
  readonly #consensus: SlotConsensus;
  isBehind = false;
  /** Slots behind the tip, at the commitment at which it lags most. */
  lag = 0;

  constructor(slots: NodeSlots, consensus: SlotConsensus) {
    this.#slots = slots;
    this.#consensus = consensus;
  }

  /** Re-evaluates the lag. Called for each new slot of any node, so that the result never depends on its readers. */
  update(): void {
    this.lag = Math.max(
      ...COMMITMENTS.map((commitment) => {
        const latest = this.#slots.latest(commitment);
        return latest === undefined ? 0 : (this.#consensus.tip(commitment) ?? 0) - latest;
      }),
    );
    this.isBehind = this.lag > (this.isBehind ? RECOVERED_LAG_SLOTS - 1 : MAX_LAG_SLOTS);
  }
}
