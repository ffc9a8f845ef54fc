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
import { type Deps, handlers } from './rest/serve.ts';
import { Pushes } from './stream/pushes.ts';
import { openStream } from './stream/stream.ts';

export interface ServerOptions extends Omit<Deps, 'owed'> {
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
  readonly pending: number;
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
const atDoor =
  ({ access, onDefect }: Pick<ServerOptions, 'access' | 'onDefect'>) =>
  (res: HttpResponse, change: number): void => {
    const isNew = change > 0;
    try {
      if (isNew && !access.connectionLimiter.accepts(res.getRemoteAddress())) res.close();
    } catch (thrown) {
      onDefect('a new connection', thrown); // what leaves this function ends the process
    }
  };

/** Opens the only door of the gateway. Rejects with a StartError when the port can't be had. */
export async function listen(options: ServerOptions): Promise<Server> {
  const { host, port, context } = options;
  const app = App();
  app.filter(atDoor(options));
  const owed = { count: 0 };
  const { clock, answers, sealer } = options;
  const stream = openStream(app, {
    ...options,
    ...options.stream,
    pushes: new Pushes({ clock, answers, sealer, watch: context.watch }),
    owed,
    isDraining: () => context.isDraining(),
  });
  const { get, head, post, options: preflight, other } = handlers({ ...options, owed });
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
    get pending() {
      return owed.count;
    },
    publish: stream.publish,
    drain,
    close() {
      drain();
      app.close();
    },
  };
}
