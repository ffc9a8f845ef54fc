import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Server } from 'node:http';
import t from 'tap';
import type { Engine, EngineResponse, RequestHandler } from '../../src/gateway/http/engine/engine.ts';
import { nodeEngine } from '../../src/gateway/http/engine/node/node-engine.ts';
import { verifyReceipt } from '../../src/index.ts';
import { WALLETS } from '../../src/localnet/traffic/demo-accounts.ts';
import {
  type GatewayHarness,
  type SteppedHarness,
  startGatewayOver,
  startStepped,
  waitFor,
} from '../support/harness.ts';
import { pluck } from '../support/pluck.ts';
import { loopbackAddress, openConnections, RawConnection } from '../support/raw-connection.ts';
import { barrierOf, exchange, parseResponses } from '../support/raw-http.ts';
import { createReceiptKey } from '../support/receipts/receipt-key.ts';
import { KERNEL_BUFFER_BYTES } from '../support/stalled-peers.ts';
import { upgradeRequest, WebSocketPeer } from '../support/websocket-peer.ts';

t.test('engines', async (t) => {
  // The engine on node:http beside the one that loads here first: both answer the same bytes.

  const receiptKey = { inline: createReceiptKey(), production: false };
  const first: SteppedHarness = await startStepped(t, { receiptKey, set: ['http.engine=auto'] });
  const { clock, cluster, node } = first;
  const begun = { guarded: 0, unguarded: [] as string[] };
  const watched =
    (handler: RequestHandler): RequestHandler =>
    (res, req) => {
      const { onAborted, writeStatus } = res;
      let isGuarded = false;
      Object.assign(res, {
        onAborted(handler: () => void) {
          isGuarded = true;
          return onAborted.call(res, handler);
        },
        writeStatus(head: string | Buffer) {
          if (isGuarded) begun.guarded++;
          else begun.unguarded.push(`${req.getMethod()} ${req.getUrl()}`);
          return writeStatus.call(res, head);
        },
      });
      return handler(res, req);
    };
  const watchedEngine: Engine = {
    ...nodeEngine,
    createApp(options) {
      const app = nodeEngine.createApp(options);
      const handleRequests = app.handleRequests.bind(app);
      app.handleRequests = ({ get, head, post, options, other }) =>
        handleRequests({
          get: watched(get),
          head: watched(head),
          post: watched(post),
          options: watched(options),
          other: watched(other),
        });
      return app;
    },
  };
  const second = await startGatewayOver(t, `${node.url},${cluster.wsUrl}`, clock, {
    receiptKey,
    engine: watchedEngine,
    set: ['http.engine=node', 'admin.port=0'],
  });
  await first.step();
  await waitFor(
    async () => (await second.get('/slot')).json.slot === (await first.get('/slot')).json.slot,
    'the slot at the second gateway',
  );

  const [funded] = WALLETS;
  const CALL = '{"method":"getSlot"}';
  const JSON_TYPE = 'Content-Type: application/json';

  const KEY = 'Sec-WebSocket-Key: ';
  const HANDSHAKE = [
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    `${KEY}AAAAAAAAAAAAAAAAAAAAAA==`,
  ];

  /** Requests of each kind, in an order in which each is answered alike twice. */
  const REQUESTS: Readonly<Record<string, readonly [line: string, headers?: readonly string[], body?: string]>> = {
    'a live answer': ['GET /api/v1/slot'],
    'a miss': [`GET /api/v1/balance/${funded?.address}`],
    'a hit': [`GET /api/v1/balance/${funded?.address}`],
    'a hit that the caller has': [`GET /api/v1/balance/${funded?.address}`, ['If-None-Match: *']],
    'a hit with a nonce': [`GET /api/v1/balance/${funded?.address}`, ['X-Receipt-Nonce: 0123456789abcdef']],
    'a compressed page': ['GET /docs', ['Accept-Encoding: br, gzip']],
    'a long page': ['GET /explorer'],
    'a HEAD': ['HEAD /api/v1/slot'],
    'a preflight': ['OPTIONS /api/v1/slot'],
    'a path that nobody serves': ['GET /api/v1/none'],
    'another method': ['DELETE /api/v1/slot'],
    'an invalid address': ['GET /api/v1/balance/none'],
    'two hosts': ['GET /api/v1/slot', ['Host: other.example']],
    'a call': ['POST /api/v1/rpc', [JSON_TYPE, `Content-Length: ${CALL.length}`], CALL],
    'a call in chunks': [
      'POST /api/v1/rpc',
      [JSON_TYPE, 'Transfer-Encoding: chunked'],
      `${CALL.length.toString(16)}\r\n${CALL}\r\n0\r\n\r\n`,
    ],
    'a body that is too long': ['POST /api/v1/rpc', [JSON_TYPE, 'Content-Length: 70000'], ' '.repeat(70_000)],
    'a closing request': ['GET /api/v1/slot', ['Connection: close']],
    'a stream without an upgrade': ['GET /api/v1/stream', [`${KEY}AAAAAAAAAAAAAAAAAAAAAA==`]],
    'a handshake with two keys': ['GET /api/v1/stream', [...HANDSHAKE, `${KEY}dGhlIHNhbXBsZSBub25jZQ==`]],
    'a call with an upgrade to HTTP/2, as of Java': [
      'POST /api/v1/rpc',
      [
        'Connection: Upgrade, HTTP2-Settings',
        'Upgrade: h2c',
        'HTTP2-Settings: AAMAAABk',
        JSON_TYPE,
        `Content-Length: ${CALL.length}`,
      ],
      CALL,
    ],
    'an upgrade to HTTP/2': [
      'GET /api/v1/slot',
      ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABk'],
    ],
  };

  /**
   * Leaves out what differs from answer to answer, and what each engine adds itself: which answers are signed in one turn, and so
   * the path of a receipt and the length of its body, depends on when each gateway receives the slot.
   */
  const comparable = (text: string): string =>
    text
      .replace(/\r\n(Date|Connection|Keep-Alive|uWebSockets): [^\r]*/g, '')
      .replace(/\r\nX-Request-Id: [^\r]*/, '')
      .replace(/"size":\d+,"index":\d+,"path":\[[^\]]*\],"sig":"\w+"/, '')
      .replace(/\r\nContent-Length: \d+/, '\r\nContent-Length')
      .replace(/\r\nServer-Timing: [^\r]*/, '');

  for (const [what, [line, headers = [], body = '']] of Object.entries(REQUESTS)) {
    t.test(`both engines answer alike: ${what}`, async (t) => {
      const packet = `${line} HTTP/1.1\r\n${['Host: a', ...headers].join('\r\n')}\r\n\r\n${body}`;
      const [one, other] = await Promise.all([first, second].map(({ gateway }) => exchange(gateway.url, [packet])));
      t.match(one?.text, /^HTTP\/1\.1 \d{3} /);
      t.equal(comparable(other?.text ?? ''), comparable(one?.text ?? ''));
    });
  }

  t.test('each answer has a handler for a reader that leaves before it is written', async (t) => {
    t.same(begun.unguarded, []);
    t.ok(begun.guarded >= Object.keys(REQUESTS).length);
  });

  t.test('nothing is read behind a request that offers an upgrade which is refused', async (t) => {
    const offer = 'GET /api/v1/slot HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n';
    const { text } = await exchange(second.gateway.url, [`${offer}GET /api/v1/epoch HTTP/1.1\r\nHost: a\r\n\r\n`]);
    t.match(text, /\r\nConnection: close\r\n/i);
    t.equal(text.match(/HTTP\/1\.1 \d{3}/g)?.length, 1);
  });

  t.test('both engines send the same frames', async (t) => {
    const peers = await Promise.all([first, second].map(({ gateway }) => WebSocketPeer.open(gateway.url)));
    t.teardown(() => {
      for (const { connection } of peers) connection.reset();
    });
    await first.step(3);
    const slotsOf = ({ frames }: WebSocketPeer): readonly string[] =>
      frames.map(({ payload }) => /"slot":\d+/.exec(String(payload))?.[0] ?? '');
    const [one = [], other = []] = peers.map(slotsOf);
    t.ok(one.length >= 3);
    t.same(other.slice(-3), one.slice(-3));
  });

  const refusalOf = async (
    { gateway }: GatewayHarness,
    packet: string,
  ): Promise<[number | undefined, string | undefined]> => {
    const { text, closed } = await exchange(gateway.url, [packet]);
    const [answer, ...more] = parseResponses(text);
    t.equal(more.length, 0);
    t.ok(closed);
    t.match(answer?.head, /\r\nX-RateLimit-Limit: \d+\r\nX-RateLimit-Remaining: \d+\r\nX-RateLimit-Reset: \d+\r\n/);
    return [answer?.status, JSON.parse(answer?.body ?? '{}').error];
  };

  t.test('what node:http cannot parse is refused in the form of all errors', async (t) => {
    const long = `X-Long: ${'a'.repeat(17_000)}\r\n`;
    t.same(await refusalOf(second, `GET /api/v1/slot HTTP/1.1\r\nHost: a\r\n${long}\r\n`), [431, 'headers_too_large']);
    const ofLines = (lines: number) => `GET /api/v1/slot HTTP/1.1\r\nHost: a\r\n${'X: y\r\n'.repeat(lines - 1)}\r\n`;
    t.same(await refusalOf(second, ofLines(99)), [431, 'headers_too_large']);
    t.match((await exchange(second.gateway.url, [ofLines(98)])).text, /^HTTP\/1\.1 200 /);
    const upgrade = 'Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n';
    const handshake = `${upgrade}Sec-WebSocket-Key: ${'a'.repeat(22)}==\r\n\r\n`;
    const ofStream = ofLines(95).replace('slot', 'stream').replace(/\r\n$/, handshake);
    t.same(await refusalOf(second, ofStream), [431, 'headers_too_large']);
    for (const packet of [
      'nonsense\r\n\r\n',
      'GET /api/v1/slot HTTP/1.1\r\nHost: a\r\n: no name\r\n\r\n',
      'get / HTTP/1.1\r\n\r\n',
    ])
      t.same(await refusalOf(second, packet), [400, 'invalid_request'], packet);
  });

  t.test('what cannot be parsed is refused behind the answers to the requests before it', async (t) => {
    const get = 'GET /api/v1/slot HTTP/1.1\r\nHost: a\r\n\r\n';
    const miss = `GET /api/v1/balance/${WALLETS[1]?.address} HTTP/1.1\r\nHost: a\r\n\r\n`;
    const { text, closed } = await exchange(second.gateway.url, [`${get}${miss}nonsense\r\n\r\n`], { responses: 3 });
    t.same(pluck(parseResponses(text), 'status'), [200, 200, 400]);
    t.ok(closed);
  });

  t.test('over node:http what ends HTTP on a connection is answered behind the requests before it', async (t) => {
    const get = 'GET /api/v1/slot HTTP/1.1\r\nHost: a\r\n\r\n';
    const missOf = (i: number): string => `GET /api/v1/balance/${WALLETS[i]?.address} HTTP/1.1\r\nHost: a\r\n\r\n`;
    const last: Readonly<Record<string, readonly [packet: string, status: number]>> = {
      'a CONNECT': ['CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n', 404],
      'a handshake that is refused': [upgradeRequest('', { 'Sec-WebSocket-Version': '8' }), 426],
      'a handshake': [upgradeRequest(), 101],
    };
    for (const [i, [what, [packet, status]]] of Object.entries(last).entries()) {
      for (const before of [get, missOf(5 + i)]) {
        const { text } = await exchange(second.gateway.url, [get + before + packet], { responses: 3 });
        const statuses = [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, code]) => Number(code));
        t.same(statuses, [200, 200, status], what);
      }
    }
  });

  t.test('over node:http a body in parts goes on when its reader does, also before a CONNECT', async (t) => {
    const app = nodeEngine.createApp({
      clock,
      readsProxyHeaders: false,
      refuseUnparsable: () => ({ headers: '400 Bad Request', body: null }),
      refusePipelined: () => ({ headers: '429 Too Many Requests', body: null }),
      startCpuStopwatch: () => () => 0,
    });
    const part = 'a'.repeat(64 * 1024);
    let left = Math.ceil((2 * KERNEL_BUFFER_BYTES) / part.length);
    const refuse = (res: EngineResponse): boolean => {
      res.writeStatus('404 Not Found');
      res.endWithoutBody();
      return false;
    };
    const serve = (res: EngineResponse): boolean => {
      const send = (): boolean => {
        while (left-- > 0) if (!res.write(part)) return true;
        res.end(Buffer.from('the end'));
        return true;
      };
      res.onAborted(() => {});
      res.onWritable(send);
      res.writeStatus('200 OK');
      return send();
    };
    app.handleRequests({ get: serve, head: refuse, post: refuse, options: refuse, other: refuse });
    t.teardown(() => app.close());
    const url = `http://127.0.0.1:${await app.listen('127.0.0.1', 0, false)}`;
    const connection = await RawConnection.open(url);
    t.teardown(() => connection.reset());
    connection.write('GET / HTTP/1.1\r\nHost: a\r\n\r\nCONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n');
    await waitFor(() => connection.text.includes('the end'), 'the whole body');
  });

  t.test('a connection that the system could not accept ends no listener', async (t) => {
    const servers = new Set<Server>();
    const onRequest = (message: unknown): void => void servers.add(Object(message).server);
    subscribe('http.server.request.start', onRequest);
    t.teardown(() => unsubscribe('http.server.request.start', onRequest));
    const urls = [second.gateway.url, second.gateway.admin, cluster.url];
    const statuses = (): Promise<readonly number[]> =>
      Promise.all(urls.map(async (url) => (await fetch(`${url}/`)).status));
    const before = await statuses();
    t.equal(servers.size, urls.length);
    for (const server of servers) server.emit('error', new Error('accept ENOBUFS'));
    t.same(await statuses(), before);
  });

  t.test('over node:http a handshake with a body is refused before the body arrives', async (t) => {
    const { url } = second.gateway;
    for (const body of [{ 'Content-Length': '5' }, { 'Transfer-Encoding': 'chunked' }]) {
      const connection = await RawConnection.open(url);
      connection.write(upgradeRequest('', body));
      await barrierOf(url).wait();
      t.match(connection.text, /^HTTP\/1\.1 400 /);
      connection.reset();
    }
    t.equal((await second.get('/slot')).status, 200);
  });

  t.test('node:http answers pipelined misses in their order', async (t) => {
    const paths = WALLETS.slice(2, 5).map(({ address }) => `/api/v1/balance/${address}`);
    const packet = paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`).join('');
    const { text } = await exchange(second.gateway.url, [packet], { responses: paths.length });
    const signedRequests = parseResponses(text).map(({ body }) => JSON.parse(body).receipt.request);
    t.same(
      signedRequests,
      paths.map((path) => `GET ${path}`),
    );
  });

  t.test('an absolute target with a host is answered as its path', async (t) => {
    const answerTo = async (target: string): Promise<string> =>
      (await exchange(second.gateway.url, [`GET ${target} HTTP/1.1\r\nHost: a\r\n\r\n`])).text;
    t.match(await answerTo('http://a/api/v1/slot?commitment=none'), /^HTTP\/1\.1 400 .*"invalid_query"/s);
    t.match(await answerTo('http:///api/v1/slot'), /^HTTP\/1\.1 404 /);
  });

  t.test('a handshake may have its lists on several lines', async (t) => {
    const lists = { Connection: 'keep-alive\r\nConnection: Upgrade', Upgrade: 'h2c, websocket' };
    for (const { gateway } of [first, second]) {
      const { text } = await exchange(gateway.url, [upgradeRequest('', lists)]);
      t.match(text, /^HTTP\/1\.1 101 /);
    }
  });

  t.test('a client that waits for 100 Continue gets it', async (t) => {
    const head = `POST /api/v1/rpc HTTP/1.1\r\nHost: a\r\n${JSON_TYPE}\r\nExpect: 100-continue\r\nContent-Length: ${CALL.length}\r\n\r\n`;
    const { text } = await exchange(second.gateway.url, [head, CALL], { responses: 2 });
    t.match(text, /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK\r\n/);
  });

  t.test('a flood of pings ends its WebSocket', async (t) => {
    const frames = (count: number) => Buffer.alloc(6 * count, Buffer.from([0x89, 0x80, 0, 0, 0, 0]));
    for (const { gateway } of [first, second]) {
      const peer = await WebSocketPeer.open(gateway.url);
      t.teardown(() => peer.connection.reset());
      await peer.send(frames(64));
      await waitFor(() => peer.replies.length === 64, 'a pong for each ping');
      peer.connection.write(frames(10_000));
      await waitFor(() => peer.connection.closed, 'the end');
      t.ok(peer.replies.length < 10_000);
    }
  });

  t.test('a body in chunks of one byte is cut off, and one in short chunks is read', async (t) => {
    const head = `POST /api/v1/rpc HTTP/1.1\r\nHost: a\r\n${JSON_TYPE}\r\nTransfer-Encoding: chunked\r\n\r\n`;
    const crumbs = '1\r\n \r\n'.repeat(60_000);
    for (const { gateway } of [first, second]) {
      const cut = await exchange(gateway.url, [`${head}${crumbs}0\r\n\r\n`]);
      t.same([cut.text, cut.closed], ['', true]);
      const read = await exchange(gateway.url, [
        `${head}${[...CALL].map((byte) => `1\r\n${byte}\r\n`).join('')}0\r\n\r\n`,
      ]);
      t.match(read.text, /^HTTP\/1\.1 200 /);
      const length = CALL.length + 600;
      const lengthHead = `POST /api/v1/rpc HTTP/1.1\r\nHost: a\r\n${JSON_TYPE}\r\nContent-Length: ${length}\r\n\r\n`;
      const slow = await exchange(gateway.url, [lengthHead, ...CALL.padEnd(length)]);
      t.match(slow.text, /^HTTP\/1\.1 200 /, 'a packet for each byte');
    }
  });

  t.test('over node:http a handshake of a client that has left behind a miss leaves no subscriber', async (t) => {
    const metrics = async (): Promise<string> => (await fetch(`${second.gateway.admin}/metrics`)).text();
    const connections = async () =>
      /^slotgate_stream_connections\{format="json",interval="0"\} \d+/m.exec(await metrics())?.[0];
    const before = await connections();
    const miss = `GET /api/v1/balance/${WALLETS[9]?.address}?commitment=finalized HTTP/1.1\r\nHost: a\r\n\r\n`;
    const connection = await RawConnection.open(second.gateway.url);
    connection.socket.end(miss + upgradeRequest());
    await waitFor(() => connection.closed, 'the end of the connection');
    t.equal(await connections(), before);
  });

  t.test('a request of HTTP/1.0 gets neither 100 Continue nor another protocol', async (t) => {
    const head = `POST /api/v1/rpc HTTP/1.0\r\nHost: a\r\n${JSON_TYPE}\r\nExpect: 100-continue\r\nContent-Length: ${CALL.length}\r\n\r\n`;
    const call = await exchange(second.gateway.url, [head, CALL]);
    t.match(call.text, /^HTTP\/1\.1 200 OK\r\n/);
    const upgrade = await exchange(second.gateway.url, [upgradeRequest().replace('HTTP/1.1', 'HTTP/1.0')]);
    t.match(upgrade.text, /^HTTP\/1\.1 426 /);
  });

  t.test('over node:http an address holds 1,024 connections, and its oldest idle ones make room', async (t) => {
    const [most, over] = [1024, 6];
    const opened = await openConnections(second.gateway.url, most + over, () => loopbackAddress(1));
    t.teardown(() => {
      for (const connection of opened) connection.reset();
    });
    const [newest] = opened.slice(-1);
    newest?.write('GET /api/v1/slot HTTP/1.1\r\nHost: a\r\n\r\n');
    await waitFor(
      () => newest?.text.includes('200 OK') === true && opened[over - 1]?.closed === true,
      'an answer and room',
    );
    const closedAt = opened.flatMap(({ closed }, i) => (closed ? i : []));
    t.same(
      closedAt,
      Array.from({ length: over }, (_, i) => i),
    );
    const [other] = await openConnections(second.gateway.url, 1, () => loopbackAddress(2));
    other?.write('GET /api/v1/slot HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    await waitFor(() => other?.closed === true, 'another caller');
    t.match(other?.text, /^HTTP\/1\.1 200 /);
    t.equal(opened.filter(({ closed }) => closed).length, over);
  });

  t.test('the engine stands in /health, and answers over each verify', async (t) => {
    for (const world of [first, second]) {
      const { name, version } = (await world.get('/health')).json.result.engine;
      t.match(version, /^\d+\.\d+\.\d+$/);
      if (world === second) t.equal(name, 'node');
      const { text } = await world.get('/slot');
      const { publicKey, cluster: genesis } = world.gateway;
      t.ok(verifyReceipt(text, { request: 'GET /api/v1/slot', publicKeys: [publicKey], cluster: genesis }));
    }
  });
});
