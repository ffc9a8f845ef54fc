import { App, us_socket_local_port } from 'uWebSockets.js';

// The yardstick: the engine alone, sending the bytes of one answer of the gateway whatever is asked.
// argv: the answer's URL. /written sends the headers one by one, /prebuilt as one block; /stream publishes the body
// to all subscribers of one topic every 400 ms.

const answer = await fetch(process.argv[2] ?? '');
const body = Buffer.from(await answer.arrayBuffer());
const automatic = ['date', 'uwebsockets', 'content-length', 'connection', 'keep-alive'];
const headers = [...answer.headers].filter(([name]) => !automatic.includes(name));
const block = Buffer.from(['200 OK', ...headers.map(([name, value]) => `${name}: ${value}`)].join('\r\n'));

const app = App();
setInterval(() => app.publish('frames', body, false, false), 400);
app
  .ws('/stream', { open: (socket) => void socket.subscribe('frames') })
  .get('/written', (res) => {
    for (const [name, value] of headers) res.writeHeader(name, value);
    res.end(body);
  })
  .get('/prebuilt', (res) => {
    res.writeStatus(block).end(body);
  })
  .listen('127.0.0.1', 0, (socket) => {
    if (socket) console.log(`{"url":"http://127.0.0.1:${us_socket_local_port(socket)}","msg":"listening"}`);
  });
