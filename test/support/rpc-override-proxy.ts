import { createServer } from 'node:http';
import { bodyOf, listenOnLoopback } from './loopback-server.ts';
import type { RpcParams } from './rpc-request.ts';
import type { TestScope } from './test-scope.ts';

/** A replacement for the cluster's answer: the JSON text of `result` or `error`. */
export type OverrideResponse = { readonly result: string } | { readonly error: string };

/** Undefined forwards the request to the cluster; a promise delays it. */
export type Override = OverrideResponse | undefined | Promise<OverrideResponse | undefined>;

/** HTTP proxy before a cluster that replaces the answers of chosen methods and counts requests. */
export interface RpcOverrideProxy {
  readonly url: string;
  readonly overrides: Map<string, (params: RpcParams) => Override>;
  readonly requestCounts: Map<string, number>;
}

export async function startRpcOverrideProxy(
  t: Pick<TestScope, 'teardown'>,
  clusterUrl: string,
): Promise<RpcOverrideProxy> {
  const overrides: RpcOverrideProxy['overrides'] = new Map();
  const requestCounts: RpcOverrideProxy['requestCounts'] = new Map();
  const server = createServer(async (request, response) => {
    const body = String(await bodyOf(request));
    const { id, method, params } = JSON.parse(body);
    requestCounts.set(method, (requestCounts.get(method) ?? 0) + 1);
    const override = await overrides.get(method)?.(params);
    if (override !== undefined) {
      const member = 'result' in override ? `"result":${override.result}` : `"error":${override.error}`;
      response.end(`{"jsonrpc":"2.0",${member},"id":${id}}`);
      return;
    }
    try {
      const forwarded = await fetch(clusterUrl, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
      });
      response.writeHead(forwarded.status).end(await forwarded.text());
    } catch {
      response.destroy(); // the cluster has closed
    }
  });
  const port = await listenOnLoopback(server);
  t.teardown(() => {
    server.close();
    server.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${port}`, overrides, requestCounts };
}
