import { Tally } from '../domain/tally.ts';
import { RequestMeter } from '../http/rest/request-meter.ts';
import { createServer, type ServerOptions } from '../http/server.ts';
import type { RouteReads } from '../routing/route-read-through.ts';
import { polledEvents } from '../runtime/polled-events.ts';
import { sleep } from '../runtime/sleep.ts';
import { Sealer } from '../serving/sealer.ts';
import type { Environment } from './environment.ts';
import type { Answers } from './open-answers.ts';
import type { Signing } from './open-signing.ts';
import type { State } from './open-state.ts';

export type OpenServer = ReturnType<typeof openServer>;

/** The bounds of frame delays, in seconds. */
const FRAME_DELAY_BOUNDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25];

/** Time between two looks at the connections that are left. */
const POLL_MS = 20;

/** Creates what answers requests; it does not listen yet. */
export function openServer(
  { config, engine, log, clock, random, disposals }: Environment,
  { access, site, openApiDocument }: State,
  { signer }: Pick<Signing, 'signer'>,
  { cache, context, readThrough, liveSources }: Omit<Answers, 'readThrough'> & { readonly readThrough: RouteReads },
  elsewhere: Pick<ServerOptions, 'sharesPort' | 'answerRpc'> = {},
) {
  const sealer = new Sealer({ ...config.cache, cache, signer, clock });
  const meter = new RequestMeter({
    clock,
    slowMs: config.log.slowMs,
    onSlow: ({ ms, ...request }, omitted) =>
      log.info({ ...request, ms: Math.round(ms), ...(omitted > 0 && { omitted }) }, 'a slow request'),
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
    context,
    readThrough,
    sealer,
    access,
    meter,
    maxBodyBytes: config.limits.bodyBytes,
    owedBytes: config.limits.owedBytes,
    openApiDocument,
    site,
    stream: config.stream,
    onInternalError: (requestId: string, err: unknown) => log.error({ requestId, err }, 'a request met a defect'),
  });
  disposals.defer(() => server.close());
  for (const source of liveSources.toReversed()) disposals.defer(() => source.close());
  return { server, sealer, frameDelays: new Tally(FRAME_DELAY_BOUNDS) };
}

/**
 * Listens, and returns the address. At the end the server takes no new connections first of all, and goes on until the last
 * one is closed, or for `drainMs`: a connection that is cut off may have a request on its way.
 */
export async function listen(
  { config, log, clock, disposals }: Environment,
  { server }: Pick<OpenServer, 'server'>,
): Promise<string> {
  const { host, drainMs } = config;
  disposals.defer(async () => {
    server.drain();
    const { connections } = server;
    if (connections > 0 && drainMs > 0) log.info({ connections }, 'waiting for the last connections to close');
    const deadlineMs = clock.monotonic() + drainMs;
    while (server.connections > 0 && clock.monotonic() < deadlineMs) await sleep(clock, POLL_MS);
  });
  const port = await server.listen();
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
