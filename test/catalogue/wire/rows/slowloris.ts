import { setTimeout as sleep } from 'node:timers/promises';
import { openConnections, type RawConnection } from '../../../support/raw-connection.ts';
import { Bystander } from '../bystander.ts';
import { CALL, CHUNKED, get, post } from '../http/raw-request.ts';
import { countFor, expectAll, expectBelowWhenQuiet, expectGrowth, type WireRow } from '../wire-row.ts';

const LIMIT_MS = 12_000;
/** Tolerance for late close events on a busy machine. */
const PATIENCE_MS = 8000;

/** First bytes of a connection, and bytes that then follow, one a second. */
const KINDS: readonly (readonly [begins: string, drips: string])[] = [
  ['', ''],
  [get().slice(0, 30), ''],
  [get().slice(0, -2), `X-Other: ${'a'.repeat(60)}`],
  [post('Content-Length: 60'), ''],
  [post('Content-Length: 60') + CALL, ' '.repeat(60)],
  [`${post(CHUNKED)}14\r\n${CALL.slice(0, 5)}`, ''],
  [`${post(CHUNKED)}40\r\n`, ' '.repeat(60)],
  [get('Connection: Upgrade', 'Upgrade: websocket').slice(0, -2), ''],
];

/** Connections that never complete a request. */
export const slowloris: WireRow = {
  id: '4',
  title: 'slowloris: idle, half a header, half a body, a byte a second',
  async run({ url, gateway }, runLength) {
    const count = countFor(runLength, 80, 800, 2000);
    const bystander = new Bystander(url);
    await sleep(1000);
    const calmMs = await bystander.takeP99Ms();
    const before = await gateway.memory();
    const connections = await openConnections(url, count);
    for (const [i, connection] of connections.entries()) connection.write(KINDS[i % KINDS.length]?.[0] ?? '');
    const startedMs = performance.now();
    for (let drop = 0; performance.now() - startedMs < LIMIT_MS + PATIENCE_MS; drop++) {
      if (connections.every(({ closed }) => closed)) break;
      for (const [i, connection] of connections.entries()) connection.write(KINDS[i % KINDS.length]?.[1][drop] ?? '');
      await sleep(1000);
    }
    const busyMs = await bystander.takeP99Ms();
    const after = await gateway.memory();
    await bystander.stop();
    const slowest = Math.max(...connections.map(({ openedMs, closedMs }) => closedMs - openedMs));
    for (const connection of connections) connection.reset();
    return [
      expectAll('closed', connections.filter((connection: RawConnection) => connection.closed).length, count),
      expectBelowWhenQuiet(runLength, 'each within', slowest, LIMIT_MS, ' ms'),
      expectAll('good answers', bystander.requested - bystander.failed, bystander.requested),
      expectBelowWhenQuiet(runLength, 'their p99 to the calm one', busyMs / calmMs, 2),
      ...expectGrowth(before, after, { kept: 3, resident: 40 }),
    ];
  },
};
