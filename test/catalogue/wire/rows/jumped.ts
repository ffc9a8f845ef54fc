import { jump } from '../../../support/access/clock-jump.ts';
import { none, shown } from '../../row.ts';
import type { Row } from '../row.ts';

const HOUR_MS = 3_600_000;
const JUMPS_MS = [HOUR_MS, -HOUR_MS, 24 * HOUR_MS, -24 * HOUR_MS, 1000, -1000, 128, -128];
const MOMENTS_MS = [...Array(100).keys()].map((i) => i * 100).concat(1, 9_998);

/** An hour, a day, and what NTP does in one step. */
export const jumped: Row = {
  id: '22',
  what: 'jumps of the wall clock within a window',
  async run() {
    const all = JUMPS_MS.flatMap((byMs) => MOMENTS_MS.map((afterMs) => jump(byMs, afterMs)));
    return [
      shown('jumps', all.length),
      none('that free requests', all.filter(({ free }) => free !== 0).length),
      none('that lock out longer than the window', all.filter(({ lost }) => lost !== 0).length),
      none('that change a Reset which was told', all.filter(({ retold }) => retold).length),
    ];
  },
};
