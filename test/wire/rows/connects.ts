import { shown } from '../../faults/row.ts';
import { Bystander } from '../bystander.ts';
import { inTurn } from '../in-turn.ts';
import { Line } from '../line.ts';
import { all, grownBy, type Row, times } from '../row.ts';

const AT_ONCE = 100;

/** Connections that come and go as fast as they can. */
export const connects: Row = {
  id: '6',
  what: 'a flood of connections from one address',
  async run({ url, gateway }, pace) {
    const count = times(pace, 2000, 20_000, 100_000);
    const bystander = new Bystander(url);
    const before = await gateway.rss();
    const beganMs = performance.now();
    await inTurn(Array.from({ length: count }), AT_ONCE, async () => {
      const line = await Line.open(url, '127.0.9.9');
      line.cut();
    });
    const perSecond = (count * 1000) / (performance.now() - beganMs);
    const after = await gateway.rss();
    await bystander.stop();
    return [
      shown('opened', count),
      shown('a second', perSecond),
      all("others' good answers", bystander.asked - bystander.failed, bystander.asked),
      grownBy(before, after, 20),
    ];
  },
};
