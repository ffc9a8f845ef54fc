import { createServer } from 'node:http';
import { bodyOf, listenOnLoopback } from './loopback-server.ts';
import type { TestScope } from './test-scope.ts';

/** Starts an HTTP proxy before a node that writes other digits for every integer member with one of these names. */
export async function startDigitProxy(
  t: Pick<TestScope, 'teardown'>,
  nodeUrl: string,
  digits: Readonly<Record<string, string>>,
): Promise<string> {
  const member = new RegExp(`"(${Object.keys(digits).join('|')})":\\d+`, 'g');
  const server = createServer(async (request, response) => {
    const body = await bodyOf(request);
    try {
      const answer = await fetch(nodeUrl, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
      });
      const text = await answer.text();
      response.end(text.replace(member, (_, name: string) => `"${name}":${digits[name]}`));
    } catch {
      response.destroy(); // the node has closed
    }
  });
  const port = await listenOnLoopback(server);
  t.teardown(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${port}`;
}
