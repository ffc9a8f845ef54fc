import { createServer, IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { request as send } from 'undici';
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

async function forwardTo(url: string, body: string, response: ServerResponse): Promise<void> {
  try {
    const headers = { 'content-type': 'application/json' };
    const forwarded = await send(url, { method: 'POST', headers, body });
    response.writeHead(forwarded.statusCode).end(await forwarded.body.text());
  } catch {
    response.destroy(); // the cluster has closed
  }
}

/** Makes a request that can be read again of one whose body was read. */
function unread(request: IncomingMessage, body: string): IncomingMessage {
  const { method, headers } = request;
  const copy = Object.assign(new IncomingMessage(request.socket), { method, headers, complete: true });
  copy.push(body);
  copy.push(null);
  return copy;
}

/** Starts a proxy before a cluster: one at a URL, or the listener of one in this process, which costs no second request. */
export async function startRpcOverrideProxy(
  t: Pick<TestScope, 'teardown'>,
  cluster: string | RequestListener,
): Promise<RpcOverrideProxy> {
  const forward =
    typeof cluster === 'string'
      ? (_: IncomingMessage, body: string, response: ServerResponse) => forwardTo(cluster, body, response)
      : (request: IncomingMessage, body: string, response: ServerResponse) => cluster(unread(request, body), response);
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
    await forward(request, body, response);
  });
  const port = await listenOnLoopback(server);
  t.teardown(() => {
    server.close();
    server.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${port}`, overrides, requestCounts };
}
