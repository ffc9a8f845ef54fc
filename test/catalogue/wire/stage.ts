import { type EmbeddedCluster, startEmbeddedCluster } from '../../../src/localnet/embedded-cluster.ts';
import { GatewayProcess } from '../../support/gateway-process.ts';
import { client, type Got } from '../../support/open.ts';
import { type OverriddenNode, overriddenNode } from '../../support/overridden-node.ts';
import { inPlace } from '../../support/place.ts';

/** A gateway in a process of its own over an embedded cluster, and all that its attackers need. */
export interface Stage {
  readonly url: string;
  /** Host and port. */
  readonly host: string;
  readonly gateway: GatewayProcess;
  readonly cluster: EmbeddedCluster;
  /** What the gateway takes for the cluster's HTTP: it counts what comes, and says what it is told to say. */
  readonly node: OverriddenNode;
  get(path: string, init?: RequestInit): Promise<Got>;
}

/** Opens a stage, plays on it, and clears it away whatever happens. `set`: settings of the gateway. */
export const onStage = <T>(set: readonly string[], play: (stage: Stage) => Promise<T>): Promise<T> =>
  inPlace(async (place) => {
    const cluster = await startEmbeddedCluster({ state: place.testdir(), transactionsPerSlot: 1 });
    place.teardown(() => cluster.close());
    const node = await overriddenNode(place, cluster.url);
    const gateway = await GatewayProcess.start(
      [`${node.url},${cluster.wsUrl}`],
      ['limits.free.streams=1000000', ...set],
    );
    place.teardown(() => gateway.close());
    const url = await gateway.url();
    return await play({ url, host: new URL(url).host, gateway, cluster, node, get: client(url).get });
  });
