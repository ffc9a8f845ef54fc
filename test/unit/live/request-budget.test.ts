import t from 'tap';
import { RequestBudget, RequestBudgets } from '../../../src/live/request-budget.ts';
import { ManualClock } from '../../support/manual-clock.ts';

/** Takes requests for some seconds, as many as wait; returns the times of those of each kind. */
async function run(perSecond: number, waiting: { sync?: number; audit?: number }, seconds: number) {
  const clock = new ManualClock();
  const budget = new RequestBudget(clock, perSecond);
  const times: { sync: number[]; audit: number[] } = { sync: [], audit: [] };
  for (const work of ['sync', 'audit'] as const) {
    for (let i = 0; i < (waiting[work] ?? 0); i++)
      void budget.take(work).then(() => times[work].push(clock.monotonic()));
  }
  for (let ms = 0; ms < seconds * 1000; ms += 5) {
    clock.advance(5);
    await new Promise((resolve) => setImmediate(resolve));
  }
  budget.close();
  return times;
}

/** Returns the most times in a second. */
const mostInSecond = (times: readonly number[]): number =>
  Math.max(...times.map((from) => times.filter((ms) => ms >= from && ms < from + 1000).length));

t.test('in no second are there more requests than the budget has, and nearly all of them are used', async (t) => {
  for (const perSecond of [1, 2, 20]) {
    const { sync } = await run(perSecond, { sync: 200 }, 4);
    t.ok(mostInSecond(sync) <= perSecond, `${mostInSecond(sync)} of ${perSecond}`);
    t.ok(sync.length >= 4 * perSecond * 0.9, `${sync.length}`);
  }
});

t.test('audits have half of the requests while something else waits, and no more without it', async (t) => {
  const both = await run(20, { sync: 200, audit: 200 }, 4);
  t.ok(Math.abs(both.audit.length - both.sync.length) <= 12, `${both.audit.length} audits, ${both.sync.length} others`);
  t.ok(mostInSecond([...both.sync, ...both.audit].sort((a, b) => a - b)) <= 20);
  t.ok(mostInSecond((await run(20, { audit: 200 }, 4)).audit) <= 10);
});

t.test('a node has one budget for all; a pooled one has a tenth', async (t) => {
  const budgets = new RequestBudgets(new ManualClock(), 20);
  const node = { nodeId: 'node-1', isPooled: false };
  t.equal(budgets.of(node), budgets.of(node));
  t.equal(budgets.of(node).perSecond, 20);
  t.equal(budgets.of({ nodeId: 'node-2', isPooled: true }).perSecond, 2);
  t.equal(new RequestBudgets(new ManualClock(), 3).of({ nodeId: 'node-3', isPooled: true }).perSecond, 1);
});
