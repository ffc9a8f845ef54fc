import { type EmbeddedCluster, startEmbeddedCluster } from '../../../src/localnet/embedded-cluster.ts';
import { GatewayProcess } from '../../support/gateway-process.ts';
import { type GatewayHarness, httpClient } from '../../support/harness.ts';
import { type RpcOverrideProxy, startRpcOverrideProxy } from '../../support/rpc-override-proxy.ts';
import { withTestScope } from '../../support/test-scope.ts';

export interface WireTestbed {
  readonly url: string;
  readonly host: string;
  readonly gateway: GatewayProcess;
  readonly cluster: EmbeddedCluster;
  /** Proxy that the gateway uses as the cluster's HTTP endpoint: it counts requests and can replace answers. */
  readonly node: RpcOverrideProxy;
  readonly get: GatewayHarness['get'];
}

/** Runs `body` with a testbed, and closes the testbed in any case. `set` holds settings of the gateway, then come Node's. */
export const withWireTestbed = <T>(
  set: readonly string[],
  body: (testbed: WireTestbed) => Promise<T>,
  nodeOptions: readonly string[] = [],
): Promise<T> =>
  withTestScope(async (scope) => {
    const cluster = await startEmbeddedCluster({ transactionsPerSlot: 1 });
    scope.teardown(() => cluster.close());
    const node = await startRpcOverrideProxy(scope, cluster.url);
    const gateway = await GatewayProcess.start([`${node.url},${cluster.wsUrl}`], {
      set: ['limits.free.streams=1000000', ...set],
      nodeOptions,
    });
    scope.teardown(() => gateway.close());
    const { url } = gateway;
    return await body({ url, host: new URL(url).host, gateway, cluster, node, get: httpClient(url).get });
  });
