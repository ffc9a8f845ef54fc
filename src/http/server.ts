import {
  App,
  type HttpResponse,
  type TemplatedApp,
  type us_listen_socket,
  us_listen_socket_close,
  us_socket_local_port,
} from 'uWebSockets.js';
import { addressKeyOf } from '../access/limits/rate-limit-key.ts';
import type { Entry } from '../cache/entry.ts';
import type { Clock } from '../domain/clock.ts';
import type { NetworkSnapshot } from '../domain/network-snapshot.ts';
import { StartError } from '../domain/start-error.ts';
import { AllowedSources, type SourceLimits } from './engine/allowed-sources.ts';
import { BodySender } from './engine/body-sender.ts';
import type { OwedBytesLimits } from './engine/owed-bytes.ts';
import { PipeliningDetector } from './engine/pipelining-detector.ts';
import { createRequestHandlers, type RequestHandlerDeps } from './rest/request-handler.ts';
import type { RequestMeter } from './rest/request-meter.ts';
import { AccountTopics } from './stream/account-topics.ts';
import { type StreamFigures, StreamServer } from './stream/stream-server.ts';

export interface ServerOptions
  extends Omit<RequestHandlerDeps, 'pendingResponses' | 'pipelining' | 'sources'>,
    SourceLimits {
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

/** The engine's `listen` accepts host and options together; its types declare only one of them at a time. */
interface ExclusiveListen {
  listen(host: string, port: number, options: number, done: (socket: us_listen_socket | false) => void): TemplatedApp;
}

/** The engine's flags LIBUS_LISTEN_DEFAULT, and LIBUS_LISTEN_EXCLUSIVE_PORT: another process can't listen on the same port. */
const SHARED_PORT = 0;
const EXCLUSIVE_PORT = 1;

/**
 * Counts new connections, and closes those that are over the limit. It does so at once: the engine's handle of a
 * connection without a request is valid during this call only.
 */
const acceptConnections =
  ({ access, onInternalError }: Pick<ServerOptions, 'access' | 'onInternalError'>, pipelining: PipeliningDetector) =>
  (res: HttpResponse, delta: number): void => {
    if (delta <= 0) return;
    try {
      const address = res.getRemoteAddress();
      if (access.connectionLimiter.accepts(address)) pipelining.countConnection(addressKeyOf(address));
      else res.close();
    } catch (thrown) {
      onInternalError('a new connection', thrown); // an exception that leaves this function ends the process
    }
  };

/** Creates the gateway's only listener, which doesn't listen yet. */
export function createServer(options: ServerOptions): Server {
  const { host, port, context, sharesPort = false } = options;
  const app = App();
  const pipelining = new PipeliningDetector(options.polledEvents);
  app.filter(acceptConnections(options, pipelining));
  let connections = 0;
  const countConnection = (_: HttpResponse, delta: number): void => {
    connections += Math.sign(delta);
  };
  app.filter(countConnection);
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
  const {
    get,
    head,
    post,
    options: preflight,
    other,
  } = createRequestHandlers({ ...options, sources, pipelining, pendingResponses });
  app.get('/*', get).head('/*', head).post('/*', post).options('/*', preflight).any('/*', other);

  let socket: us_listen_socket | undefined;

  const drain = (): void => {
    if (socket !== undefined) us_listen_socket_close(socket);
    socket = undefined;
    stream.close();
  };

  return {
    listen: () =>
      new Promise((resolve, reject) => {
        // Without this flag a second gateway would silently share the port.
        (app as unknown as ExclusiveListen).listen(host, port, sharesPort ? SHARED_PORT : EXCLUSIVE_PORT, (token) => {
          if (token) {
            socket = token;
            resolve(us_socket_local_port(token));
          } else {
            const reason = 'the port is in use, or this machine does not have the address';
            reject(new StartError(1, `can't listen on ${host}:${port}: ${reason}`));
          }
        });
      }),
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
