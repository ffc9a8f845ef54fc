import t, { type Test } from 'tap';
import { type AuditedState, SessionAudit } from '../../../src/live/session-audit.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { ManualSession } from './manual-session.ts';

const newState = (): AuditedState => ({ slot: 10, coveredSlot: 10, reset: () => {} });

/** Opens an audit of five states, and the numbers of those that it compares. */
function openAudit(t: Test) {
  const states = Array.from({ length: 5 }, newState);
  const compared: number[] = [];
  const audit = new SessionAudit<AuditedState>({
    session: {
      pubsub: new ManualSession(),
      clock: new ManualClock(),
      tip: () => 10,
      onLeasesAdvanced: () => {},
      onLeaseViolation: () => t.fail(),
      onLost: () => {},
    },
    states: () => states,
    reread: async (state) => {
      compared.push(states.indexOf(state));
      return { slot: 10, isUnchanged: () => true };
    },
    onClockUpdate: () => {},
    onLost: () => {},
  });
  return { audit, states, compared };
}

t.test('I9: an audit compares at most so many states, each in its turn', async (t) => {
  const { audit, compared } = openAudit(t);
  for (const _ of [1, 2, 3, 4, 5]) t.equal(await audit.audit(2), 2);
  t.strictSame(compared, [0, 1, 2, 3, 4, 0, 1, 2, 3, 4]);
  t.equal(await audit.audit(100), 5);
});

t.test('I9: each state has its turn in time, however many are added', async (t) => {
  const { audit, states, compared } = openAudit(t);
  for (const _ of [1, 2, 3, 4, 5]) {
    await audit.audit(2);
    states.push(newState(), newState(), newState());
  }
  t.strictSame(compared, [0, 1, 2, 3, 4, 0, 1, 5, 6, 7]);
});
