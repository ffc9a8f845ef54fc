import type * as Uws from 'uWebSockets.js';
import { StartError } from '../../../domain/start-error.ts';
import type { Engine, EngineApp, EngineName } from '../engine.ts';

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

/** Creates the engine of a package that has uWebSockets.js. */
export const createUwsEngine = (name: Exclude<EngineName, 'node'>, version: string, uws: UwsModule): Engine => ({
  name,
  version,
  createApp: () => createUwsApp(uws),
});

function createUwsApp({ App, us_listen_socket_close, us_socket_local_port }: UwsModule): EngineApp {
  const app = App();
  let listening: Uws.us_listen_socket | undefined;
  const stopListening = (): void => {
    if (listening !== undefined) us_listen_socket_close(listening);
    listening = undefined;
  };
  return {
    onConnect: (handler) => void app.filter((res, delta) => (Number(delta) > 0 ? handler(res) : undefined)),
    onDisconnect: (handler) => void app.filter((_, delta) => (Number(delta) < 0 ? handler() : undefined)),
    handleRequests: ({ get, head, post, options, other }) =>
      void app.get('/*', get).head('/*', head).post('/*', post).options('/*', options).any('/*', other),
    handleWebSockets: (path, behavior) =>
      void app.ws(path, { ...behavior, closeOnBackpressureLimit: false, sendPingsAutomatically: true }),
    publish: (topic, message, isBinary) => void app.publish(topic, message, isBinary, false),
    listen: (host, port, sharesPort) =>
      new Promise((resolve, reject) => {
        (app as unknown as ListenOn).listen(host, port, sharesPort ? SHARED_PORT : EXCLUSIVE_PORT, (socket) => {
          if (socket) {
            listening = socket;
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
