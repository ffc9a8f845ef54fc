import { setImmediate as turn } from 'node:timers/promises';
import { limiterDifference } from '../../../support/access/limiter-model.ts';
import { expectNone, info } from '../../findings.ts';
import { countFor, type WireRow } from '../wire-row.ts';

export const limiterModel: WireRow = {
  id: '18',
  title: 'sequences of requests to the limiter, and to an exact model of it',
  async run(_, runLength) {
    const count = countFor(runLength, 2000, 20_000, 100_000);
    let different = 0;
    for (let seed = 0; seed < count; seed++) {
      const difference = limiterDifference(seed, { hasDebt: seed % 2 === 1 });
      if (difference !== undefined) {
        different++;
        console.error(`   ${difference}`);
      }
      if (seed % 100 === 0) await turn(); // the testbed's node runs in this thread
    }
    return [info('sequences', count), expectNone('that differ', different)];
  },
};
