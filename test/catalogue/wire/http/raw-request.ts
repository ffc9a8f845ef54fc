/** Host name of the requests; any is accepted. */
const HOST = 'gateway.example';

export const request = (line: string, ...headers: readonly string[]): string =>
  `${line} HTTP/1.1\r\n${[`Host: ${HOST}`, ...headers].map((header) => `${header}\r\n`).join('')}\r\n`;

/** Builds a request that is always a cache hit. */
export const get = (...headers: readonly string[]): string => request('GET /api/v1/slot', ...headers);

/** Builds the header of a POST to /rpc; the body follows. */
export const post = (...headers: readonly string[]): string =>
  request('POST /api/v1/rpc', 'Content-Type: application/json', ...headers);

export const CALL = '{"method":"getSlot"}';

/** Builds the call with its correct length. */
export const call = (...headers: readonly string[]): string =>
  post(`Content-Length: ${CALL.length}`, ...headers) + CALL;

export const CHUNKED = 'Transfer-Encoding: chunked';

export const chunks = (...parts: readonly string[]): string =>
  [...parts, ''].map((part) => `${part.length.toString(16)}\r\n${part}\r\n`).join('');
