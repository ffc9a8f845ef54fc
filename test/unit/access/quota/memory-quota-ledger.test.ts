import t from 'tap';
import { MemoryQuotaLedger } from '../../../../src/access/quota/memory-quota-ledger.ts';
import { testLedger } from '../../../support/access/ledger-contract.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

testLedger('in memory', () => {
  const clock = new ManualClock();
  const members = new Map<string, ReturnType<MemoryQuotaLedger['join']>>();
  let ledger = new MemoryQuotaLedger(100, clock);
  return {
    windowMs: 10_000,
    join(member) {
      const joined = ledger.join(member);
      members.set(member, joined);
      return { members: 2, settle: (asks) => (members.get(member) ?? joined).settle(asks), onLeft: joined.onLeft };
    },
    pass: (ms) => clock.advance(ms),
    forget() {
      ledger = new MemoryQuotaLedger(100, clock);
      for (const member of members.keys()) members.set(member, ledger.join(member));
    },
    close: () => {},
  };
});

const ask = { limit: 100, windowMs: 1000, window: 0, ageMs: 0, used: 0, want: 100, need: 100 };

t.test('it keeps no more windows than it may; each member has its part of the others', async (t) => {
  const ledger = new MemoryQuotaLedger(10, new ManualClock());
  ledger.join('a');
  ledger.join('b');
  const shares = Array.from({ length: 20 }, (_, i) => ledger.settle('a', { ...ask, id: `${i}` }).share);
  t.same(shares, [...Array(10).fill(100), ...Array(10).fill(50)]);
  t.equal(ledger.size, 10);
});

t.test('ended windows give their places to others, save those that owe', async (t) => {
  const clock = new ManualClock();
  const ledger = new MemoryQuotaLedger(10, clock);
  for (let i = 0; i < 10; i++) ledger.settle('a', { ...ask, id: `${i}`, used: i === 0 ? 150 : 1 });
  clock.advance(1000);
  for (let i = 10; i < 19; i++) ledger.settle('a', { ...ask, id: `${i}` });
  t.equal(ledger.size, 10);
  t.equal(ledger.settle('a', { ...ask, id: '0', want: 0, need: 0 }).left, 50, 'it pays');
});

t.test('a member that left counts no more', async (t) => {
  const ledger = new MemoryQuotaLedger(10, new ManualClock());
  const [one, two] = [ledger.join('a'), ledger.join('b')];
  t.equal(one.members, 2);
  two.leave();
  t.equal(one.members, 1);
});
