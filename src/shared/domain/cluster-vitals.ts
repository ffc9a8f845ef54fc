import type { ClusterConsensus } from './cluster-consensus.ts';

/** The state of the periodic reads of the network. The pipeline updates it; health, routes and prices read it. */
export class ClusterVitals {
  /** The parts of the network's state whose last read failed. */
  readonly failingParts = new Set<string>();

  /** The numbers of failed reads, by part. */
  readonly failures = new Map<string, number>();

  /** Null while no node has said it. */
  consensus: ClusterConsensus | null = null;

  /** Records that the read of a part has failed. Returns true unless the one before has, too. */
  recordFailure(part: string): boolean {
    this.failures.set(part, (this.failures.get(part) ?? 0) + 1);
    const isFirst = !this.failingParts.has(part);
    this.failingParts.add(part);
    return isFirst;
  }

  /** Whether the last read of any part failed. */
  get isFailing(): boolean {
    return this.failingParts.size > 0;
  }
}
