import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { StartError } from '../domain/start-error.ts';

/** What is answered to a request. */
export interface AdminAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

/** Answers a GET; `query` has the parameters of its URL. */
export type AdminPage = (query: URLSearchParams) => AdminAnswer | Promise<AdminAnswer>;

export interface AdminListenerOptions {
  readonly host: string;
  /** The port; 0 for a free one. */
  readonly port: number;
  /** Whether that port must be it: else the next one that is free is taken. */
  readonly isPortChosen: boolean;
  /** The port that callers come to, which is not to be taken. */
  readonly callersPort: number;
  readonly pages: ReadonlyMap<string, AdminPage>;
  /** Called with a warning for the operator. */
  readonly onWarning: (message: string) => void;
  /** Called with the defect behind a 500. */
  readonly onDefect: (path: string, defect: unknown) => void;
}

/** The listener for operators. */
export interface AdminListener {
  readonly url: string;
  close(): Promise<void>;
}

/** The most connections at one time: a scraper, some probes, and an operator's browser. */
const MAX_CONNECTIONS = 64;

/** The longest time for the head of a request, in milliseconds. */
const REQUEST_TIMEOUT_MS = 5000;

/** How many ports are tried after one that is taken. */
const PORTS_TO_TRY = 20;

const LOOPBACK_ADDRESS = /^(127\.|::1$|::ffff:127\.)/;

/** The names of this machine for itself. A web page of a foreign name that leads here comes with that name (DNS rebinding). */
const LOOPBACK_HOST = /^(localhost|[a-z0-9-]+\.localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?$/i;

/** Opens the listener. Throws a StartError if it can't listen. */
export async function openAdminListener(options: AdminListenerOptions): Promise<AdminListener> {
  const { host, port, onWarning } = options;
  const server = createServer({ headersTimeout: REQUEST_TIMEOUT_MS, requestTimeout: REQUEST_TIMEOUT_MS });
  server.maxConnections = MAX_CONNECTIONS;
  const bound = await listen(server, options);
  const isLocal = LOOPBACK_ADDRESS.test(bound.address);
  if (!isLocal) onWarning(`metrics, status and usage are served to whoever reaches ${urlOf(bound)}`);
  if (port !== 0 && bound.port !== port)
    onWarning(`port ${port} of ${host} is in use: metrics, probes and status are at ${urlOf(bound)}`);
  server.on('request', (request, response) => void answer(request, response, options, isLocal));
  return {
    url: urlOf(bound),
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

const urlOf = ({ address, family, port }: AddressInfo): string =>
  `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;

async function listen(server: Server, options: AdminListenerOptions): Promise<AddressInfo> {
  const { host, port, isPortChosen, callersPort } = options;
  const ports = isPortChosen || port === 0 ? [port] : [...nextPorts(port), 0];
  for (const candidate of ports) {
    if (candidate === callersPort && candidate !== 0 && !isPortChosen) continue;
    try {
      if (candidate === callersPort && candidate !== 0) throw Object.assign(new Error(), { code: 'EADDRINUSE' });
      server.listen({ host, port: candidate });
      await once(server, 'listening');
      return server.address() as AddressInfo; // null and text only for other kinds of sockets
    } catch (thrown) {
      const { code } = Object(thrown);
      const isLast = candidate === ports.at(-1);
      if (code !== 'EADDRINUSE' || isLast) throw cantListen(`${host}:${candidate}`, code, thrown);
    }
  }
  throw new Error('no port was tried');
}

const nextPorts = (port: number): readonly number[] =>
  Array.from({ length: PORTS_TO_TRY }, (_, i) => port + i).filter((next) => next <= 65_535);

function cantListen(where: string, code: unknown, cause: unknown): StartError {
  const reasons: Record<string, string> = {
    EADDRINUSE: 'the port is in use; --admin-port chooses another, --admin-port null none',
    EADDRNOTAVAIL: 'this machine does not have the address of admin.host',
    EACCES: 'the system reserves the port for privileged processes; --admin-port chooses another',
  };
  const reason = reasons[String(code)] ?? String(cause);
  return new StartError(1, `can't listen on ${where} for metrics, probes and status: ${reason}`, cause);
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { pages, onDefect }: AdminListenerOptions,
  isLocal: boolean,
): Promise<void> {
  const { method = '', url = '/', headers } = request;
  const [path = '/', query = ''] = url.split('?', 2);
  const send = ({ status, contentType, body }: AdminAnswer, more: Record<string, string> = {}): void => {
    response.writeHead(status, {
      'Content-Type': contentType,
      'Content-Length': Buffer.byteLength(body),
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
      ...more,
    });
    response.end(method === 'HEAD' ? undefined : body);
  };
  try {
    if (isLocal && !LOOPBACK_HOST.test(headers.host ?? ''))
      return send(plain(403, 'this listener answers to names of this machine only, such as localhost'));
    if (method !== 'GET' && method !== 'HEAD')
      return send(plain(405, 'this listener takes GET and HEAD'), { Allow: 'GET, HEAD' });
    const page = pages.get(path);
    if (page === undefined) return send(plain(404, `there are ${[...pages.keys()].join(', ')}`));
    send(await page(new URLSearchParams(query)));
  } catch (thrown) {
    onDefect(path, thrown);
    if (!response.headersSent) send(plain(500, 'a defect of the gateway; its log has the cause'));
  }
}

/** Returns an answer in plain text. */
export const plain = (status: number, text: string): AdminAnswer => ({
  status,
  contentType: 'text/plain; charset=utf-8',
  body: `${text}\n`,
});

/** Returns an answer in JSON. */
export const json = (value: unknown): AdminAnswer => ({
  status: 200,
  contentType: 'application/json; charset=utf-8',
  body: `${JSON.stringify(value, undefined, 2)}\n`,
});
