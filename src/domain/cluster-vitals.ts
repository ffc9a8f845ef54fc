import { SLOT_MS } from './slot.ts';

/** The state of the periodic reads of the network. The pipeline updates it; health, routes and prices read it. */
export class ClusterVitals {
  /** The parts of the network's state whose last read failed. */
  readonly failingParts = new Set<string>();

  /** The recent average slot time, in milliseconds. */
  slotTimeMs: number = SLOT_MS;

  /** Whether the last read of any part failed. */
  get isFailing(): boolean {
    return this.failingParts.size > 0;
  }
}
