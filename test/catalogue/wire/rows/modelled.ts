import { setImmediate as turn } from 'node:timers/promises';
import { differenceIn } from '../../../support/access/limiter-model.ts';
import { none, shown } from '../../row.ts';
import { type Row, times } from '../row.ts';

export const modelled: Row = {
  id: '18',
  what: 'sequences of requests to the limiter, and to an exact model of it',
  async run(_, pace) {
    const count = times(pace, 2000, 20_000, 100_000);
    let different = 0;
    for (let seed = 0; seed < count; seed++) {
      const difference = differenceIn(seed);
      if (difference !== undefined) {
        different++;
        console.error(`   ${difference}`);
      }
      if (seed % 100 === 0) await turn(); // the stage's node lives in this thread
    }
    return [shown('sequences', count), none('that differ', different)];
  },
};
