import { type EmbeddedCluster, startEmbeddedCluster } from '../../../src/localnet/embedded-cluster.ts';
import { GatewayProcess } from '../../support/gateway-process.ts';
import { type HttpAnswer, httpClient } from '../../support/harness.ts';
import { type RpcOverrideProxy, startRpcOverrideProxy } from '../../support/rpc-override-proxy.ts';
import { withTestScope } from '../../support/test-scope.ts';

/** A gateway in a process of its own over an embedded cluster, and all that its attackers need. */
export interface WireTestbed {
  readonly url: string;
  /** Host and port. */
  readonly host: string;
  readonly gateway: GatewayProcess;
  readonly cluster: EmbeddedCluster;
  /** What the gateway takes for the cluster's HTTP: it counts what comes, and says what it is told to say. */
  readonly node: RpcOverrideProxy;
  get(path: string, init?: RequestInit): Promise<HttpAnswer>;
}

/** Opens a stage, plays on it, and clears it away whatever happens. `set`: settings of the gateway. */
export const withWireTestbed = <T>(set: readonly string[], body: (stage: WireTestbed) => Promise<T>): Promise<T> =>
  withTestScope(async (scope) => {
    const cluster = await startEmbeddedCluster({ state: scope.testdir(), transactionsPerSlot: 1 });
    scope.teardown(() => cluster.close());
    const node = await startRpcOverrideProxy(scope, cluster.url);
    const gateway = await GatewayProcess.start(
      [`${node.url},${cluster.wsUrl}`],
      ['limits.free.streams=1000000', ...set],
    );
    scope.teardown(() => gateway.close());
    const url = await gateway.url();
    return await body({ url, host: new URL(url).host, gateway, cluster, node, get: httpClient(url).get });
  });
