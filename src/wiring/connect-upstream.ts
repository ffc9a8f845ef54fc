import type { Config } from '../config/config-schema.ts';
import type { Clock } from '../domain/clock.ts';
import { GatewayError } from '../domain/gateway-error.ts';
import { StartError } from '../domain/start-error.ts';
import { type EmbeddedCluster, startEmbeddedCluster } from '../localnet/embedded-cluster.ts';
import type { DisposalStack } from '../runtime/disposal-stack.ts';
import type { Log } from '../runtime/log.ts';
import { connectMesh } from '../upstream/mesh/connect-mesh.ts';
import type { Mesh } from '../upstream/mesh/mesh.ts';

/** Connects to the configured nodes; without any, starts an embedded cluster and connects to it. */
export async function connectUpstream(
  config: Config,
  { clock, random, log }: { readonly clock: Clock; readonly random: () => number; readonly log: Log },
  disposals: DisposalStack,
): Promise<{ readonly mesh: Mesh; readonly embedded: EmbeddedCluster | undefined }> {
  const embedded = config.upstreams.length === 0 ? await startEmbedded(config) : undefined;
  disposals.defer(() => embedded?.close());
  const mesh = await connectMesh({
    nodes: embedded ? [{ id: 'embedded', ...embedded }] : config.upstreams,
    clock,
    random,
    settings: config.upstream,
    expectedGenesisHash: config.cluster,
    onProblem: (node, problem) => log.warn({ node }, problem),
  }).catch((thrown: unknown) => {
    throw new StartError(1, GatewayError.from(thrown).message, thrown);
  });
  disposals.defer(() => mesh.close());
  return { mesh, embedded };
}

const startEmbedded = ({ state, embedded }: Config): Promise<EmbeddedCluster> =>
  startEmbeddedCluster({ state, ...embedded });
