import { createServer, request } from 'node:http';
import { connect } from 'node:net';
import type { Test } from 'tap';
import { listenOnLoopback } from '../support/loopback-server.ts';

export interface PrefixProxy {
  /** Where the gateway's `/` is, with a slash at its end. */
  readonly url: string;
  /** The paths of requests that were not below the prefix. */
  readonly strayPaths: readonly string[];
}

/** Opens a proxy that serves a gateway below a prefix of its own, which the gateway does not see. */
export async function openPrefixProxy(t: Test, gateway: string, prefix: string): Promise<PrefixProxy> {
  const strayPaths: string[] = [];
  const { hostname, port } = new URL(gateway);
  const pathBelow = (path = ''): string | undefined => {
    if (path.startsWith(`${prefix}/`)) return path.slice(prefix.length);
    strayPaths.push(path);
    return undefined;
  };
  const server = createServer((received, response) => {
    const path = pathBelow(received.url);
    if (path === undefined) {
      response.writeHead(404).end();
      return;
    }
    const { method, headers } = received;
    const forwarded = request({ hostname, port, path, method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    forwarded.on('error', () => response.destroy());
    received.pipe(forwarded);
  });
  server.on('upgrade', ({ url, rawHeaders }, socket, head) => {
    const path = pathBelow(url);
    if (path === undefined) {
      socket.destroy();
      return;
    }
    const lines = rawHeaders.map((text, at) => (at % 2 === 0 ? `${text}: ` : `${text}\r\n`));
    const forwarded = connect(Number(port), hostname);
    forwarded.write(`GET ${path} HTTP/1.1\r\n${lines.join('')}\r\n`);
    forwarded.write(head);
    forwarded.pipe(socket).pipe(forwarded);
    forwarded.on('error', () => socket.destroy());
    socket.on('error', () => forwarded.destroy());
  });
  const own = await listenOnLoopback(server);
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${own}${prefix}/`, strayPaths };
}
