import t from 'tap';
import type { Lease } from '../../../src/domain/lease.ts';
import { type AuditedState, SessionAudit } from '../../../src/live/session-audit.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { ManualSession } from './manual-session.ts';

const LEASE: Lease = {
  state: 'active',
  slot: 10,
  lagSlots: 0,
  validatedMs: 0,
  recordRead: () => {},
  onRevoked: () => {},
  offRevoked: () => {},
};

t.test('I9: an audit compares at most so many states, each in its turn', async (t) => {
  const states = Array.from({ length: 5 }, (): AuditedState => ({ slot: 10, lease: LEASE, reset: () => {} }));
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
  for (const _ of [1, 2, 3, 4, 5]) t.equal(await audit.audit(2), 2);
  t.strictSame(compared, [0, 1, 2, 3, 4, 0, 1, 2, 3, 4]);
  t.equal(await audit.audit(100), 5);
});
