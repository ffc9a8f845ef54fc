import { COMMITMENTS } from '../../domain/commitment.ts';
import { ByteBudget } from '../failsafe/byte-budget.ts';
import type { NodeOptions, UpstreamDeps } from '../upstream-options.ts';
import { bootstrap } from './bootstrap.ts';
import type { Mesh } from './mesh.ts';
import { MeshNode } from './mesh-node.ts';
import { openBestSession } from './open-best-session.ts';
import { routeCall } from './route-call.ts';
import { SlotConsensus } from './slot-consensus.ts';

export interface MeshOptions extends UpstreamDeps {
  /** Nodes in order of preference, where nothing else distinguishes them. */
  readonly nodes: readonly NodeOptions[];
  /** Genesis hash that the nodes must have. Without one the first node to answer decides. */
  readonly expectedGenesisHash?: string | null;
  /** Called with problems for the operator, in texts without any URL. */
  readonly onProblem?: (nodeId: string, problem: string) => void;
}

/** Connects to a cluster. Resolves when a node has reported its slots; throws `upstream_unavailable` after `startMs`. */
export async function connectMesh(options: MeshOptions): Promise<Mesh> {
  const { nodes, clock, random, settings, onProblem = () => {} } = options;
  const deps: UpstreamDeps = { clock, random, settings };
  const budget = new ByteBudget(settings.inFlightBytes);
  const expectedGenesisHash = options.expectedGenesisHash ?? undefined;
  const consensus = new SlotConsensus({ clock, settings, expectedGenesisHash, onProblem });
  const meshNodes = nodes.map((node) => new MeshNode({ node, deps, budget, consensus, onProblem }));
  let isClosed = false;
  const close = async () => {
    isClosed = true;
    await Promise.all(meshNodes.map((meshNode) => meshNode.close()));
  };

  const { genesisHash, anchor } = await bootstrap(meshNodes, deps).catch(async (thrown: unknown) => {
    await close();
    throw thrown;
  });
  consensus.start();
  followTips(meshNodes, consensus);
  for (const meshNode of new Set([anchor, ...meshNodes])) meshNode.replaySlots();
  for (const meshNode of meshNodes) meshNode.start();
  // A lease must not lag with its node while another node is healthy.
  consensus.onTip('processed', () => {
    if (!meshNodes.some(({ isHealthy }) => isHealthy)) return;
    for (const { isOutOfSync, sessions } of meshNodes) if (isOutOfSync) sessions.closeAll();
  });

  return {
    genesisHash,
    get apiVersion() {
      return meshNodes.find(({ client }) => client.apiVersion !== undefined)?.client.apiVersion;
    },
    get requestCount() {
      return meshNodes.reduce((sum, { client }) => sum + client.requestCount, 0);
    },
    call: (method, params = [], callOptions = {}) =>
      routeCall({ meshNodes, clock, random, consensus }, method, params, callOptions),
    tip: (commitment) => consensus.tip(commitment),
    onTip: (commitment, listener) => consensus.onTip(commitment, listener),
    openSession: () => openBestSession(meshNodes, deps, () => isClosed),
    nodes: () => meshNodes.map((meshNode) => meshNode.status()),
    close,
  };
}

/** Re-evaluates the lag of all nodes with each new tip. */
function followTips(meshNodes: readonly MeshNode[], consensus: SlotConsensus): void {
  for (const commitment of COMMITMENTS) {
    consensus.onTip(commitment, () => {
      for (const meshNode of meshNodes) meshNode.updateLag();
    });
  }
}
