import { setTimeout as sleep } from 'node:timers/promises';
import { openLines } from '../../../support/line.ts';
import { shown } from '../../row.ts';
import { CHUNKED, post, request } from '../http/message.ts';
import { all, calmly, grownBy, type Row, times } from '../row.ts';

const LIMIT = 65_536;
const PATIENCE_MS = 20_000;
const CHUNK = `4000\r\n${'a'.repeat(0x4000)}\r\n`;

/** Each sends `begins`, and `goesOn` again and again. */
const KINDS: readonly { readonly begins: string; readonly goesOn: string }[] = [
  { begins: post(`Content-Length: ${LIMIT + 1}`) + 'a'.repeat(LIMIT + 1), goesOn: '' },
  { begins: post('Content-Length: 999999999'), goesOn: '' },
  { begins: post('Content-Length: 999999999'), goesOn: 'a'.repeat(0x4000) },
  { begins: post(CHUNKED), goesOn: CHUNK },
  { begins: request('POST /api/v1/explain', 'Content-Type: application/json', CHUNKED), goesOn: CHUNK },
];

/** Bodies that are too long, or have no end. */
export const oversized: Row = {
  id: '12',
  what: 'bodies that are too long, or never end',
  async run({ url, gateway }, pace) {
    const count = times(pace, 50, 200, 500);
    const before = await gateway.rss();
    const lines = await openLines(url, count);
    for (const [i, line] of lines.entries()) line.write(KINDS[i % KINDS.length]?.begins ?? '');
    const beganMs = performance.now();
    let most = before;
    const isOver = (line: (typeof lines)[number]): boolean => line.closed || line.text !== '';
    while (performance.now() - beganMs < PATIENCE_MS && !lines.every(isOver)) {
      for (const [i, line] of lines.entries()) {
        if (!isOver(line) && line.socket.writableLength === 0) line.write(KINDS[i % KINDS.length]?.goesOn ?? '');
      }
      await sleep(20);
      most = Math.max(most, await gateway.rss());
    }
    const tookMs = performance.now() - beganMs;
    const tooLarge = lines.filter(({ text }) => text.startsWith('HTTP/1.1 413')).length;
    const over = lines.filter(isOver).length;
    for (const line of lines) line.cut();
    return [
      all('refused or closed', over, count),
      shown('by 413', tooLarge),
      calmly(pace, 'the last after', tookMs, 12_000, ' ms'),
      grownBy(before, most, count / 4 + 20),
    ];
  },
};
