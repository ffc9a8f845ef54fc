import t from 'tap';
import { watchedPrices } from '../../../src/prices/watched-prices.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const AT = { commitment: 'confirmed', slot: 1 } as const;

t.test('an outage is told once, and the source is spared while it lasts', async (t) => {
  const state = { requests: 0, fails: true };
  const told: string[] = [];
  const clock = new ManualClock();
  const source = watchedPrices(
    {
      name: 'jupiter-v3',
      async prices() {
        state.requests++;
        if (state.fails) throw new Error('gone');
        return new Map();
      },
    },
    { clock, pauseMs: 5000, onOutage: (cause) => told.push(String(cause)), onRecovery: () => told.push('recovered') },
  );
  for (let i = 0; i < 5; i++) await t.rejects(source.prices([`mint ${i}`], AT), { message: 'gone' });
  t.equal(state.requests, 1);
  clock.advance(5000);
  await t.rejects(source.prices(['mint'], AT), { message: 'gone' });
  clock.advance(5000);
  state.fails = false;
  for (let i = 0; i < 5; i++) await source.prices(['mint'], AT);
  t.same(told, ['Error: gone', 'recovered']);
  t.equal(state.requests, 7);
});
