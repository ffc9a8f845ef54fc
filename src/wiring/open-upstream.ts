import type { Config } from '../config/config-schema.ts';
import type { Clock } from '../domain/clock.ts';
import { type EmbeddedCluster, startEmbeddedCluster } from '../localnet/embedded-cluster.ts';
import type { DisposalStack } from '../runtime/disposal-stack.ts';
import type { Log } from '../runtime/log.ts';
import { createMesh } from '../upstream/mesh/create-mesh.ts';
import type { Mesh } from '../upstream/mesh/mesh.ts';

/** Creates the mesh of the configured nodes; without any, starts an embedded cluster, which is then the only one. */
export async function openUpstream(
  config: Config,
  { clock, random, log }: { readonly clock: Clock; readonly random: () => number; readonly log: Log },
  disposals: DisposalStack,
): Promise<{ readonly mesh: Mesh; readonly embedded: EmbeddedCluster | undefined }> {
  const embedded = config.upstreams.length === 0 ? await startEmbedded(config) : undefined;
  disposals.defer(() => embedded?.close());
  const mesh = createMesh({
    nodes: embedded ? [{ id: 'embedded', ...embedded }] : config.upstreams,
    clock,
    random,
    settings: config.upstream,
    expectedGenesisHash: config.cluster,
    onProblem: (node, problem) => log.warn({ node }, problem),
    onRecovery: (node, recovery) => log.info({ node }, recovery),
  });
  disposals.defer(() => mesh.close());
  return { mesh, embedded };
}

const startEmbedded = ({ state, embedded }: Config): Promise<EmbeddedCluster> =>
  startEmbeddedCluster({ state, ...embedded });
