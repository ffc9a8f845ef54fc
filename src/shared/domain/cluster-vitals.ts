import type { ClusterConsensus } from './cluster-consensus.ts';

/** The state of the periodic reads of the network. The pipeline updates it; health, routes and prices read it. */
export class ClusterVitals {
  readonly failingParts = new Set<string>();

  readonly failures = new Map<string, number>();

  /** Null while no node has said it. */
  consensus: ClusterConsensus | null = null;

  recordFailure(part: string): boolean {
    this.failures.set(part, (this.failures.get(part) ?? 0) + 1);
    const isFirst = !this.failingParts.has(part);
    this.failingParts.add(part);
    return isFirst;
  }

  get isFailing(): boolean {
    return this.failingParts.size > 0;
  }
}
