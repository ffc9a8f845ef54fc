import type { Config } from '../../config/config-schema.ts';
import { operatorsIn } from '../../config/operators.ts';
import { type EmbeddedCluster, startEmbeddedCluster } from '../../localnet/index.ts';
import type { Log } from '../../shared/runtime/log.ts';
import { createMesh } from '../upstream/mesh/create-mesh.ts';
import type { RestingMesh } from '../upstream/mesh/mesh.ts';
import type { Environment } from './environment.ts';
import { openLearnedLimits } from './subscription-limits-file.ts';

export interface Upstream {
  readonly mesh: RestingMesh;
  readonly embedded: EmbeddedCluster | undefined;
}

/** Without configured nodes there is only an embedded cluster, unless the caller has started it already. */
export async function openUpstream(
  { config, clock, random, log, writes, disposals }: Environment,
  starting: Promise<EmbeddedCluster> | undefined = startEmbedded(config),
): Promise<Upstream> {
  const embedded = await starting;
  if (embedded !== undefined) logEmbedded(embedded, log);
  void embedded?.ended.then((cause) => {
    // Nothing can bring it back, so this ends the process.
    if (!disposals.disposed) throw new Error('the embedded cluster has ended: start the gateway again', { cause });
  });
  disposals.defer(() => embedded?.close());
  const operators = operatorsIn(config);
  const learnedLimits = openLearnedLimits({ clock, dataDir: config.dataDir, writes });
  const mesh = createMesh({
    nodes: embedded ? [{ id: 'embedded', ...embedded }] : config.upstreams,
    agreement: operators && {
      needed: operators.needed,
      sampleRate: config.receipts.sampleRate,
      onDisagreement: ({ nodeId: node, ...facts }) =>
        log.error({ node, ...facts }, 'a node gave another value of a slot than two operators'),
      onUndecided: (difference) =>
        log.error(difference, 'operators gave different values of one slot, and none of them has a majority'),
    },
    clock,
    random,
    settings: config.upstreamPolicy,
    expectedGenesisHash: config.cluster,
    ...(embedded === undefined && { learnedLimits }), // another one comes with the next start
    onProblem: (node, problem) => log.warn({ node }, problem),
    onRecovery: (node, recovery) => log.info({ node }, recovery),
  });
  disposals.defer(() => mesh.close());
  return { mesh, embedded };
}

/** The ports at which Solana's tools expect a local cluster: its RPC, and its WebSocket. */
const [USUAL_PORT, USUAL_PUBSUB_PORT] = [8899, 8900];

/** Starts an embedded cluster where no node is configured. */
export const startEmbedded = (config: Config): Promise<EmbeddedCluster> | undefined =>
  config.upstreams.length > 0 ? undefined : startEmbeddedCluster({ ...config.embedded, ...embeddedPortsOf(config) });

/** Returns the first of the two ports of the embedded cluster, 0 for free ones, and whether free ones will do if one is in use. */
export function embeddedPortsOf({ embedded: { port }, port: ownPort }: Config) {
  const isUsualOwn = ownPort === USUAL_PORT || ownPort === USUAL_PUBSUB_PORT; // the gateway will listen there
  return port === null ? { port: isUsualOwn ? 0 : USUAL_PORT, orFreePorts: true } : { port, orFreePorts: false };
}

function logEmbedded(started: EmbeddedCluster, log: Log): void {
  const { url: rpc, genesisHash: cluster, takenPort } = started;
  if (takenPort !== undefined) {
    const owner = takenPort.genesisHash === null ? 'another process' : 'another cluster';
    const problem = `port ${takenPort.port} belongs to ${owner}; the embedded cluster listens on two free ports`;
    log.warn({ rpc, cluster, otherCluster: takenPort.genesisHash }, problem);
  }
  const accounts = Object.fromEntries(
    started.accounts.map(({ name, address, holds }) => [name, `${address} ${holds}`]),
  );
  log.info({ rpc, cluster, accounts }, 'the embedded demo cluster runs, a new one at each start');
}
