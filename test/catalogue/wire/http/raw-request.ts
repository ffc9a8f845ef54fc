/** The name that requests are sent to; any will do. */
const HOST = 'gateway.example';

/** A request of which each part is as given. */
export const request = (line: string, ...headers: readonly string[]): string =>
  `${line} HTTP/1.1\r\n${[`Host: ${HOST}`, ...headers].map((header) => `${header}\r\n`).join('')}\r\n`;

/** A request for what the gateway always has at hand. */
export const get = (...headers: readonly string[]): string => request('GET /api/v1/slot', ...headers);

/** A call that is answered without a node: its body follows. */
export const post = (...headers: readonly string[]): string =>
  request('POST /api/v1/rpc', 'Content-Type: application/json', ...headers);

export const CALL = '{"method":"getSlot"}';

/** The call with the length that it has. */
export const call = (...headers: readonly string[]): string =>
  post(`Content-Length: ${CALL.length}`, ...headers) + CALL;

export const CHUNKED = 'Transfer-Encoding: chunked';

/** A body in chunks. */
export const chunks = (...parts: readonly string[]): string =>
  [...parts, ''].map((part) => `${part.length.toString(16)}\r\n${part}\r\n`).join('');
