import { setTimeout as sleep } from 'node:timers/promises';
import { openLines } from '../../../support/line.ts';
import { shown } from '../../row.ts';
import { Bystander } from '../bystander.ts';
import { get } from '../http/message.ts';
import { all, calmly, grownBy, type Row, times } from '../row.ts';

/** Connections that have asked once and now only stay. */
export const idle: Row = {
  id: '5',
  what: 'idle connections',
  async run({ url, gateway }, pace) {
    const count = times(pace, 500, 4000, 10_000);
    const bystander = new Bystander(url);
    const before = await gateway.rss();
    const lines = await openLines(url, count);
    for (const line of lines.filter((_, i) => i % 2 === 0)) line.write(get());
    const during = await gateway.rss();
    await bystander.takeP99Ms();
    await sleep(2000);
    const p99Ms = await bystander.takeP99Ms();
    const open = lines.filter(({ closed }) => !closed).length;
    await bystander.stop();
    for (const line of lines) line.cut();
    return [
      shown('opened', count),
      shown('still open', open),
      all('good answers', bystander.asked - bystander.failed, bystander.asked),
      calmly(pace, 'their p99', p99Ms, 10, ' ms'),
      grownBy(before, during, 20),
    ];
  },
};
