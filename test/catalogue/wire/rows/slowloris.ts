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
  title: 'slowloris: idle, half a head, half a body, a byte a second',
  async run({ url, gateway }, pace) {
    const count = countFor(pace, 80, 800, 2000);
    const bystander = new Bystander(url);
    await sleep(1000);
    const calmMs = await bystander.takeP99Ms();
    const before = await gateway.rssBytes();
    const lines = await openConnections(url, count);
    for (const [i, line] of lines.entries()) line.write(KINDS[i % KINDS.length]?.[0] ?? '');
    const startedMs = performance.now();
    for (let drop = 0; performance.now() - startedMs < LIMIT_MS + PATIENCE_MS; drop++) {
      if (lines.every(({ closed }) => closed)) break;
      for (const [i, line] of lines.entries()) line.write(KINDS[i % KINDS.length]?.[1][drop] ?? '');
      await sleep(1000);
    }
    const busyMs = await bystander.takeP99Ms();
    const after = await gateway.rssBytes();
    await bystander.stop();
    const slowest = Math.max(...lines.map(({ openedMs, closedMs }) => closedMs - openedMs));
    for (const line of lines) line.reset();
    return [
      expectAll('closed', lines.filter((line: RawConnection) => line.closed).length, count),
      expectBelowWhenQuiet(pace, 'each within', slowest, LIMIT_MS, ' ms'),
      expectAll('good answers', bystander.requested - bystander.failed, bystander.requested),
      expectBelowWhenQuiet(pace, 'their p99 to the calm one', busyMs / calmMs, 2),
      expectGrowth(before, after, 20),
    ];
  },
};
