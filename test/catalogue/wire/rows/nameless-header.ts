import { createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EngineName } from '../../../../src/gateway/http/engine/engine.ts';
import { forEachConcurrent } from '../../../support/for-each-concurrent.ts';
import { listenOnLoopback } from '../../../support/loopback-server.ts';
import { RawConnection } from '../../../support/raw-connection.ts';
import { exchange } from '../../../support/raw-http.ts';
import { expectNone, type Finding, info } from '../../findings.ts';
import { statuses } from '../http/http-case.ts';
import { get, post } from '../http/raw-request.ts';
import { HIDDEN_BODY_REQUEST } from '../http/smuggling-cases.ts';
import { overEachEngine } from '../over-each-engine.ts';
import { isInstalled, PROXIES, type ReverseProxy, startProxy } from '../reverse-proxy.ts';
import { countFor, expectAll, type WireRow } from '../wire-row.ts';

const CONCURRENT = 100;
const LINES = [': a', ':', ':a'];
/** Request in the place of a body, which must never be answered. */
const INNER = get();
/** Time in which a proxy answers, and passes on what it passes on. */
const PROXY_MS = 1000;

export const namelessHeader: WireRow = {
  id: 'nameless-header',
  title: 'a header line without a name, on GET and POST, whole and cut, and at proxies',
  async run(testbed, runLength) {
    const stride = countFor(runLength, 9, 1, 1);
    const ofEngines = await overEachEngine(testbed, {}, (engine, gateway) => runOver(engine, gateway.url, stride));
    const findings = [...ofEngines];
    for (const kind of PROXIES)
      findings.push(isInstalled(kind) ? await forwardingOf(kind) : info(kind.name, 'is not at hand'));
    return findings;
  },
};

async function runOver(engine: EngineName, url: string, stride: number): Promise<readonly Finding[]> {
  const length = `Content-Length: ${INNER.length}`;
  const posts = await attack(
    url,
    LINES.map((line) => post(line, length) + INNER),
    stride,
  );
  const gets = await attack(
    url,
    LINES.map((line) => get(line, length) + INNER),
    stride,
  );
  // The parser of uWebSockets.js shows neither the line nor what it hides: a build that does is noticed here.
  const known = engine === 'node' ? 0 : gets.whole;
  return [
    expectNone(`${engine}: POST: extra answers`, posts.extra),
    expectNone('open behind an answer', posts.open),
    expectAll(`GET: of whole ones with an extra answer`, gets.wholeExtra, known),
    ...(engine === 'node'
      ? [expectNone('extra answers', gets.extra), expectNone('open behind an answer', gets.open)]
      : [info('extra answers, cut', gets.extra - gets.wholeExtra)]),
  ];
}

/** Sends packets whole, and cut in two; counts those that got more than one answer, or were left open behind it. */
async function attack(url: string, packets: readonly string[], stride: number) {
  const attempts = packets.flatMap((packet) =>
    Array.from({ length: Math.ceil(packet.length / stride) }, (_, i) => ({ packet, at: i * stride })),
  );
  let [extra, wholeExtra, open] = [0, 0, 0];
  await forEachConcurrent(attempts, CONCURRENT, async ({ packet, at }) => {
    const parts = at === 0 ? [packet] : [packet.slice(0, at), packet.slice(at)];
    const exchanged = await exchange(url, parts);
    const answers = statuses(exchanged).length;
    if (answers > 1) extra++;
    if (answers > 1 && at === 0) wholeExtra++;
    if (answers > 0 && !exchanged.closed) open++;
  });
  return { extra, wholeExtra, open, whole: packets.length };
}

/** Sends the line to a proxy, behind which a server records what is passed on. */
async function forwardingOf(kind: ReverseProxy): Promise<Finding> {
  let received = '';
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket
      .on('error', () => {})
      .on('data', (bytes) => {
        received += bytes.toString('latin1');
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
      });
  });
  const port = await listenOnLoopback(server);
  const proxy = await startProxy(kind, `127.0.0.1:${port}`);
  received = '';
  const connection = await RawConnection.open(proxy.url);
  connection.write(HIDDEN_BODY_REQUEST);
  const deadlineMs = performance.now() + PROXY_MS;
  while (!connection.closed && performance.now() < deadlineMs) await sleep(10);
  const [, status = 'without an answer'] = /^HTTP\/1\.1 (\d+)/.exec(connection.text) ?? [];
  connection.reset();
  await proxy.close();
  for (const socket of sockets) socket.destroy();
  server.close();
  const isForwarded = /\r\n:/.test(received);
  const isPassedOn = received.includes('GET /api/v1/slot');
  const what = isForwarded ? 'passes it on' : isPassedOn ? 'drops the line' : `refuses it (${status})`;
  return { text: `${kind.name} ${what}`, isMet: !isForwarded };
}
