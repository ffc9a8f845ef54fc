import type { Commitment } from '../../../shared/domain/commitment.ts';
import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import { TARGET_SLOT_MS } from '../../../shared/domain/slot-time.ts';
import type { Mesh, NodeFigures, NodeStatus } from '../../upstream/mesh/mesh.ts';
import { MeshTips, type TipListener } from '../../upstream/mesh/mesh-tips.ts';
import type { PubsubSession } from '../../upstream/pubsub/pubsub-session.ts';
import type { RpcResponse } from '../../upstream/rpc/rpc-response.ts';
import type { PipelineVitals } from '../events.ts';

/** The mesh of the pipeline process, as far as its workers see it: they know the tips and the nodes, and call none. */
export class RemoteMesh implements Mesh {
  readonly connect = (): Promise<string> => this.call();
  readonly nodes = (): readonly NodeStatus[] => this.vitals?.nodes ?? [];
  readonly figures = (): readonly NodeFigures[] => [];
  readonly openSession = (): Promise<PubsubSession> => this.call();
  readonly acceptsSlot = (): boolean => false; // no feed is used
  readonly #tips = new MeshTips();
  /** What the pipeline process has published of itself; undefined before. */
  vitals: PipelineVitals | undefined;

  get genesisHash(): string | undefined {
    return this.vitals?.genesisHash ?? undefined;
  }

  get apiVersion(): string | undefined {
    return this.vitals?.apiVersion ?? undefined;
  }

  get slotTimeMs(): number {
    return this.vitals?.slotTimeMs ?? TARGET_SLOT_MS;
  }

  /** Keeps that the start is over: while another pipeline process starts, a worker serves on. */
  update(newer: PipelineVitals): void {
    const known = this.vitals;
    const isOver = newer.startupProblem !== null && known?.startupProblem === null;
    this.vitals = isOver
      ? { ...newer, startupProblem: null, genesisHash: newer.genesisHash ?? known.genesisHash }
      : newer;
  }

  advance(commitment: Commitment, slot: Slot, parent: Slot | undefined): void {
    if (parent !== undefined) this.#tips.observeParent(slot, parent);
    this.#tips.observe(commitment, slot);
  }

  call<R = RpcResponse>(): Promise<R> {
    return Promise.reject(new GatewayError('upstream_unavailable', 'a worker calls no node'));
  }

  tip(commitment: Commitment): Slot | undefined {
    return this.#tips.newest(commitment);
  }

  onTip(commitment: Commitment, listener: TipListener): () => void {
    return this.#tips.onTip(commitment, listener);
  }

  async close(): Promise<void> {}
}
