import { GatewayError } from '../../domain/gateway-error.ts';
import { sleep } from '../../runtime/sleep.ts';
import type { PubsubSession } from '../pubsub/pubsub-session.ts';
import { noNodeReachable } from '../rpc/error-normalizer.ts';
import type { UpstreamDeps } from '../upstream-options.ts';
import type { MeshNode } from './mesh-node.ts';
import { weightedRandomOrder } from './node-selection.ts';

/** Opens a session with the best trusted node, and retries until one is open or the mesh is closed. */
export async function openBestSession(
  meshNodes: readonly MeshNode[],
  { clock, random, settings }: UpstreamDeps,
  isClosed: () => boolean,
): Promise<PubsubSession> {
  const trusted = () => meshNodes.filter(({ isTrusted }) => isTrusted);
  while (!isClosed()) {
    try {
      const session = await bestOf(trusted(), random)?.sessions.open();
      if (session !== undefined && !session.isLost) return session;
    } catch (thrown) {
      if (!(thrown instanceof GatewayError)) throw thrown;
    }
    const cooldowns = trusted().map(({ sessions }) => sessions.cooldownMs);
    const pauseMs = cooldowns.length > 0 ? Math.min(...cooldowns) : settings.backoffMinMs;
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
