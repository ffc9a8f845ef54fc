import { setTimeout as sleep } from 'node:timers/promises';
import { holds, none, type Row, within } from '../../row.ts';
import { onStage } from '../stage.ts';
import { fewFailed, truthOf } from './truth.ts';

/** A node further behind than this is out. */
const OUT_SLOTS = 20;

/** A node that says it is healthy and is far behind. */
export const lagging: Row = {
  id: '32',
  what: 'one of two nodes 200 slots behind, with getHealth ok',
  run: (pace) =>
    onStage({ load: { rate: 1000 } }, async (stage) => {
      const { load, nodes, chain } = stage;
      await sleep(3000);
      load.take();
      let old = 0;
      load.onSeen = ({ path, slot, status }) => {
        const commitment = path.includes('finalized') ? 'finalized' : 'confirmed';
        const newest = chain.reached(commitment, chain.processedAt(Date.now()));
        if (status === 200 && path.startsWith('/balance') && slot !== undefined && newest - slot > OUT_SLOTS) old++;
      };
      await nodes[0]?.take({ lag: 200 });
      const outMs = await stage.untilNode(0, ({ status }) => status !== 'ok');
      await sleep(pace.isFull ? 20_000 : 5000);
      await nodes[0]?.take({ lag: 15 });
      await sleep(3000);
      const isOut = (await stage.health()).upstreams[0]?.status !== 'ok';
      await nodes[0]?.take({ lag: 8 });
      const backMs = await stage.untilNode(0, ({ status }) => status === 'ok');
      const tally = load.take();
      return [
        ...truthOf(tally),
        fewFailed(pace, tally),
        none('answers from so far back', old),
        within(pace, 'out after', outMs, 2000),
        holds('still out at 15 behind', isOut),
        within(pace, 'back at 8 behind after', backMs, 3000),
      ];
    }),
};
