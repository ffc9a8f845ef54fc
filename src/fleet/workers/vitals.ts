import type { NodeStatus } from '../../upstream/mesh/mesh.ts';

/** What workers show of the pipeline process. */
export interface PipelineVitals {
  readonly nodes: readonly NodeStatus[];
  readonly isFailing: boolean;
  readonly slotTimeMs: number;
  readonly startupProblem: string | null;
  readonly problems: readonly string[];
  readonly genesisHash: string | null;
  readonly apiVersion: string | null;
  readonly embedded: { readonly rpc: string } | null;
}
