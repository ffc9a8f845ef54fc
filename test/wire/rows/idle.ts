import { Bystander } from '../bystander.ts';
import { get } from '../http/message.ts';
import { openLines } from '../line.ts';
import { all, atMost, below, type Row, shown, times } from '../row.ts';

const MiB = 1024 * 1024;

/** Connections that have asked once and now only stay. */
export const idle: Row = {
  id: 5,
  what: 'idle connections',
  async run({ url, gateway }, pace) {
    const count = times(pace, 500, 4000, 10_000);
    const bystander = new Bystander(url);
    const before = await gateway.vitals();
    bystander.takeP99Ms();
    const lines = await openLines(url, count);
    for (const line of lines.filter((_, i) => i % 2 === 0)) line.write(get());
    const during = await gateway.vitals();
    const open = lines.filter(({ closed }) => !closed).length;
    const p99Ms = bystander.takeP99Ms();
    await bystander.stop();
    for (const line of lines) line.cut();
    return [
      shown('opened', count),
      shown('still open', open),
      all('good answers', bystander.asked - bystander.failed, bystander.asked),
      below(pace, 'their p99', p99Ms, 10, ' ms'),
      atMost('memory grew by', (during.rss - before.rss) / MiB, 20, ' MiB'),
    ];
  },
};
