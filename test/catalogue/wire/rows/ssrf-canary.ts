import { createServer } from 'node:net';
import { GOLD, POINTS } from '../../../../src/localnet/traffic/demo-accounts.ts';
import { listenOnLoopback } from '../../../support/loopback-server.ts';
import { exchange } from '../../../support/raw-http.ts';
import { expectNone, info } from '../../findings.ts';
import { get, post, request } from '../http/raw-request.ts';
import { expectAll, type WireRow } from '../wire-row.ts';
import type { WireTestbed } from '../wire-testbed.ts';

const SCHEMES = ['http', 'https', 'file', 'gopher', 'ws'];

export const ssrfCanary: WireRow = {
  id: 'ssrf-canary',
  title: 'URLs of a listener on loopback, in metadata, parameters and headers',
  async run(testbed) {
    let connections = 0;
    const server = createServer((socket) => {
      connections++;
      socket.destroy();
    });
    const there = `127.0.0.1:${await listenOnLoopback(server)}`;
    const packets = SCHEMES.flatMap((scheme) => requestsNaming(there, `${scheme}://${there}/x.json`));
    for (const packet of packets) await exchange(testbed.url, [packet]);
    const returned = await serveInMetadata(testbed, `http://${there}/`);
    server.close();
    return [
      info('sent', packets.length),
      expectAll('mints returned with it as their uri', returned, 2),
      expectNone('connections to it', connections),
    ];
  },
};

/** Builds requests that name a URL wherever one might be read. */
function requestsNaming(host: string, target: string): readonly string[] {
  const encoded = encodeURIComponent(target);
  return [
    ...['search?q=', 'balance/', 'token/', 'tx/', 'pubkey?kid='].map((path) =>
      request(`GET /api/v1/${path}${encoded}`),
    ),
    get(`Origin: ${target}`, `Referer: ${target}`, `X-Forwarded-Host: ${host}`, `Forwarded: host=${host}`),
    rpc('getAccountInfo', [target]),
    rpc('getSlot', [{ url: target, endpoint: target }]),
    `GET /api/v1/slot HTTP/1.1\r\nHost: ${host}\r\n\r\n`,
  ];
}

function rpc(method: string, params: readonly unknown[]): string {
  const body = JSON.stringify({ method, params });
  return post(`Content-Length: ${body.length}`) + body;
}

/** Makes the node return mints whose metadata name the URL; counts the answers that contain it. */
async function serveInMetadata({ node, cluster, get }: WireTestbed, target: string): Promise<number> {
  const headers = { 'content-type': 'application/json' };
  for (const method of ['getAccountInfo', 'getMultipleAccounts'] as const) {
    node.overrides.set(method, async (params) => {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
      const text = await (await fetch(cluster.url, { method: 'POST', headers, body })).text();
      const [, result = 'null'] = /"result":(.*),"id":1\}\s*$/s.exec(text) ?? [];
      return { result: result.replace(/"[A-Za-z0-9+/=]{100,}"/g, (data) => withUri(data, target)) };
    });
  }
  const answers = await Promise.all([GOLD, POINTS].map(({ mint }) => get(`/token/${mint.address}`)));
  node.overrides.clear();
  return answers.filter(({ text }) => text.includes(target)).length;
}

/** Replaces each URI in account data by another of the same length. */
function withUri(quoted: string, target: string): string {
  const data = Buffer.from(quoted, 'base64').toString('latin1');
  const changed = data.replace(/https:\/\/example\.com\/\w+\.json/g, (uri) => target.padEnd(uri.length, 'x'));
  return JSON.stringify(Buffer.from(changed, 'latin1').toString('base64'));
}
