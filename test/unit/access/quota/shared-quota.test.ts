import fc from 'fast-check';
import t from 'tap';
import { QuotaMembers, SHARED_LIMIT } from '../../../support/access/quota-members.ts';

const { requests: LIMIT, windowSeconds } = SHARED_LIMIT;

/** What one of N members may charge before the ledger has spoken. */
const creditOf = (members: number): number => Math.max(2, Math.ceil(LIMIT / (2 * members)));

t.test('a caller that only one member sees has its whole limit, and no unit more', async (t) => {
  const members = new QuotaMembers(4);
  const allowed: boolean[] = [];
  const remaining: number[] = [];
  for (let i = 0; i < 120; i++) {
    const quota = members.take(0);
    allowed.push(quota.allowed);
    remaining.push(quota.remaining);
    await members.arrive();
  }
  t.same(allowed, [...Array(100).fill(true), ...Array(20).fill(false)]);
  t.same(
    remaining.slice(0, 100),
    Array.from({ length: 100 }, (_, i) => 99 - i),
  );
});

t.test('members spend one limit together, whichever a request comes to', async (t) => {
  const members = new QuotaMembers(4);
  let allowed = 0;
  for (let i = 0; i < 300; i++) {
    if (members.take((i * 7 + (i % 5)) % 4).allowed) allowed++;
    await members.arrive();
  }
  t.equal(allowed, LIMIT);
  t.match(
    [0, 1, 2, 3].map((member) => members.peek(member).remaining),
    [0, 0, 0, 0],
  );
  const resets = new Set([0, 1, 2, 3].map((member) => members.peek(member).reset));
  t.equal(resets.size, 1, 'all are in one window');
  members.clock.advance(windowSeconds * 1000);
  t.ok(members.take(3).allowed);
});

t.test('a debt is that of all members, and the next window pays it', async (t) => {
  const members = new QuotaMembers(2);
  for (const member of [0, 1]) members.take(member);
  await members.arrive();
  members.limiterOf(0).charge(Uint8Array.of(10, 0, 0, 1).buffer, 150);
  await members.arrive();
  t.match([members.take(0).allowed, members.take(1).allowed], [false, false]);
  members.clock.advance(windowSeconds * 1000 + 1);
  await members.arrive();
  let allowed = 0;
  for (let i = 0; i < 200; i++) {
    if (members.take(i % 2).allowed) allowed++;
    await members.arrive();
  }
  t.ok(Math.abs(allowed - 48) <= 1, `${allowed}: the limit less the debt of 52`);
});

t.test('a price above what is granted ahead is asked for whole', async (t) => {
  const members = new QuotaMembers(4);
  members.take(0);
  await members.arrive();
  const first = members.take(0, 60).allowed;
  await members.arrive();
  t.match([first, members.take(0, 60).allowed], [false, true]);
});

t.test('another member or another ledger gives no new window', async (t) => {
  const members = new QuotaMembers(2);
  const drain = async (): Promise<number> => {
    let allowed = 0;
    for (let i = 0; i < 200; i++) {
      if (members.take(i % 2).allowed) allowed++;
      await members.arrive();
    }
    return allowed;
  };
  t.equal(await drain(), LIMIT);
  members.killLedger();
  await members.arrive();
  t.equal(await drain(), 0, 'the ledger was told again');
  members.kill(0);
  t.ok((await drain()) <= creditOf(2), 'a new member has its credit at most');
});

/** One step of a schedule. */
const stepFor = (members: number) =>
  fc.oneof(
    { weight: 12, arbitrary: fc.record({ take: fc.nat(members - 1), times: fc.integer({ min: 1, max: 60 }) }) },
    { weight: 6, arbitrary: fc.record({ pass: fc.integer({ min: 0, max: 200 }) }) },
    { weight: 2, arbitrary: fc.record({ delay: fc.integer({ min: 0, max: 400 }) }) },
    { weight: 1, arbitrary: fc.record({ kill: fc.nat(members - 1) }) },
  );

t.test(
  'law: over any schedule of requests, delays and deaths the sum is at most the limit and each credit',
  async (t) => {
    const schedules = fc
      .integer({ min: 2, max: 6 })
      .chain((count) =>
        fc.tuple(fc.constant(count), fc.nat(400), fc.array(stepFor(count), { minLength: 20, maxLength: 80 })),
      );
    let most = 0;
    await fc.assert(
      fc.asyncProperty(schedules, async ([count, firstDelayMs, steps]) => {
        const members = new QuotaMembers(count);
        let delayMs = firstDelayMs;
        let random = 1;
        members.delayMs = () => {
          random = (Math.imul(random, 48271) >>> 0) % 2147483647;
          return delayMs === 0 ? 0 : random % delayMs;
        };
        const startedMs = members.clock.monotonic();
        let charged = 0;
        let credits = count;
        for (const step of steps) {
          if (members.clock.monotonic() - startedMs > windowSeconds * 1000 - 500) break; // one window
          if ('take' in step) for (let i = 0; i < step.times; i++) charged += members.take(step.take).allowed ? 1 : 0;
          else if ('pass' in step) members.clock.advance(step.pass);
          else if ('delay' in step) delayMs = step.delay;
          else {
            members.kill(step.kill);
            credits++;
          }
          await members.arrive();
        }
        most = Math.max(most, charged);
        return charged <= LIMIT + credits * creditOf(count);
      }),
      { numRuns: 300, seed: 7 },
    );
    t.ok(most > LIMIT, `the most that was charged: ${most}`);
  },
);
