import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Place } from './place.ts';

/** What a node is asked for instead of what the cluster would say: the text of the whole answer's `result` or `error`. */
export type Said = { readonly result: string } | { readonly error: string };

/** Undefined passes the question on to the cluster; a promise of that lets it wait. */
export type Saying = Said | undefined | Promise<Said | undefined>;

/** Stands between a gateway and the HTTP of a cluster, and says what a test has it say. */
export interface OverriddenNode {
  readonly url: string;
  /** By method. */
  readonly says: Map<string, (params: readonly any[]) => Saying>;
  /** How often each method was asked for. */
  readonly asked: Map<string, number>;
}

export async function overriddenNode(t: Pick<Place, 'teardown'>, clusterUrl: string): Promise<OverriddenNode> {
  const says: OverriddenNode['says'] = new Map();
  const asked: OverriddenNode['asked'] = new Map();
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString();
    const { id, method, params } = JSON.parse(body);
    asked.set(method, (asked.get(method) ?? 0) + 1);
    const said = await says.get(method)?.(params);
    if (said !== undefined) {
      const member = 'result' in said ? `"result":${said.result}` : `"error":${said.error}`;
      response.end(`{"jsonrpc":"2.0",${member},"id":${id}}`);
      return;
    }
    try {
      const passed = await fetch(clusterUrl, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
      });
      response.writeHead(passed.status).end(await passed.text());
    } catch {
      response.destroy(); // the cluster is gone, and so is its node
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo; // it listens on TCP
  return { url: `http://127.0.0.1:${port}`, says, asked };
}
