import { setTimeout as sleep } from 'node:timers/promises';
import { openConnections, type RawConnection } from '../../../support/raw-connection.ts';
import { Bystanders } from '../../bystanders.ts';
import { expectNone } from '../../findings.ts';
import { CALL, CHUNKED, get, post, request } from '../http/raw-request.ts';
import { countFor, expectAll, expectBelowWhenQuiet, expectGrowth, type WireRow } from '../wire-row.ts';

const LIMIT_MS = 12_000;
/** Tolerance for late close events on a busy machine. */
const PATIENCE_MS = 8000;
/** One more than the bytes that a call may have. */
const TOO_LONG = 65_537;
const CHUNK = `4000\r\n${'a'.repeat(0x4000)}\r\n`;

/** First bytes of a connection, and what then follows each second: a byte, or more of a body that never ends. */
const KINDS: readonly (readonly [begins: string, goesOn: (second: number) => string])[] = [
  ['', () => ''],
  [get().slice(0, 30), () => ''],
  [get().slice(0, -2), (second) => `X-Other: ${'a'.repeat(60)}`[second] ?? ''],
  [post('Content-Length: 60'), () => ''],
  [post('Content-Length: 60') + CALL, () => ' '],
  [`${post(CHUNKED)}14\r\n${CALL.slice(0, 5)}`, () => ''],
  [`${post(CHUNKED)}40\r\n`, () => ' '],
  [get('Connection: Upgrade', 'Upgrade: websocket').slice(0, -2), () => ''],
  [post(`Content-Length: ${TOO_LONG}`) + 'a'.repeat(TOO_LONG), () => ''],
  [post('Content-Length: 999999999'), () => CHUNK.repeat(8)],
  [post(CHUNKED), () => CHUNK.repeat(8)],
  [request('POST /api/v1/explain', 'Content-Type: application/json', CHUNKED), () => CHUNK.repeat(8)],
];

const isOver = ({ closed, text }: RawConnection): boolean => closed || text !== '';

export const slowloris: WireRow = {
  id: 'slowloris',
  title: 'slowloris: idle, half a header, half a body, a byte a second; bodies that are too long or never end',
  async run({ url, gateway }, runLength) {
    const count = countFor(runLength, 120, 1200, 3000);
    const bystanders = new Bystanders({ url });
    await sleep(1000);
    const calmMs = await bystanders.nextP99Ms();
    const before = await gateway.memory();
    const connections = await openConnections(url, count);
    for (const [i, connection] of connections.entries()) connection.write(KINDS[i % KINDS.length]?.[0] ?? '');
    const startedMs = performance.now();
    for (let second = 0; performance.now() - startedMs < LIMIT_MS + PATIENCE_MS; second++) {
      if (connections.every(isOver)) break;
      for (const [i, connection] of connections.entries())
        if (!isOver(connection)) connection.write(KINDS[i % KINDS.length]?.[1](second) ?? '');
      await sleep(1000);
    }
    const busyMs = await bystanders.nextP99Ms();
    const after = await gateway.memory();
    await bystanders.stop();
    const bodies = count / 3; // a third of the kinds sends bodies of many KiB
    const answered = connections.filter(({ text }) => text !== '');
    const slowest = Math.max(
      ...connections.map(({ openedMs, closedMs }) => (closedMs === Number.POSITIVE_INFINITY ? 0 : closedMs - openedMs)),
    );
    for (const connection of connections) connection.reset();
    return [
      expectAll('refused or closed', connections.filter(isOver).length, count),
      expectNone('answers other than a refusal', answered.filter(({ text }) => !/^HTTP\/1\.1 4/.test(text)).length),
      expectBelowWhenQuiet(runLength, 'each within', slowest, LIMIT_MS, ' ms'),
      expectNone('requests of others that failed', bystanders.failed),
      expectBelowWhenQuiet(runLength, 'their p99 to the calm one', busyMs / calmMs, 2),
      ...expectGrowth(before, after, { kept: 3 + bodies / 40, resident: 40 + bodies / 4 }),
    ];
  },
};
