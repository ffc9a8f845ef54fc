import { createServer } from 'node:http';
import { request as forward } from 'undici';
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

/** Holds the answers to a method back, from its next request until they are released. */
export function holdAnswers({ overrides }: RpcOverrideProxy, method: string) {
  let release = (): void => {};
  const released = new Promise<undefined>((resolve) => {
    release = () => resolve(undefined);
  });
  const requested = new Promise<void>((resolve) => {
    overrides.set(method, () => {
      resolve();
      return released;
    });
  });
  return { requested, release };
}

export async function startRpcOverrideProxy(
  t: Pick<TestScope, 'teardown'>,
  clusterUrl: string,
): Promise<RpcOverrideProxy> {
  const overrides: RpcOverrideProxy['overrides'] = new Map();
  const requestCounts: RpcOverrideProxy['requestCounts'] = new Map();
  const server = createServer(async (request, response) => {
    const body = await bodyOf(request).then(String, () => '');
    if (body === '') return void response.destroy(); // the caller has gone
    const { id, method, params } = JSON.parse(body);
    requestCounts.set(method, (requestCounts.get(method) ?? 0) + 1);
    const override = await overrides.get(method)?.(params);
    if (override !== undefined) {
      const member = 'result' in override ? `"result":${override.result}` : `"error":${override.error}`;
      response.end(`{"jsonrpc":"2.0",${member},"id":${id}}`);
      return;
    }
    try {
      const headers = { 'content-type': 'application/json' };
      const forwarded = await forward(clusterUrl, { method: 'POST', headers, body });
      response.writeHead(forwarded.statusCode).end(await forwarded.body.text());
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
