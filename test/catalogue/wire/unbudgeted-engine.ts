import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import process from 'node:process';
import { loadRawEngine } from '../../../bench/support/raw-engine.ts';

// The control of the rows `pipelined-turn` and `one-address`: an engine alone, started like a gateway. uWebSockets.js answers
// whatever it has read of a connection in one turn of the event loop. With the setting `http.engine=node` it is node:http.

const body = Buffer.alloc(600, ' ');
const announce = (port: number): void => console.log(`{"url":"http://127.0.0.1:${port}","msg":"listening"}`);
if (process.argv.includes('http.engine=node')) {
  const server = createServer((_, response) => void response.end(body));
  server.listen(0, '127.0.0.1', () => announce((server.address() as AddressInfo).port)); // it listens on a TCP port
} else {
  const { App, us_socket_local_port } = await loadRawEngine();
  App()
    .any('/*', (res) => void res.cork(() => res.end(body)))
    .listen('127.0.0.1', 0, (socket) => {
      if (socket) announce(us_socket_local_port(socket));
    });
}
