import { loadRawEngine } from '../support/raw-engine.ts';

// The reference: the engine alone, sending the bytes of one answer of the gateway for any request. argv: the answer's
// URL. /written sends the headers one by one, /prebuilt as one block, /cacheable without those that forbid caches to
// store it; /stream publishes the body to all subscribers of one topic every 400 ms.

const url = process.argv[2] ?? '';
await fetch(url).then((miss) => miss.text());
const answer = await fetch(url); // a hit
const body = Buffer.from(await answer.arrayBuffer());
const automatic = ['date', 'uwebsockets', 'content-length', 'connection', 'keep-alive'];
const headers = [...answer.headers].filter(([name]) => !automatic.includes(name));
/** What forbids a cache to store the answer. */
const uncacheable = ['cache-control', 'vary', 'etag', 'expires', 'set-cookie'];
const block = Buffer.from(['200 OK', ...headers.map(([name, value]) => `${name}: ${value}`)].join('\r\n'));

const { App, us_socket_local_port } = await loadRawEngine();
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
  .get('/cacheable', (res) => {
    for (const [name, value] of headers) if (!uncacheable.includes(name)) res.writeHeader(name, value);
    res.writeHeader('cache-control', 'max-age=3600').end(body);
  })
  .listen('127.0.0.1', 0, (socket) => {
    if (socket) console.log(`{"url":"http://127.0.0.1:${us_socket_local_port(socket)}","msg":"listening"}`);
  });
