import { jumpClock } from '../../../support/access/clock-jump.ts';
import { expectNone, info } from '../../findings.ts';
import type { WireRow } from '../wire-row.ts';

const HOUR_MS = 3_600_000;
const JUMPS_MS = [HOUR_MS, -HOUR_MS, 24 * HOUR_MS, -24 * HOUR_MS, 1000, -1000, 128, -128];
const JUMP_TIMES_MS = [...Array(100).keys()].map((i) => i * 100).concat(1, 9_998);

/** Jumps of an hour, a day, and one NTP step. */
export const clockJumps: WireRow = {
  id: '22',
  title: 'jumps of the wall clock within a window',
  async run() {
    const all = JUMPS_MS.flatMap((byMs) => JUMP_TIMES_MS.map((afterMs) => jumpClock(byMs, afterMs)));
    return [
      info('jumps', all.length),
      expectNone('that free requests', all.filter(({ freeRequests }) => freeRequests !== 0).length),
      expectNone('that lock out longer than the window', all.filter(({ lostRequests }) => lostRequests !== 0).length),
      expectNone('that change an announced Reset', all.filter(({ isResetChanged }) => isResetChanged).length),
    ];
  },
};
