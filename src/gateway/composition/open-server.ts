import type { AccountChangeSource } from '../../shared/domain/account-change.ts';
import { maxConnectionsOf, readMaxOpenFiles } from '../../shared/runtime/max-open-files.ts';
import { sleep } from '../../shared/runtime/sleep.ts';
import { Tally } from '../../shared/runtime/tally.ts';
import { addressText } from '../access/limits/client-ip.ts';
import type { ReadEvents } from '../http/events/event-log.ts';
import { AnswerCounts } from '../http/rest/answer-counts.ts';
import { createServer, type ServerOptions } from '../http/server.ts';
import type { LogSource } from '../live/logs/live-logs.ts';
import type { RouteReads } from '../routes/routing/route-read-through.ts';
import { Sealer } from '../serving/sealer.ts';
import type { Environment } from './environment.ts';
import type { Answers } from './open-answers.ts';
import type { Signing } from './open-signing.ts';
import type { State } from './open-state.ts';

export type OpenServer = ReturnType<typeof openServer>;

/** The bounds of frame delays, in seconds. */
const FRAME_DELAY_BOUNDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25];

/** The last port; no other follows it. */
const MAX_PORT = 65_535;

const POLL_MS = 20;

/** Creates what answers requests; it does not listen yet. */
export function openServer(
  { config, engine, log, clock, random, turnBudget, disposals }: Environment,
  { access, site }: State,
  { signer }: Pick<Signing, 'signer'>,
  {
    cache,
    context,
    readEvents,
    readThrough,
    liveAccounts,
    liveLogs,
    liveSources,
  }: Omit<Answers, 'readThrough' | 'readEvents' | 'liveAccounts' | 'liveLogs'> & {
    readonly readThrough: RouteReads;
    readonly readEvents: ReadEvents;
    readonly liveAccounts: AccountChangeSource;
    readonly liveLogs: LogSource;
  },
  elsewhere: Pick<ServerOptions, 'sharesPort' | 'answerRpc'> = {},
) {
  const sealer = new Sealer({ ...config.cache, cache, signer, clock });
  const answerCounts = new AnswerCounts({
    clock,
    slowMs: config.log.slowMs,
    onSlow: ({ ms, ...request }, omitted) =>
      log.info({ ...request, ms: Math.round(ms), ...(omitted > 0 && { omitted }) }, 'a slow request'),
    onUntrustedProxy: (address) =>
      log.warn(
        { peer: addressText(address) },
        'a caller that sends X-Forwarded-For was refused: if this peer is your proxy, list it in trustedProxies, as all callers behind it count as one',
      ),
  });
  const server = createServer({
    ...elsewhere,
    engine,
    host: config.host,
    port: config.port,
    hosts: config.hosts,
    origins: config.origins,
    clock,
    random,
    polledEvents,
    startCpuStopwatch,
    maxConnections: maxConnectionsOf(readMaxOpenFiles()),
    context,
    readThrough,
    liveAccounts,
    liveLogs,
    readEvents,
    sealer,
    access,
    answerCounts,
    maxBodyBytes: config.limits.bodyBytes,
    turnBudget,
    pendingBytes: config.limits.pendingBytes,
    site,
    hasPages: config.pages,
    stream: config.stream,
    onInternalError: (requestId: string, err: unknown) => log.error({ requestId, err }, 'a request met a defect'),
  });
  disposals.defer(() => server.close());
  for (const source of liveSources.toReversed()) disposals.defer(() => source.close());
  return { server, sealer, frameDelays: new Tally(FRAME_DELAY_BOUNDS) };
}

/**
 * Listens, and returns the address. At the end the server accepts no new connections first of all, and goes on until the last
 * one is closed, or for `drainTimeoutMs`: a connection that is cut off may have a request on its way. With `closesIdle` it goes on
 * until the last request is answered.
 */
export async function listen(
  { config, log, clock, disposals }: Environment,
  { server }: Pick<OpenServer, 'server'>,
  closesIdle = false,
): Promise<string> {
  const { host, drainTimeoutMs } = config;
  disposals.defer(async () => {
    server.drain();
    const isInUse = (): boolean =>
      closesIdle ? server.pendingResponses > 0 || server.pendingBytes > 0 : server.connections > 0;
    const { connections } = server;
    if (isInUse() && drainTimeoutMs > 0) log.info({ connections }, 'waiting for the last connections to close');
    const deadlineMs = clock.monotonic() + drainTimeoutMs;
    while (isInUse() && clock.monotonic() < deadlineMs) await sleep(clock, POLL_MS);
  });
  const port = await server.listen();
  if (config.rpc.nextPort && config.port > 0 && config.port < MAX_PORT) {
    const message = (await server.listenNext())
      ? `port ${port + 1} is open too, for clients that expect Solana's pubsub there`
      : `port ${port + 1} is in use: clients that expect Solana's pubsub there must name its address`;
    log.info({}, message);
  }
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Those of the turn under way count from its end: a turn has one for each socket that had something to read. */
const polledEvents = (): number => performance.nodeTiming.uvMetricsInfo.events;

/** In milliseconds. Where Node has no `threadCpuUsage` it is at most what all threads used, and at most the time that has passed. */
function startCpuStopwatch(): () => number {
  const startedMs = performance.now();
  const startedCpuMs = cpuTimeMs();
  return () => Math.min(performance.now() - startedMs, cpuTimeMs() - startedCpuMs);
}

function cpuTimeMs(): number {
  const { threadCpuUsage = process.cpuUsage } = process as { readonly threadCpuUsage?: typeof process.cpuUsage };
  const { user, system } = threadCpuUsage.call(process);
  return (user + system) / 1000;
}
