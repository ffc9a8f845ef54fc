import { COMMITMENTS } from '../../domain/commitment.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import { ByteBudget } from '../failsafe/byte-budget.ts';
import { noNodeReachable } from '../rpc/error-normalizer.ts';
import type { NodeOptions, UpstreamDeps } from '../upstream-options.ts';
import { bootstrap } from './bootstrap.ts';
import { JumpGuard } from './jump-guard.ts';
import type { Mesh } from './mesh.ts';
import { MeshNode } from './mesh-node.ts';
import { MeshTips } from './mesh-tips.ts';
import { weightedRandomOrder } from './node-selection.ts';
import { routeCall } from './route-call.ts';
import type { SlotConsensus } from './slot-consensus.ts';

export interface MeshOptions extends UpstreamDeps {
  /** In order of preference, where nothing else tells between them. */
  readonly nodes: readonly NodeOptions[];
  /** The genesis hash that the nodes must have. Without one the first node to answer decides. */
  readonly expectedGenesisHash?: string | null;
  /** Told, in words without any URL, what an operator should know. */
  readonly onProblem?: (nodeId: string, problem: string) => void;
}

/** Connects to a cluster. Resolves when a node has shown its slots; throws `upstream_unavailable` after `startMs`. */
export async function connectMesh(options: MeshOptions): Promise<Mesh> {
  const { nodes, clock, random, settings, onProblem = () => {} } = options;
  const deps: UpstreamDeps = { clock, random, settings };
  const budget = new ByteBudget(settings.inFlightBytes);
  const tips = new MeshTips();
  const newJumpGuard = () => new JumpGuard({ clock, ...settings });
  const jumpGuards = { processed: newJumpGuard(), confirmed: newJumpGuard(), finalized: newJumpGuard() };
  let expectedGenesisHash = options.expectedGenesisHash ?? undefined;
  let isBootstrapped = false;
  let isClosed = false;

  const consensus: SlotConsensus = {
    verifyGenesis(genesisHash) {
      expectedGenesisHash ??= genesisHash;
      return genesisHash === expectedGenesisHash;
    },
    observe(id, commitment, slot) {
      if (isBootstrapped) jumpGuards[commitment].observe(id, slot);
    },
    isAccepted: (commitment, slot) => jumpGuards[commitment].isAccepted(slot),
    isSuspect: (id) => COMMITMENTS.some((commitment) => jumpGuards[commitment].isSuspect(id)),
    advanceTip: (commitment, slot) => tips.observe(commitment, slot),
    tip: (commitment) => tips.newest(commitment),
  };
  const meshNodes = nodes.map((node) => new MeshNode({ node, deps, budget, consensus, onProblem }));
  const close = async () => {
    isClosed = true;
    await Promise.all(meshNodes.map((member) => member.close()));
  };

  const { genesisHash, anchor } = await bootstrap(meshNodes, deps).catch(async (thrown: unknown) => {
    await close();
    throw thrown;
  });
  isBootstrapped = true;
  for (const commitment of COMMITMENTS) {
    tips.onTip(commitment, () => {
      for (const member of meshNodes) member.updateLag();
    });
  }
  for (const member of new Set([anchor, ...meshNodes])) member.replaySlots();
  for (const member of meshNodes) member.start();
  // What is claimed by a line must not fall behind with its node while another does better.
  tips.onTip('processed', () => {
    if (meshNodes.some(({ isHealthy }) => isHealthy))
      for (const member of meshNodes) if (member.isOutOfSync) member.sessions.closeAll();
  });

  const sessionNodes = () => meshNodes.filter(({ isTrusted }) => isTrusted);
  const bestSessionNode = () =>
    weightedRandomOrder(
      sessionNodes()
        .filter(({ sessions }) => sessions.cooldownMs === 0)
        .map((member) => ({ member, ...member.candidateFor('getMultipleAccounts') })),
      random,
    )[0]?.member;

  return {
    genesisHash,
    get apiVersion() {
      return meshNodes.find(({ client }) => client.apiVersion !== undefined)?.client.apiVersion;
    },
    get requestCount() {
      return meshNodes.reduce((sum, { client }) => sum + client.requestCount, 0);
    },
    call: (method, params = [], callOptions = {}) =>
      routeCall({ meshNodes, clock, random, tip: consensus.tip }, method, params, callOptions),
    tip: (commitment) => tips.newest(commitment),
    onTip: (commitment, listener) => tips.onTip(commitment, listener),
    async openSession() {
      while (!isClosed) {
        try {
          const session = await bestSessionNode()?.sessions.open();
          if (session !== undefined && !session.isLost) return session;
        } catch (thrown) {
          if (!(thrown instanceof GatewayError)) throw thrown;
        }
        const cooldowns = sessionNodes().map(({ sessions }) => sessions.cooldownMs);
        const pauseMs = cooldowns.length > 0 ? Math.min(...cooldowns) : settings.backoffMinMs;
        if (pauseMs > 0) await new Promise<void>((resolve) => clock.after(pauseMs, resolve));
      }
      throw noNodeReachable();
    },
    nodes: () => meshNodes.map((member) => member.status()),
    close,
  };
}
