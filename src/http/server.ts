import {
  App,
  type HttpResponse,
  type TemplatedApp,
  type us_listen_socket,
  us_listen_socket_close,
  us_socket_local_port,
} from 'uWebSockets.js';
import type { Entry } from '../cache/entry.ts';
import type { Clock } from '../domain/clock.ts';
import type { NetworkSnapshot } from '../domain/network-snapshot.ts';
import { StartError } from '../domain/start-error.ts';
import { createRequestHandlers, type RequestHandlerDeps } from './rest/request-handler.ts';
import { AccountTopics } from './stream/account-topics.ts';
import { openStreamServer } from './stream/stream-server.ts';

export interface ServerOptions extends Omit<RequestHandlerDeps, 'pendingResponses'> {
  readonly host: string;
  /** 0 takes a free port. */
  readonly port: number;
  readonly clock: Clock;
  readonly stream: { readonly maxBackpressureBytes: number };
}

export interface Server {
  readonly port: number;
  readonly subscribers: number;
  /** How many answers are still owed to callers. */
  readonly pendingResponses: number;
  /** Sends one frame to every subscriber of the stream. */
  publish(entry: Entry, snapshot: NetworkSnapshot): void;
  /** Takes no new connection, and says goodbye on the stream. What is under way is answered. */
  drain(): void;
  close(): void;
}

/** The engine takes host and options together; its types know only one of them at a time. */
interface ExclusiveListen {
  listen(host: string, port: number, options: number, done: (socket: us_listen_socket | false) => void): TemplatedApp;
}

/** LIBUS_LISTEN_EXCLUSIVE_PORT */
const EXCLUSIVE_PORT = 1;

/** Closes connections that may not come in. At once: the engine's handle of one that says nothing is good for one call. */
const refuseExcessConnections =
  ({ access, onInternalError }: Pick<ServerOptions, 'access' | 'onInternalError'>) =>
  (res: HttpResponse, delta: number): void => {
    const isNew = delta > 0;
    try {
      if (isNew && !access.connectionLimiter.accepts(res.getRemoteAddress())) res.close();
    } catch (thrown) {
      onInternalError('a new connection', thrown); // what leaves this function ends the process
    }
  };

/** Opens the only door of the gateway. Rejects with a StartError when the port can't be had. */
export async function listen(options: ServerOptions): Promise<Server> {
  const { host, port, context } = options;
  const app = App();
  app.filter(refuseExcessConnections(options));
  const pendingResponses = { count: 0 };
  const { clock, readThrough, sealer } = options;
  const stream = openStreamServer(app, {
    ...options,
    ...options.stream,
    accountTopics: new AccountTopics({ clock, readThrough, sealer, liveAccounts: context.liveAccounts }),
    pendingResponses,
    isDraining: () => context.isDraining(),
  });
  const { get, head, post, options: preflight, other } = createRequestHandlers({ ...options, pendingResponses });
  app.get('/*', get).head('/*', head).post('/*', post).options('/*', preflight).any('/*', other);

  const socket = await new Promise<us_listen_socket>((resolve, reject) => {
    // Without this a second gateway would share the port in silence.
    (app as unknown as ExclusiveListen).listen(host, port, EXCLUSIVE_PORT, (token) => {
      if (token) resolve(token);
      else reject(new StartError(1, `can't listen on ${host}:${port}: the port is taken, or the address is not here`));
    });
  });
  let isOpen = true;

  const drain = (): void => {
    if (isOpen) us_listen_socket_close(socket);
    isOpen = false;
    stream.close();
  };

  return {
    port: us_socket_local_port(socket),
    get subscribers() {
      return stream.subscribers;
    },
    get pendingResponses() {
      return pendingResponses.count;
    },
    publish: stream.publish,
    drain,
    close() {
      drain();
      app.close();
    },
  };
}
