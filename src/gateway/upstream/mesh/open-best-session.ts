import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import { sleep } from '../../../shared/runtime/sleep.ts';
import type { PubsubSession } from '../pubsub/pubsub-session.ts';
import { noNodeReachable } from '../rpc/error-normalizer.ts';
import type { UpstreamDeps } from '../upstream-options.ts';
import type { MeshNode } from './mesh-node.ts';
import { weightedRandomOrder } from './node-selection.ts';

/** Opens a session with the best node that may have one, of those that are allowed, and retries until one is open or the mesh is closed. */
export async function openBestSession(
  meshNodes: readonly MeshNode[],
  { clock, random, settings }: UpstreamDeps,
  isClosed: () => boolean,
  isAllowed: (meshNode: MeshNode) => boolean = () => true,
): Promise<PubsubSession> {
  const usable = () => meshNodes.filter((node) => node.isTrusted && node.server.keepsOrder && isAllowed(node));
  while (!isClosed()) {
    try {
      const session = await bestOf(usable(), random)?.sessions.open();
      if (session !== undefined && !session.isLost) return session;
    } catch (thrown) {
      if (!(thrown instanceof GatewayError)) throw thrown;
    }
    const cooldowns = usable().map(({ sessions }) => sessions.cooldownMs);
    const pauseMs = cooldowns.length > 0 ? Math.min(...cooldowns) : settings.backoffMaxMs;
    if (pauseMs > 0) await sleep(clock, pauseMs);
  }
  throw noNodeReachable();
}

function bestOf(meshNodes: readonly MeshNode[], random: () => number): MeshNode | undefined {
  const candidates = meshNodes
    .filter(({ sessions }) => sessions.cooldownMs === 0)
    .map((meshNode) => ({ meshNode, ...meshNode.candidateFor('getMultipleAccounts') }));
  return weightedRandomOrder(candidates, random)[0]?.meshNode;
}
