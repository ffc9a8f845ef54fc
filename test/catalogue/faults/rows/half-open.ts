import { setTimeout as sleep } from 'node:timers/promises';
import { type Row, within } from '../../row.ts';
import { halfOpen as lost } from '../proxy/fault.ts';
import { onStage } from '../stage.ts';
import { fewFailed, truthOf } from './truth.ts';

const HIDDEN = { hidesEnds: true };

/** A connection whose other end is gone without a word. */
export const halfOpen: Row = {
  id: '29',
  what: 'half-open connections, each node in turn',
  run: (pace) =>
    onStage({ proxied: true }, async (stage) => {
      const { load, proxies } = stage;
      await sleep(4000);
      load.take();
      const noticedMs: number[] = [];
      const movedMs: number[] = [];
      for (const [index, proxy] of proxies.entries()) {
        const before = await stage.nodes[1 - index]?.counts();
        proxy.suffer(lost, HIDDEN);
        const beganMs = performance.now();
        noticedMs.push(await stage.untilNode(index, ({ ws }) => ws === 'down'));
        // All hot accounts are watched over the other node, beside its beacons.
        await stage.until(async () => {
          const { subscribed = 0 } = (await stage.nodes[1 - index]?.counts()) ?? {};
          return subscribed >= Math.max(before?.['subscribed'] ?? 0, 2 * load.hot.length);
        });
        movedMs.push(performance.now() - beganMs);
        proxy.heal();
        await stage.untilNode(index, ({ status, ws }) => status === 'ok' && ws === 'up');
        await sleep(2000);
      }
      const tally = load.take();
      return [
        ...truthOf(tally),
        fewFailed(pace, tally),
        within(pace, 'noticed after', Math.max(...noticedMs), 3000),
        within(pace, 'subscribed elsewhere after', Math.max(...movedMs), 4000),
      ];
    }),
};
