import type { ServerResponse } from 'node:http';
import { errorBody, type RpcRequest, resultBody, SECRET } from '../../../support/scripted-node.ts';
import type { Failure } from './node-behaviour.ts';

const MEGABYTE = Buffer.alloc(1 << 20, 'x');

/** Sends the answer of a failing node. Any text in it contains {@link SECRET}. */
export function respondWithFailure(failure: Failure, response: ServerResponse, asked: RpcRequest): void {
  const html = (status: number) => response.writeHead(status).end(`<html>${SECRET} went wrong</html>`);
  switch (failure) {
    case '429':
      response.writeHead(429).end();
      return;
    case '429 with Retry-After':
      response.writeHead(429, { 'retry-after': '1' }).end();
      return;
    case '500 HTML':
    case '502 HTML':
    case '503 HTML':
      html(Number.parseInt(failure, 10));
      return;
    case 'empty body':
      response.end();
      return;
    case 'truncated JSON':
      response.end(resultBody(asked, `"${SECRET}`).slice(0, -10));
      return;
    case 'wrong id':
      response.end(resultBody({ ...asked, id: asked.id + 1 }, `"${SECRET}"`));
      return;
    case '50 MB':
      response.write('{"jsonrpc":"2.0","result":{"blockhash":"');
      for (let megabyte = 0; megabyte < 50; megabyte++) response.write(MEGABYTE);
      response.end(`"},"id":${asked.id}}`);
      return;
    case 'slow drip':
      dripForever(response);
      return;
    default:
      response.end(errorBody(asked, `{"code":${failure},"message":"${SECRET} says no"}`));
  }
}

/** Sends an answer that never ends. */
function dripForever(response: ServerResponse): void {
  response.write('{"jsonrpc":"2.0","result":"');
  const timer = setInterval(() => response.write('x'.repeat(1000)), 50);
  response.on('close', () => clearInterval(timer));
}
