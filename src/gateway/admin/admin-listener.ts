import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { StartError } from '../../shared/domain/start-error.ts';
import type { Log } from '../../shared/runtime/log.ts';
import { makeRoom } from '../../shared/runtime/make-room.ts';
import { describeProblems } from '../upstream/mesh/node-problems.ts';
import { type AdminAnswer, type AdminPage, escapeHtml, html, plain } from './admin-page.ts';
import type { AdminSources } from './admin-sources.ts';
import { metricsOf } from './metrics.ts';
import { createMetricsPage } from './metrics-page.ts';
import { checkReadiness, formatChecks, isReady } from './readiness.ts';
import { createStatusPage } from './status-page.ts';
import { createUsagePage } from './usage-page.ts';

export interface AdminListenerOptions {
  readonly sources: AdminSources;
  /** Whether the configured port must be it: else the next free one is bound. */
  readonly isPortChosen: boolean;
  readonly log: Log;
}

export interface AdminListener {
  readonly url: string;
  close(): Promise<void>;
}

/** The most connections that stay open: a scraper, some probes, and an operator's browser. */
const MAX_CONNECTIONS = 64;

/** The most sockets, those included that are about to make room: each needs a file descriptor of the gateway. */
const MAX_SOCKETS = 4096;

/** The longest time for the head of a request, and the time between two checks of it, in milliseconds. */
const REQUEST_TIMEOUT_MS = 5000;
const LOOK_MS = 1000;
const PORTS_TO_TRY = 20;
const LOOPBACK_ADDRESS = /^(127\.|::1$|::ffff:127\.)/;

/** The names of this machine for itself. A web page of a foreign name that leads here comes with that name (DNS rebinding). */
const LOOPBACK_HOST = /^(localhost|[a-z0-9-]+\.localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?$/i;

export async function openAdminListener(options: AdminListenerOptions): Promise<AdminListener | undefined> {
  const { sources, log } = options;
  const { host, port } = sources.config.admin;
  if (port === null) return undefined;
  const server = createServer({
    headersTimeout: REQUEST_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionsCheckingInterval: LOOK_MS,
  });
  server.maxConnections = MAX_SOCKETS;
  makeRoom(server, MAX_CONNECTIONS, sources.context.clock);
  const bound = await listen(server, port, options);
  server.on('error', () => {}); // it is about one connection that the system could not accept
  const isLocal = LOOPBACK_ADDRESS.test(bound.address);
  if (!isLocal) log.warn({}, `metrics, status and usage are served to anybody that reaches ${urlOf(bound)}`);
  if (port !== 0 && bound.port !== port)
    log.warn({}, `port ${port} of ${host} is in use: metrics, probes and status are at ${urlOf(bound)}`);
  const pages = pagesOf(sources);
  const { port: apiPort } = sources.config;
  const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
    const begin = (): void => void answer(request, response, pages, log, { isLocal, apiPort });
    const isPipelined = response.socket === null;
    if (isPipelined)
      response.on('socket', () => setImmediate(begin)); // one page in a turn
    else begin();
  };
  server.on('request', onRequest); // also for an upgrade, for which nothing else listens
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

function pagesOf(sources: AdminSources): ReadonlyMap<string, AdminPage> {
  const { workers } = sources;
  const metrics = metricsOf(sources).map((metric) => workers?.spread(metric) ?? metric);
  return new Map<string, AdminPage>([
    ['/', createIndexPage(sources)],
    ['/metrics', createMetricsPage(metrics)],
    ['/livez', () => plain(200, 'ok')],
    ['/readyz', () => plain(isReady(sources) ? 200 : 503, formatChecks(checkReadiness(sources)))],
    ['/statusz', createStatusPage(sources)],
    ['/usage.json', createUsagePage(sources.config.dataDir)],
  ]);
}

const LINKS: readonly (readonly [path: string, what: string])[] = [
  ['statusz', 'the state at a glance, with the settings in force'],
  ['readyz', 'whether balancers should send requests'],
  ['livez', 'whether the process runs'],
  ['metrics', 'for Prometheus'],
  ['usage.json', 'requests and units by day, API key and route'],
];

/** Names the table of the alerts: one may be about something that ended, or that only counters show. */
const alertsPlace = (hasPages: boolean): string =>
  `${hasPages ? "/docs/operate#operate-alerts, at the gateway's own address," : 'src/pages/docs/chapters/operate.md of the sources'} says what each alert means and where to look.`;

const createIndexPage =
  (sources: AdminSources): AdminPage =>
  () => {
    const { context, config } = sources;
    const known = context.problems();
    const isKnown = (problem: string | null): boolean =>
      problem !== null && known.some((text) => text.startsWith(problem));
    const problems = [
      ...checkReadiness(sources).flatMap(({ name, problem }) => (problem === undefined ? [] : [`${name}: ${problem}`])),
      ...describeProblems(context.mesh.nodes().filter(({ problem }) => !isKnown(problem))),
      ...known,
    ];
    const list = (items: readonly string[]): string => `<ul>${items.map((item) => `<li>${item}`).join('')}</ul>`;
    const links = list(LINKS.map(([path, what]) => `<a href="${path}">/${path}</a>: ${what}`));
    const state =
      problems.length === 0 ? '<p>It is ready, and its nodes are in order.' : list(problems.map(escapeHtml));
    const alerts = `<p>${alertsPlace(config.pages)}`;
    return html('slotgate, for operators', `<h1>slotgate ${escapeHtml(context.version)}</h1>${state}${alerts}${links}`);
  };

const urlOf = ({ address, family, port }: AddressInfo): string =>
  `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;

async function listen(
  server: Server,
  port: number,
  { sources: { config }, isPortChosen }: AdminListenerOptions,
): Promise<AddressInfo> {
  const { host } = config.admin;
  const free = nextPorts(port).filter((next) => next !== config.port); // not that for callers, which is bound later
  const ports = isPortChosen || port === 0 ? [port] : [...free, 0];
  for (const candidate of ports) {
    try {
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
  pages: ReadonlyMap<string, AdminPage>,
  log: Log,
  { isLocal, apiPort }: { readonly isLocal: boolean; readonly apiPort: number },
): Promise<void> {
  const { method = '', url = '/', headers, headersDistinct } = request;
  const [path = '/', query = ''] = url.split('?', 2);
  const send = ({ status, contentType, body }: AdminAnswer, more: Record<string, string> = {}): void => {
    response.writeHead(status, {
      'Content-Type': contentType,
      'Content-Length': Buffer.byteLength(body),
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
      'Content-Security-Policy': "default-src 'none'",
      ...more,
    });
    response.end(method === 'HEAD' ? undefined : body);
  };
  try {
    if ((headersDistinct['host']?.length ?? 0) > 1)
      return send(plain(400, 'the request has more than one Host'), { Connection: 'close' });
    if (isLocal && !LOOPBACK_HOST.test(headers.host ?? ''))
      return send(plain(403, 'this listener answers to names of this machine only, such as localhost'));
    if (headers.upgrade !== undefined) {
      const where = `of the gateway's own port${apiPort === 0 ? '' : `, ${apiPort}`}`;
      const sentence = `this listener is for operators: WebSockets are at /api/v1/rpc (Solana's pubsub) and /api/v1/stream ${where}`;
      return send(plain(404, sentence), { Connection: 'close' });
    }
    if (method !== 'GET' && method !== 'HEAD')
      return send(plain(405, 'this listener accepts GET and HEAD'), { Allow: 'GET, HEAD' });
    const page = pages.get(path);
    if (page === undefined) return send(plain(404, `there are ${[...pages.keys()].join(', ')}`));
    send(await page(new URLSearchParams(query)));
  } catch (err) {
    log.error({ path, err }, 'the listener for operators met a defect');
    if (!response.headersSent) send(plain(500, 'a defect of the gateway; its log has the cause'));
  }
}
