import t, { type Test } from 'tap';
import { RequestBudget } from '../../../src/live/request-budget.ts';
import { type AuditedState, SessionAudit } from '../../../src/live/session-audit.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { ManualSession } from './manual-session.ts';

const newState = (): AuditedState => ({ slot: 10, coveredSlot: 10, reset: () => {}, invalidate: () => {} });

/** Opens an audit of five states, and the numbers of those that it compares. */
function openAudit(t: Test) {
  const states = Array.from({ length: 5 }, newState);
  const queue = new Set(states);
  const compared: number[] = [];
  const clock = new ManualClock();
  const audit = new SessionAudit<AuditedState>({
    session: {
      pubsub: new ManualSession(),
      clock,
      budget: new RequestBudget(clock, 1000),
      tip: () => 10,
      onLeasesAdvanced: () => {},
      onWatermarkLost: () => {},
      onLeaseViolation: () => t.fail(),
      onLost: () => {},
      onRoom: () => {},
      isRenewing: () => false,
    },
    awaitTurn: async () => {},
    states: () => queue,
    takeBatch: (count) => {
      const batch = [...queue].slice(0, count);
      for (const state of batch) {
        queue.delete(state);
        queue.add(state);
      }
      return batch;
    },
    restart: () => t.fail(),
    reread: async (batch) => {
      for (const state of batch) compared.push(states.indexOf(state));
      return batch.map(() => ({ slot: 10, isUnchanged: () => true }));
    },
    onClockUpdate: () => {},
    onLost: () => {},
  });
  const add = (): void => {
    const state = newState();
    states.push(state);
    queue.add(state);
  };
  return { audit, add, compared };
}

t.test('I9: an audit compares at most so many states, each in its turn', async (t) => {
  const { audit, compared } = openAudit(t);
  for (const _ of [1, 2, 3, 4, 5]) t.equal(await audit.audit(2), 2);
  t.strictSame(compared, [0, 1, 2, 3, 4, 0, 1, 2, 3, 4]);
  t.equal(await audit.audit(100), 5);
});

t.test('I9: each state has its turn in time, however many are added', async (t) => {
  const { audit, add, compared } = openAudit(t);
  for (const _ of [1, 2, 3, 4, 5]) {
    await audit.audit(2);
    for (const _ of [1, 2, 3]) add();
  }
  t.strictSame(compared, [0, 1, 2, 3, 4, 0, 1, 5, 6, 7]);
});
