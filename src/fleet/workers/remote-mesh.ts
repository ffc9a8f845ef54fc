import type { Commitment } from '../../domain/commitment.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import type { Slot } from '../../domain/slot.ts';
import type { Mesh, NodeFigures, NodeStatus } from '../../upstream/mesh/mesh.ts';
import type { PubsubSession } from '../../upstream/pubsub/pubsub-session.ts';
import type { RpcResponse } from '../../upstream/rpc/rpc-response.ts';
import type { PipelineVitals } from './vitals.ts';

/** The mesh of the pipeline process, as far as its workers see it: they know the tips and the nodes, and call none. */
export class RemoteMesh implements Mesh {
  readonly requestCount = 0;
  readonly #tips = new Map<Commitment, Slot>();
  readonly #listeners = new Map<Commitment, Set<(slot: Slot) => void>>();
  #vitals: PipelineVitals | undefined;

  get genesisHash(): string | undefined {
    return this.#vitals?.genesisHash ?? undefined;
  }

  get apiVersion(): string | undefined {
    return this.#vitals?.apiVersion ?? undefined;
  }

  update(vitals: PipelineVitals): void {
    this.#vitals = vitals;
  }

  advance(commitment: Commitment, slot: Slot): void {
    if (slot <= (this.#tips.get(commitment) ?? 0)) return;
    this.#tips.set(commitment, slot);
    for (const listener of this.#listeners.get(commitment) ?? []) listener(slot);
  }

  connect(): Promise<string> {
    return this.call();
  }

  call<R = RpcResponse>(): Promise<R> {
    return Promise.reject(new GatewayError('upstream_unavailable', 'a worker calls no node'));
  }

  tip(commitment: Commitment): Slot | undefined {
    return this.#tips.get(commitment);
  }

  onTip(commitment: Commitment, listener: (slot: Slot) => void): () => void {
    const listeners = this.#listeners.get(commitment) ?? new Set();
    this.#listeners.set(commitment, listeners.add(listener));
    return () => listeners.delete(listener);
  }

  openSession(): Promise<PubsubSession> {
    return this.call();
  }

  nodes(): readonly NodeStatus[] {
    return this.#vitals?.nodes ?? [];
  }

  figures(): readonly NodeFigures[] {
    return [];
  }

  async close(): Promise<void> {}
}
