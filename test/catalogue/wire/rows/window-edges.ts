import { setImmediate as turn } from 'node:timers/promises';
import { windowEdgeFaults } from '../../../support/access/window-edges.ts';
import { expectNone, info } from '../../findings.ts';
import { countFor, type WireRow } from '../wire-row.ts';

const SECOND_MS = 1000;

export const windowEdges: WireRow = {
  id: '19',
  title: 'requests a millisecond before, at, and after the end of a window',
  async run(_, runLength) {
    const stride = countFor(runLength, 10, 1, 1);
    const faults: string[] = [];
    for (let offsetMs = 0; offsetMs < SECOND_MS; offsetMs += stride) {
      faults.push(...windowEdgeFaults(offsetMs));
      if (offsetMs % 100 === 0) await turn(); // the testbed's node runs in this thread
    }
    for (const fault of faults.slice(0, 10)) console.error(`   ${fault}`);
    return [info('windows', SECOND_MS / stride), expectNone('wrong answers', faults.length)];
  },
};
