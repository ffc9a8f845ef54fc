import { setTimeout as sleep } from 'node:timers/promises';
import { none, type Row, shown, some } from '../../row.ts';
import { onStage } from '../stage.ts';
import { fewFailed, truthOf } from './truth.ts';

/** Two slots are abandoned at a time, and an answer takes its time. */
const LATE_SLOTS = 5;

/** Slots that are processed and then abandoned, all the time. */
export const forked: Row = {
  id: '35',
  what: 'two of ten slots are processed and rolled back',
  run: (pace) =>
    onStage(
      { plan: { forks: true }, load: { rate: 1000, commitments: ['processed', 'confirmed', 'finalized'] } },
      async (stage) => {
        const { load, chain } = stage;
        let [abandoned, kept, late] = [0, 0, 0];
        load.onSeen = ({ path, slot = 0 }) => {
          if (!path.startsWith('/balance') || !chain.isAbandoned(slot)) return;
          if (path.includes('processed')) abandoned++;
          else kept++;
          if (chain.processedAt(Date.now()) > slot + LATE_SLOTS) late++;
        };
        await sleep(3000);
        load.take();
        await sleep(pace.isFull ? 40_000 : 12_000);
        const tally = load.take();
        return [
          ...truthOf(tally),
          fewFailed(pace, tally),
          shown('slowest ms', tally.slowestMs),
          some('processed answers on a branch that was abandoned', abandoned),
          none('confirmed or finalized ones', kept),
          none('of either, when the branch had long been left', late),
        ];
      },
    ),
};
