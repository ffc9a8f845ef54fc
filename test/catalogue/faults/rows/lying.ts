import { setTimeout as sleep } from 'node:timers/promises';
import { holds, none, type Row, within } from '../../row.ts';
import { onStage } from '../stage.ts';
import { fewFailed, truthOf } from './truth.ts';

/** A node that is suddenly far ahead of all others. */
export const lying: Row = {
  id: '33',
  what: 'one of two nodes says slot + 10,000',
  run: (pace) =>
    onStage({ load: { rate: 1000 } }, async (stage) => {
      const { load, nodes, chain } = stage;
      await sleep(3000);
      load.take();
      await nodes[0]?.take({ lie: 10_000 });
      const outMs = await stage.untilNode(0, ({ status }) => status !== 'ok');
      let ahead = 0;
      const watching = setInterval(async () => {
        const { slot } = await stage.health();
        ahead = Math.max(ahead, slot - chain.processedAt(Date.now()));
      }, 100);
      await sleep(pace.isFull ? 20_000 : 5000);
      clearInterval(watching);
      const { status } = await stage.health();
      await nodes[0]?.take({ lie: 0 });
      const backMs = await stage.untilNode(0, (node) => node.status === 'ok' && node.ws === 'up');
      const tally = load.take();
      return [
        ...truthOf(tally),
        fewFailed(pace, tally),
        none('slots ahead of the truth', Math.max(0, ahead)),
        holds(`health is ${status}`, status === 'degraded'),
        within(pace, 'out after', outMs, 2000),
        within(pace, 'back after the truth again', backMs, 3000),
      ];
    }),
};
