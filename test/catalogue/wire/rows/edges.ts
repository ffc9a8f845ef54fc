import { setImmediate as turn } from 'node:timers/promises';
import { edgeFaults } from '../../../support/access/window-edges.ts';
import { none, shown } from '../../row.ts';
import { type Row, times } from '../row.ts';

const SECOND_MS = 1000;

export const edges: Row = {
  id: '19',
  what: 'requests a millisecond before, at, and behind the end of a window',
  async run(_, pace) {
    const stride = times(pace, 10, 1, 1);
    const faults: string[] = [];
    for (let offsetMs = 0; offsetMs < SECOND_MS; offsetMs += stride) {
      faults.push(...edgeFaults(offsetMs));
      if (offsetMs % 100 === 0) await turn(); // the stage's node lives in this thread
    }
    for (const fault of faults.slice(0, 10)) console.error(`   ${fault}`);
    return [shown('windows', SECOND_MS / stride), none('answers that are not as told', faults.length)];
  },
};
