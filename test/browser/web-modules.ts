import { createReadStream } from 'node:fs';
import { createServer } from 'node:http';
import type { Test } from 'tap';
import { listenOnLoopback } from '../support/loopback-server.ts';

/** The package's root, from dist/test/browser. */
const ROOT = new URL('../../../', import.meta.url);
const SERVED = /^\/(?:dist\/src|node_modules\/(?:@noble\/(?:curves|hashes)|bs58|base-x))\/[\w./-]+\.js$/;

/** The import map: Node resolves these packages by itself. */
const imports = {
  'slotgate/client': '/dist/src/client/client.js',
  '@noble/curves/': '/node_modules/@noble/curves/',
  '@noble/hashes/': '/node_modules/@noble/hashes/',
  bs58: '/node_modules/bs58/src/esm/index.js',
  'base-x': '/node_modules/base-x/src/esm/index.js',
};

const PAGE = `<!doctype html><link rel="icon" href="data:,">
<script type="importmap">${JSON.stringify({ imports })}</script>
<script type="module">import * as slotgate from 'slotgate/client'; globalThis.slotgate = slotgate;</script>`;

/** Serves a page with the client as `slotgate`: the modules as they were compiled, bundled by nobody. */
export async function serveModules(t: Test): Promise<string> {
  const server = createServer(({ url = '' }, response) => {
    if (url === '/') response.setHeader('content-type', 'text/html').end(PAGE);
    else if (!SERVED.test(url) || url.includes('..')) response.writeHead(404).end();
    else createReadStream(new URL(`.${url}`, ROOT)).pipe(response.setHeader('content-type', 'text/javascript'));
  });
  const port = await listenOnLoopback(server);
  t.teardown(() => server.close());
  return `http://127.0.0.1:${port}/`;
}
