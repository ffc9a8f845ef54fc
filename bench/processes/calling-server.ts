import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { Pool } from 'undici';
import { listenOnLoopback } from '../../test/support/loopback-server.ts';

// What a service does without a gateway: each request calls the node, `/balance` by getBalance, `/account` by
// getAccountInfo; the body of a POST is passed on as it is. argv: the node's URL.

const [nodeUrl = ''] = process.argv.slice(2);
const node = new Pool(nodeUrl, { connections: 64 });

async function callNode(body: string | Buffer): Promise<Buffer> {
  const response = await node.request({ path: '/', method: 'POST', body });
  return Buffer.from(await response.body.arrayBuffer());
}

async function read(url: string): Promise<string> {
  const [route = '', address = ''] = url.split('/').slice(-2);
  const isBalance = route === 'balance';
  const config = isBalance ? { commitment: 'confirmed' } : { commitment: 'confirmed', encoding: 'base64' };
  const method = isBalance ? 'getBalance' : 'getAccountInfo';
  const { result } = JSON.parse(
    String(await callNode(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: [address, config] }))),
  );
  const answer = isBalance ? { address, lamports: result.value } : { address, ...result.value };
  return JSON.stringify({ result: answer, slot: result.context.slot });
}

const server = createServer(async (request, response) => {
  const answer = request.method === 'POST' ? await callNode(await buffer(request)) : await read(request.url ?? '');
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': answer.length }).end(answer);
});
console.log(`{"url":"http://127.0.0.1:${await listenOnLoopback(server)}","msg":"listening"}`);
