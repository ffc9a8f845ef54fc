import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Pool } from 'undici';

// What a service does without a gateway: each request asks the node. argv: the node's URL.

const [nodeUrl = ''] = process.argv.slice(2);
const node = new Pool(nodeUrl, { connections: 64 });

const server = createServer(async (request, response) => {
  const address = request.url?.split('/').at(-1);
  const call = { jsonrpc: '2.0', id: 1, method: 'getBalance', params: [address, { commitment: 'confirmed' }] };
  const { body } = await node.request({ path: '/', method: 'POST', body: JSON.stringify(call) });
  const { result } = (await body.json()) as { result: { context: { slot: number }; value: number } }; // of getBalance
  const answer = JSON.stringify({ result: { address, lamports: result.value }, slot: result.context.slot });
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': answer.length }).end(answer);
});
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo; // a string only for pipes
  console.log(`{"url":"http://127.0.0.1:${port}","msg":"listening"}`);
});
