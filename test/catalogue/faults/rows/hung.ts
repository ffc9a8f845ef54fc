import { setTimeout as sleep } from 'node:timers/promises';
import { below, none, type Row, shown, within } from '../../row.ts';
import { onStage } from '../stage.ts';
import { fewFailed, truthOf } from './truth.ts';

const DEADLINE_MS = 2000;
/** What a deadline may be missed by: the timers of two busy processes. */
const LATE_MS = 100;

/** A node that exists and does nothing. */
export const hung: Row = {
  id: '28',
  what: 'one of two nodes stopped (SIGSTOP)',
  run: (pace) =>
    onStage({ proxied: true, load: { rate: 2000 }, verifyEvery: 200 }, async (stage) => {
      const { load, nodes, proxies } = stage;
      await sleep(3000);
      load.take();
      proxies[0]?.takeMost();
      nodes[0]?.freeze();
      await sleep(pace.isFull ? 20_000 : 6000);
      const most = proxies[0]?.takeMost() ?? 0;
      const tally = load.take();
      nodes[0]?.thaw();
      const backMs = await stage.untilNode(0, ({ status, ws }) => status === 'ok' && ws === 'up');
      const after = load.take();
      return [
        ...truthOf(tally),
        none('wrong or regressed afterwards', after.wrong + after.regressed),
        fewFailed(pace, tally),
        shown('p99 ms', tally.quantileMs(0.99)),
        within(pace, 'slowest', tally.slowestMs, DEADLINE_MS + LATE_MS),
        below(pace, 'connections to it at most', most, 65),
        within(pace, 'back after', backMs, 5000),
      ];
    }),
};
