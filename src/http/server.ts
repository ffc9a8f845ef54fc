import { addressKeyOf } from '../access/limits/rate-limit-key.ts';
import type { Entry } from '../cache/entry.ts';
import type { Clock } from '../domain/clock.ts';
import { GatewayError } from '../domain/gateway-error.ts';
import type { NetworkSnapshot } from '../domain/network-snapshot.ts';
import { AllowedSources, type SourceLimits } from './engine/allowed-sources.ts';
import { BodySender } from './engine/body-sender.ts';
import { type Engine, type EngineConnection, MAX_HEAD_BYTES, type UnparsableFault } from './engine/engine.ts';
import type { OwedBytesLimits } from './engine/owed-bytes.ts';
import { PipeliningDetector } from './engine/pipelining-detector.ts';
import { createRequestHandlers, type RequestHandlerDeps } from './rest/request-handler.ts';
import type { RequestMeter } from './rest/request-meter.ts';
import { errorResponse } from './rest/responses.ts';
import { AccountTopics } from './stream/account-topics.ts';
import { type StreamFigures, StreamServer } from './stream/stream-server.ts';

export interface ServerOptions
  extends Omit<RequestHandlerDeps, 'pendingResponses' | 'pipelining' | 'sources'>,
    SourceLimits {
  readonly engine: Engine;
  readonly host: string;
  /** TCP port; 0 takes a free one. */
  readonly port: number;
  readonly clock: Clock;
  readonly random: () => number;
  /** Returns the number of I/O events that the event loop has handled up to this turn. */
  readonly polledEvents: () => number;
  readonly owedBytes: OwedBytesLimits;
  readonly stream: { readonly maxBackpressureBytes: number };
  /** Whether other processes of this machine listen on the same port. Default: none may. */
  readonly sharesPort?: boolean;
}

export interface Server {
  readonly subscribers: number;
  /** The figures of the stream. */
  readonly stream: StreamFigures;
  /** What was answered. */
  readonly meter: RequestMeter;
  /** The bytes of answers that their readers have not taken yet. */
  readonly owedBytes: number;
  /** The number of requests that are not answered yet. */
  readonly pendingResponses: number;
  /** The number of open connections. */
  readonly connections: number;
  /** Starts to listen; resolves to the port. Rejects with a StartError if it can't. */
  listen(): Promise<number>;
  /** Sends one frame to every subscriber of the stream. */
  publish(entry: Entry, snapshot: NetworkSnapshot): void;
  /** Refuses new connections and closes the streams. Pending requests are still answered. */
  drain(): void;
  /** Drains, and closes all connections at once. */
  close(): void;
}

/**
 * Counts new connections, and closes those that are over the limit. The engine's handle of a connection without a request
 * is valid during this call only.
 */
const acceptConnection =
  ({ access, onInternalError }: Pick<ServerOptions, 'access' | 'onInternalError'>, pipelining: PipeliningDetector) =>
  (connection: EngineConnection): void => {
    try {
      const address = connection.getRemoteAddress();
      if (access.connectionLimiter.accepts(address)) pipelining.countConnection(addressKeyOf(address));
      else connection.close();
    } catch (thrown) {
      onInternalError('a new connection', thrown); // an exception that leaves this function ends the process
    }
  };

const unparsableError = (fault: UnparsableFault): GatewayError =>
  fault === 'malformed'
    ? new GatewayError('invalid_request', 'this is no valid HTTP request')
    : new GatewayError('headers_too_large', `the request line and the headers are longer than ${MAX_HEAD_BYTES} bytes`);

/** Creates the gateway's only listener, which doesn't listen yet. */
export function createServer(options: ServerOptions): Server {
  const { engine, host, port, context, sharesPort = false, access, onInternalError } = options;
  const app = engine.createApp({
    clock: options.clock,
    readsProxyHeaders: access.clientIp.trustsProxies,
    refuseUnparsable: (fault, peer) =>
      errorResponse(access.rateLimiter.peek(peer), unparsableError(fault), onInternalError),
  });
  const pipelining = new PipeliningDetector(options.polledEvents);
  let connections = 0;
  app.onConnect(() => {
    connections++;
  });
  app.onConnect(acceptConnection(options, pipelining));
  app.onDisconnect(() => {
    connections--;
  });
  const pendingResponses = { count: 0, bodies: new BodySender(options) };
  const { clock, readThrough, sealer } = options;
  const sources = new AllowedSources(options);
  const stream = new StreamServer(app, {
    ...options,
    sources,
    ...options.stream,
    accountTopics: new AccountTopics({ clock, readThrough, sealer, liveAccounts: context.liveAccounts }),
    pendingResponses,
  });
  app.handleRequests(createRequestHandlers({ ...options, sources, pipelining, pendingResponses }));

  const drain = (): void => {
    app.stopListening();
    stream.close();
  };

  return {
    listen: () => app.listen(host, port, sharesPort),
    get connections() {
      return connections - stream.ended; // the engine doesn't tell its filters that a WebSocket was closed
    },
    get subscribers() {
      return stream.subscribers;
    },
    get stream() {
      return stream.figures;
    },
    meter: options.meter,
    get owedBytes() {
      return pendingResponses.bodies.owed.total;
    },
    get pendingResponses() {
      return pendingResponses.count;
    },
    publish: (entry, snapshot) => stream.publish(entry, snapshot),
    drain,
    close() {
      drain();
      app.close();
    },
  };
}
