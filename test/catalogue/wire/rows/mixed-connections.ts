import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { forEachConcurrent } from '../../../support/for-each-concurrent.ts';
import type { GatewayProcess } from '../../../support/gateway-process.ts';
import { RawConnection } from '../../../support/raw-connection.ts';
import { closePayload, frame, OP } from '../../../support/websocket-frame.ts';
import { HANDSHAKE_HEADERS } from '../../../support/websocket-peer.ts';
import { expect, expectNone, info } from '../../findings.ts';
import { batches } from '../fuzz-generators.ts';
import { CALL, CHUNKED, call, chunks, get, post, request } from '../http/raw-request.ts';
import { overEachEngine } from '../over-each-engine.ts';
import { statusOf } from '../status-of.ts';
import { countFor, type WireRow } from '../wire-row.ts';

const CONCURRENT = 32;
/** Time to write the pieces of a packet, and then until the connection ends. */
const [MAX_PAUSE_MS, MAX_OPEN_MS] = [30, 150];

/** Header lines of a WebSocket handshake, without Host. */
const HANDSHAKE = Object.entries(HANDSHAKE_HEADERS)
  .slice(1)
  .map(([name, value]) => `${name}: ${value}`);
const PATHS = ['/api/v1/stream', '/api/v1/rpc'].map((path) => `GET ${path}`);
const BALANCE = 'GET /api/v1/balance/ExJxntoqpmUT5Zt1pDjeQXZJ4J4dNeZUNCdkDEXQDcLZ';

/** A request at the listener for operators, which accepts no name but this. */
const LIVEZ = 'GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n';

/** What may stand on a connection, whole: requests whose answers wait, requests that end HTTP, messages after that. */
const PIECES: readonly (string | Buffer)[] = [
  ...[get(), get('Connection: close'), request(BALANCE), LIVEZ, LIVEZ.replace('livez', 'metrics'), call()],
  ...[post(CHUNKED) + chunks(CALL), post('Content-Length: 50') + CALL, post(CHUNKED), post('Expect: 100-continue')],
  ...[request('CONNECT a:1'), 'CONNECT a:1 HTTP/1.1\r\n\r\n', request('OPTIONS *'), request('GET /x', 'Upgrade: x')],
  ...[request('GET /x', 'Connection: upgrade', 'Upgrade: x', 'Content-Length: 5'), 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ...[get('Connection: Upgrade', 'Upgrade: h2c'), call('Connection: Upgrade', 'Upgrade: x'), 'GET / HTTP/1.0\r\n\r\n'],
  ...PATHS.flatMap((path) => [
    request(path, ...HANDSHAKE),
    request(path, ...HANDSHAKE.slice(1)),
    request(path, ...HANDSHAKE.slice(0, -1)),
    request(path, ...HANDSHAKE, 'Content-Length: 5'),
    request(path, ...HANDSHAKE, CHUNKED),
    request(path, 'Accept: text/event-stream'),
  ]),
  ...['{"op":"subscribe"}', '{"jsonrpc":"2.0","id":1,"method":"slotSubscribe"}'].map((text) => frame(OP.text, text)),
  ...[
    frame(OP.close, closePayload(1000)),
    frame(OP.close, 'x'),
    frame(OP.ping, 'x'.repeat(126)),
    frame(OP.text, '\xff'),
  ],
  ...[
    frame(OP.text, 'a', { fin: false }),
    frame(OP.continuation),
    frame(OP.text, '', { length: 2n ** 62n }),
    '\r\n',
    '0',
  ],
];

const packet = fc.record({
  bytes: fc
    .array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 5 })
    .map((pieces) => Buffer.concat(pieces.map((piece) => Buffer.from(piece as string)))), // or a buffer
  /** Where it is cut in two, as a share of it; most are written whole. */
  cut: fc.option(fc.double({ min: 0, max: 1, noNaN: true })),
  pauseMs: fc.nat(MAX_PAUSE_MS),
  openMs: fc.nat(MAX_OPEN_MS),
  end: fc.constantFrom('reset', 'end', 'end and reset'),
  isForOperators: fc.boolean(),
});

type Packet = typeof packet extends fc.Arbitrary<infer T> ? T : never;

export const mixedConnections: WireRow = {
  id: 'mixed-connections',
  title: 'requests, upgrades and frames in one piece at both listeners, reset and half closed',
  async run(testbed, runLength) {
    const count = countFor(runLength, 2000, 10_000, 200_000);
    const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000_000);
    const findings = await overEachEngine(testbed, {}, async (engine, gateway) => {
      await forEachConcurrent(batches(packet, seed, count), CONCURRENT, (each) => send(gateway, each));
      const isLogged = gateway.child.stdout().includes('"an uncaught error"');
      return [
        expect(`${engine}: runs`, gateway.exitReason === undefined),
        expectNone('uncaught errors', isLogged ? 1 : 0),
        expectNone('defects', gateway.defectLogLines.length),
        expect(
          'answers at both',
          (await statusOf(gateway.url, get())) === '200' && (await statusOf(gateway.admin, LIVEZ)) === '200',
        ),
      ];
    });
    return [info('sent', count), info('seed', String(seed)), ...findings];
  },
};

async function send(
  { url, admin }: GatewayProcess,
  { bytes, cut, pauseMs, openMs, end, isForOperators }: Packet,
): Promise<void> {
  const connection = await RawConnection.open(isForOperators ? admin : url);
  const at = Math.floor((cut ?? 1) * bytes.length);
  connection.write(bytes.subarray(0, at));
  if (cut !== null) await sleep(pauseMs);
  connection.write(bytes.subarray(at));
  if (end !== 'reset') connection.socket.end();
  if (end === 'end') await sleep(MAX_OPEN_MS);
  else await sleep(openMs);
  connection.reset();
}
