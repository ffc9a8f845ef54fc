import t from 'tap';
import { watchedService } from '../../../src/prices/watched-service.ts';
import { ManualClock } from '../../support/manual-clock.ts';

t.test('an outage is told once, and the service is spared while it lasts', async (t) => {
  const state = { requests: 0, fails: true };
  const told: string[] = [];
  const clock = new ManualClock();
  const ask = watchedService(
    async (mint: string) => {
      state.requests++;
      if (state.fails) throw new Error('gone');
      return mint;
    },
    { clock, pauseMs: 5000, onOutage: (cause) => told.push(String(cause)), onRecovery: () => told.push('recovered') },
  );
  for (let i = 0; i < 5; i++) await t.rejects(ask(`mint ${i}`), { message: 'gone' });
  t.equal(state.requests, 1);
  clock.advance(5000);
  await t.rejects(ask('mint'), { message: 'gone' });
  clock.advance(5000);
  state.fails = false;
  for (let i = 0; i < 5; i++) t.equal(await ask('mint'), 'mint');
  t.same(told, ['Error: gone', 'recovered']);
  t.equal(state.requests, 7);
});
