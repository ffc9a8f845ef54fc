import { setTimeout as sleep } from 'node:timers/promises';
import { openConnections } from '../../../support/raw-connection.ts';
import { info } from '../../findings.ts';
import { CHUNKED, post, request } from '../http/raw-request.ts';
import { countFor, expectAll, expectBelowWhenQuiet, expectGrowth, type WireRow } from '../wire-row.ts';

const LIMIT = 65_536;
const PATIENCE_MS = 20_000;
const CHUNK = `4000\r\n${'a'.repeat(0x4000)}\r\n`;

/** First bytes of a request, and bytes that are sent repeatedly after them. */
const KINDS: readonly { readonly begins: string; readonly goesOn: string }[] = [
  { begins: post(`Content-Length: ${LIMIT + 1}`) + 'a'.repeat(LIMIT + 1), goesOn: '' },
  { begins: post('Content-Length: 999999999'), goesOn: '' },
  { begins: post('Content-Length: 999999999'), goesOn: 'a'.repeat(0x4000) },
  { begins: post(CHUNKED), goesOn: CHUNK },
  { begins: request('POST /api/v1/explain', 'Content-Type: application/json', CHUNKED), goesOn: CHUNK },
];

/** Bodies that are too long or never end. */
export const oversizedBodies: WireRow = {
  id: '12',
  title: 'bodies that are too long or never end',
  async run({ url, gateway }, runLength) {
    const count = countFor(runLength, 50, 200, 500);
    const before = await gateway.memory();
    const connections = await openConnections(url, count);
    for (const [i, connection] of connections.entries()) connection.write(KINDS[i % KINDS.length]?.begins ?? '');
    const beganMs = performance.now();
    let most = before;
    const isOver = (connection: (typeof connections)[number]): boolean => connection.closed || connection.text !== '';
    while (performance.now() - beganMs < PATIENCE_MS && !connections.every(isOver)) {
      for (const [i, connection] of connections.entries()) {
        if (!isOver(connection) && connection.socket.writableLength === 0)
          connection.write(KINDS[i % KINDS.length]?.goesOn ?? '');
      }
      await sleep(20);
      const { keptBytes, residentBytes } = await gateway.memory();
      most = {
        keptBytes: Math.max(most.keptBytes, keptBytes),
        residentBytes: Math.max(most.residentBytes, residentBytes),
      };
    }
    const tookMs = performance.now() - beganMs;
    const tooLarge = connections.filter(({ text }) => text.startsWith('HTTP/1.1 413')).length;
    const over = connections.filter(isOver).length;
    for (const connection of connections) connection.reset();
    return [
      expectAll('refused or closed', over, count),
      info('by 413', tooLarge),
      expectBelowWhenQuiet(runLength, 'the last after', tookMs, 12_000, ' ms'),
      ...expectGrowth(before, most, { kept: count / 4, resident: count / 4 + 40 }),
    ];
  },
};
