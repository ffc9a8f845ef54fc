import { expectNone, expectSome, info, type Row } from '../../findings.ts';
import { FEED_CONTROLS, runFeedSchedules } from '../simulator/feed-schedule.ts';

export const geyserSchedules: Row = {
  id: 'geyser-schedules',
  title: 'a Geyser feed with faults in random schedules',
  async run({ isFull }) {
    const count = isFull ? 10_000 : 1000;
    const sum = runFeedSchedules(1, count);
    return [
      info('schedules', count),
      info('claims', sum.claims),
      expectSome('gaps', sum.gaps),
      expectSome('accounts read again behind them', sum.disarmed),
      expectSome('feeds refused', sum.refused),
      expectSome('streams found false', sum.dropped),
      expectNone('false claims', sum.falseClaims),
      expectNone('regressed', sum.regressions),
      expectNone('stale at the end', sum.stale),
      ...FEED_CONTROLS.map(({ rule, shows }) =>
        expectSome(`${shows === 'stale' ? 'stale' : 'false'} without ${rule}`, runFeedSchedules(1, 100, rule)[shows]),
      ),
    ];
  },
};
