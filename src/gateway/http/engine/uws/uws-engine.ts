import type * as Uws from 'uWebSockets.js';
import { StartError } from '../../../../shared/domain/start-error.ts';
import { DeferredRequests } from '../deferred-requests.ts';
import type { Engine, EngineApp, EngineAppOptions, EngineRequest, EngineResponse, RequestHandler } from '../engine.ts';
import { PingFloods } from '../ping-floods.ts';
import { PipeliningBudget } from '../pipelining-budget.ts';
import { partsOf, type RawResponse, WHOLE_BODY_BYTES } from '../raw-response.ts';

/** The module of uWebSockets.js, from whichever package. */
export type UwsModule = typeof Uws;

/** `listen` accepts host and options together; the declared types know only one of them at a time. */
interface ListenOn {
  listen(
    host: string,
    port: number,
    options: number,
    done: (socket: Uws.us_listen_socket | false) => void,
  ): Uws.TemplatedApp;
}

/** Flags of the engine: LIBUS_LISTEN_DEFAULT, and LIBUS_LISTEN_EXCLUSIVE_PORT, without which a second gateway silently shares the port. */
const SHARED_PORT = 0;
const EXCLUSIVE_PORT = 1;

export const createUwsEngine = (identity: Omit<Engine, 'createApp'>, uws: UwsModule): Engine => ({
  ...identity,
  createApp: (options) => createUwsApp(uws, options),
});

function createUwsApp(
  { App, us_listen_socket_close, us_socket_local_port }: UwsModule,
  { startCpuStopwatch, refusePipelined }: EngineAppOptions,
): EngineApp {
  const app = App();
  const budget = new PipeliningBudget(startCpuStopwatch);
  const deferred = new DeferredRequests();
  const pingFloods = new PingFloods();
  let connections = 0;
  const countConnection = (_: unknown, delta: unknown): void => {
    connections += Number(delta);
  };
  app.filter(countConnection);
  let onDisconnect = (): void => {};
  /** Handles what a turn has room for. A request whose response is pending needs no budget: the engine closes the connection at the next. */
  const budgeted =
    (handler: RequestHandler, mayRefuse: boolean) =>
    (res: EngineResponse, req: EngineRequest): void => {
      const verdict = budget.admit(connections);
      if (verdict === 'serve') {
        if (!handler(res, req)) budget.countOther();
      } else if (verdict === 'refuse' && mayRefuse)
        refuse(res, refusePipelined(res.getRemoteAddress()), req.getHeader('connection').length === CLOSE_LENGTH);
      else deferred.defer(handler, res, req);
    };
  const listening: Uws.us_listen_socket[] = [];
  const stopListening = (): void => {
    for (const socket of listening.splice(0)) us_listen_socket_close(socket);
  };
  return {
    onConnect: (handler) => void app.filter((res, delta) => (Number(delta) > 0 ? handler(res) : undefined)),
    countOpen: () => 0,
    closeIdle: () => false, // it closes them itself, as late
    onDisconnect(handler) {
      onDisconnect = handler;
      app.filter((_, delta) => (Number(delta) < 0 ? handler() : undefined));
    },
    handleRequests: ({ get, head, post, options, other }) =>
      void app
        .get('/*', budgeted(get, true))
        .head('/*', budgeted(head, false)) // whose answer has no body to fill
        .post('/*', (res, req) => void post(res, req))
        .options('/*', budgeted(options, true))
        .any('/*', (res, req) => void other(res, req)),
    handleWebSockets: (path, behavior) =>
      void app.ws(path, {
        ...behavior,
        open(socket) {
          connections--;
          behavior.open(socket);
        },
        ping(socket) {
          if (pingFloods.isFlood(socket)) socket.close();
        },
        close(socket, code) {
          behavior.close(socket, code);
          onDisconnect(); // no filter is called when a WebSocket is closed
        },
        closeOnBackpressureLimit: false,
        sendPingsAutomatically: true,
      }),
    publish: (topic, message, isBinary) => void app.publish(topic, message, isBinary, false),
    listen: (host, port, sharesPort) =>
      new Promise((resolve, reject) => {
        (app as unknown as ListenOn).listen(host, port, sharesPort ? SHARED_PORT : EXCLUSIVE_PORT, (socket) => {
          if (socket) {
            listening.push(socket);
            resolve(us_socket_local_port(socket));
          } else {
            const reason = 'the port is in use, or this machine does not have the address';
            reject(new StartError(1, `can't listen on ${host}:${port}: ${reason}`));
          }
        });
      }),
    stopListening,
    close() {
      stopListening();
      app.close();
    },
  };
}

/** The length of `close`, by which the engine itself knows that header. */
const CLOSE_LENGTH = 5;

/** As much as the engine collects before it calls the kernel. */
const BLANKS = Buffer.alloc(WHOLE_BODY_BYTES, ' ');

/**
 * Answers a request and ends the connection in the same call: nothing but that ends the engine's work on what it has read.
 * The answers before this one may still be collected, and would be lost then; so blanks behind the body, which mean
 * nothing in JSON, have all of it written first.
 */
function refuse(res: EngineResponse, { headers, body }: RawResponse, hasConnectionClose: boolean): void {
  res.onAborted(() => {}); // the response may stay pending: see EngineResponse.end
  res.cork(() => {
    res.writeStatus(hasConnectionClose ? `${headers}\r\nConnection: close` : headers);
    res.end(Buffer.concat([...partsOf(body ?? ''), BLANKS]), true);
  });
}
