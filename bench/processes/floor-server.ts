import type { HttpResponse } from 'uWebSockets.js';
import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { Pool } from 'undici';
import { loadRawEngine } from '../support/raw-engine.ts';

// The floor of a cold signed read: one getMultipleAccounts for all reads of a turn, one signature for all of its answers,
// and nothing else. No limits, no failover, no cache: what they cost is the difference to this. argv: the node's URL.

interface Read {
  readonly response: HttpResponse;
  readonly address: string;
  readonly target: string;
  isGone: boolean;
}

interface Answer {
  readonly result: {
    readonly context: { readonly slot: number };
    readonly value: readonly ({ readonly lamports: number } | null)[];
  };
}

const MAX_ADDRESSES = 100;
const HEADERS =
  '200 OK\r\nContent-Type: application/json\r\nX-RateLimit-Limit: 100\r\nX-RateLimit-Remaining: 99\r\nX-RateLimit-Reset: 12';

const [nodeUrl = ''] = process.argv.slice(2);
const node = new Pool(nodeUrl, { connections: 32 });
const { privateKey } = generateKeyPairSync('ed25519');
let waiting: Read[] = [];
let id = 0;

const sha256 = (...parts: readonly (string | Buffer)[]): Buffer =>
  parts.reduce((hash, part) => hash.update(part), createHash('sha256')).digest();

function flush(): void {
  const reads = waiting;
  waiting = [];
  for (let i = 0; i < reads.length; i += MAX_ADDRESSES) void answer(reads.slice(i, i + MAX_ADDRESSES));
}

async function answer(reads: readonly Read[]): Promise<void> {
  const addresses = JSON.stringify(reads.map(({ address }) => address));
  const call = `{"jsonrpc":"2.0","id":${++id},"method":"getMultipleAccounts","params":[${addresses},{"encoding":"base64","commitment":"confirmed"}]}`;
  const headers = { 'content-type': 'application/json' };
  const { body } = await node.request({ path: '/', method: 'POST', headers, body: call });
  const { result } = (await body.json()) as Answer; // of getMultipleAccounts
  const { slot } = result.context;
  const results = reads.map((_, i) => `{"lamports":${result.value[i]?.lamports ?? 0}}`);
  const { paths, root } = treeOf(reads.map(({ target }, i) => leafOf(target, slot, results[i] ?? '')));
  const signature = sign(null, root, privateKey).toString('base64url');
  reads.forEach(({ response, isGone }, i) => {
    const receipt = `{"v":1,"path":["${paths[i]?.join('","')}"],"sig":"${signature}"}`;
    const text = `{"result":${results[i]},"slot":${slot},"receipt":${receipt}}`;
    if (!isGone) response.cork(() => response.writeStatus(`${HEADERS}\r\nX-Slot: ${slot}`).end(text));
  });
}

const leafOf = (target: string, slot: number, result: string): Buffer =>
  sha256('\x00', target, '\n', String(slot), '\n', sha256(result));

/** Hashes the leaves to a root. Returns it, and the path of each leaf. */
function treeOf(leaves: readonly Buffer[]): { readonly root: Buffer; readonly paths: readonly string[][] } {
  const paths = leaves.map((): string[] => []);
  let level = leaves;
  for (let depth = 0; level.length > 1; depth++) {
    paths.forEach((path, i) => {
      const sibling = level[(i >> depth) ^ 1];
      if (sibling !== undefined) path.push(sibling.toString('base64url'));
    });
    const below = level;
    level = below
      .filter((_, i) => i % 2 === 0)
      .map((left, i) => {
        const right = below[2 * i + 1];
        return right === undefined ? left : sha256('\x01', left, right);
      });
  }
  return { root: level[0] ?? Buffer.alloc(0), paths };
}

const { App, us_socket_local_port } = await loadRawEngine();
App()
  .get('/api/v1/balance/:address', (response, request) => {
    const read: Read = {
      response,
      address: request.getParameter(0) ?? '',
      target: request.getUrl(),
      isGone: false,
    };
    response.onAborted(() => {
      read.isGone = true;
    });
    if (waiting.push(read) === 1) setImmediate(flush);
  })
  .listen('127.0.0.1', 0, (socket) => {
    if (!socket) throw new Error('the floor has no port');
    console.log(`{"url":"http://127.0.0.1:${us_socket_local_port(socket)}","msg":"listening"}`);
  });
