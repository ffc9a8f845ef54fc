import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Clock } from '../../shared/domain/clock.ts';
import type { InjectedFaults } from './injected-faults.ts';

const MAX_BODY_BYTES = 50 * 1024;

interface HttpHandlerDeps {
  readonly faults: InjectedFaults;
  readonly clock: Clock;
  readonly answer: (text: string) => string;
}

/** Headers of the answer to a preflight: as with a node, pages of any origin may call. */
const PREFLIGHT = {
  allow: 'OPTIONS, POST',
  'access-control-allow-methods': 'OPTIONS, POST',
  'access-control-allow-headers': '*',
  'access-control-max-age': '86400',
};

/** Creates the HTTP handler of a node: JSON-RPC for POST, a preflight for OPTIONS; all else is refused with a text. */
export function createHttpHandler({ faults, clock, answer }: HttpHandlerDeps): RequestListener {
  const respond = (response: ServerResponse, text: string): void => {
    if (faults.rateLimitedRequests > 0) {
      faults.rateLimitedRequests--;
      respondRateLimited(response, faults.retryAfterSeconds);
      return;
    }
    const body = answer(text);
    response.setHeader('content-type', 'application/json; charset=utf-8').end(body === '' ? '' : `${body}\n`);
  };

  return (request, response) => {
    response.setHeader('access-control-allow-origin', '*');
    if (request.method === 'OPTIONS') return void response.writeHead(200, PREFLIGHT).end();
    if (request.method === 'GET' && request.url === '/health') return respondText(response, 200, 'ok');
    if (request.method !== 'POST') {
      return respondText(response, 405, 'Used HTTP Method is not allowed. POST or OPTIONS is required\n');
    }
    if (!isJson(request)) {
      const refusal = 'Supplied content type is not allowed. Content-Type: application/json is required\n';
      return respondText(response, 415, refusal);
    }
    readBody(request, (text) => {
      if (text === undefined) {
        response.setHeader('connection', 'close'); // the rest of the body is not read
        respondText(response, 413, 'request body size exceeds allowed maximum');
      } else if (faults.delayMs > 0) clock.after(faults.delayMs, () => respond(response, text));
      else respond(response, text);
    });
  };
}

function respondText(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(text);
}

/** Responds like a public endpoint that rate-limits its callers. */
function respondRateLimited(response: ServerResponse, retryAfter: number | undefined): void {
  if (retryAfter !== undefined) response.setHeader('retry-after', retryAfter);
  response
    .writeHead(429, { 'content-type': 'application/json; charset=utf-8' })
    .end('{"jsonrpc":"2.0","error":{"code":429,"message":"Too many requests for a specific RPC call"},"id":null}\n');
}

const isJson = ({ headers }: IncomingMessage): boolean =>
  headers['content-type']?.split(';')[0]?.trim().toLowerCase() === 'application/json';

function readBody(request: IncomingMessage, onBody: (text: string | undefined) => void): void {
  const chunks: Buffer[] = [];
  let length = 0;
  request.on('data', (chunk: Buffer) => {
    length += chunk.length;
    chunks.push(chunk);
    if (length <= MAX_BODY_BYTES) return;
    request.removeAllListeners('data').removeAllListeners('end').resume();
    onBody(undefined);
  });
  request.on('end', () => onBody(Buffer.concat(chunks).toString('utf8')));
}
