import t from 'tap';
import { StreamQuota } from '../../../../src/access/limits/stream-quota.ts';
import type { Tier } from '../../../../src/access/limits/tiers.ts';
import { type OtherSeats, SeatLedger } from '../../../../src/access/quota/seat-ledger.ts';
import { SharedSeats } from '../../../../src/access/quota/shared-seats.ts';
import { DEFAULT_TIERS } from '../../../support/access/default-tiers.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const tier: Tier = { ...DEFAULT_TIERS.free, streams: 2, messages: 15 };

/** A /64 in 2001:db8:<site>::/48. */
const subnet = (site: number, which: number): bigint => 0x2001_0db8_0000_0000n + (BigInt(site) << 16n) + BigInt(which);

t.test('a caller has a limited number of connections; a closed one frees a slot', async (t) => {
  const quota = new StreamQuota(new ManualClock());
  const first = quota.acquire(1, tier);
  t.ok(quota.acquire(1, tier));
  t.equal(quota.acquire(1, tier), undefined);
  t.ok(quota.acquire(2, tier), 'other callers have their own slots');
  first?.release();
  t.ok(quota.acquire(1, tier));
});

t.test('an IPv6 /48 has eight times as many connections as a /64 in it', async (t) => {
  const quota = new StreamQuota(new ManualClock());
  const held = Array.from({ length: 40 }, (_, i) => quota.acquire(subnet(1, i), tier)).filter(
    (seat) => seat !== undefined,
  );
  t.equal(held.length, 16);
  t.equal(quota.acquire(subnet(1, 99), tier), undefined);
  t.ok(quota.acquire(subnet(2, 0), tier), 'another /48');
  for (const seat of held) seat.release();
  t.equal(quota.size, 2, 'callers without connections are dropped');
});

t.test('ten messages per second are allowed on a connection, and a limited number on all of a caller', async (t) => {
  const clock = new ManualClock();
  const quota = new StreamQuota(clock);
  const [one, two] = [quota.acquire('key 1', tier), quota.acquire('key 1', tier)];
  const said = (times: number, seat = one): number =>
    Array.from({ length: times }, () => seat?.consumeMessage()).filter((verdict) => verdict === 'handle').length;
  t.equal(said(11), 10);
  t.equal(said(10, two), 5, 'the rest of the fifteen of this caller');
  t.equal(said(1, quota.acquire('key 2', tier)), 1);
  clock.advance(1000);
  t.equal(said(10), 10);
  t.equal(said(5, two), 5);
});

t.test('the fiftieth message over the pace within five seconds closes the connection, fewer never do', async (t) => {
  const clock = new ManualClock();
  const quota = new StreamQuota(clock);
  const seat = quota.acquire('key 1', { ...tier, messages: 1000 });
  const say = (times: number): unknown[] =>
    Array.from({ length: times }, () => seat?.consumeMessage()).filter((verdict) => verdict !== 'handle');
  for (let second = 0; second < 60; second++) {
    t.same(say(19), Array(9).fill('refuse'), 'nine over the pace each second are 45 in five seconds');
    clock.advance(1000);
  }
  clock.advance(5000);
  t.same(say(59), Array(49).fill('refuse'));
  clock.advance(4999);
  t.same(say(10), []);
  t.same(say(1), ['close']);
});

t.test('a caller may subscribe to as many addresses at once as a connection may have, then at the pace', async (t) => {
  const clock = new ManualClock();
  const quota = new StreamQuota(clock);
  const [one, two] = [quota.acquire('key 1', tier), quota.acquire('key 1', tier)];
  const taken = (seat = one): number => {
    for (let count = 0; ; count++) if (seat?.consumeSubscribe() !== 0) return count;
  };
  t.equal(taken(), tier.subscriptions);
  t.equal(taken(two), 0, 'all connections of a caller together');
  const waitMs = one?.consumeSubscribe() ?? 0;
  t.equal(waitMs, Math.ceil(1000 / tier.messages));
  clock.advance(waitMs);
  t.equal(taken(two), 1);
  clock.advance(600);
  t.equal(taken(), Math.floor(0.6 * tier.messages));
  clock.advance(3_600_000);
  t.equal(taken(), tier.subscriptions, 'no more are saved up');
});

t.test('whoever closes a connection and opens another has no more addresses than on one', async (t) => {
  const clock = new ManualClock();
  const quota = new StreamQuota(clock);
  const taken = (): number => {
    const slot = quota.acquire('key 1', tier);
    for (let count = 0; ; count++) {
      if (slot?.consumeSubscribe() === 0) continue;
      slot?.release();
      return count;
    }
  };
  t.equal(taken(), tier.subscriptions);
  t.equal(taken(), 0);
  clock.advance(400);
  t.equal(taken(), 0.4 * tier.messages);
  t.equal(quota.size, 1);
  clock.advance((tier.subscriptions / tier.messages) * 1000 + 1);
  t.equal(quota.size, 0, 'forgotten once all are back');
  t.equal(taken(), tier.subscriptions);
});

/** Starts processes that share seats; messages arrive at once. Returns how the first ledger is replaced, too. */
function shareSeats(count: number) {
  let ledger = new SeatLedger();
  const processes = Array.from({ length: count }, () => {
    let member: ReturnType<SeatLedger['join']> | undefined;
    const seats: SharedSeats = new SharedSeats({ hold: (held) => member?.hold(held), afterTurn: (work) => work() });
    const join = (): void => {
      let others: readonly OtherSeats[] = [];
      member = ledger.join((told) => {
        if (member === undefined) others = told;
        else seats.hear(told);
      });
      seats.retell();
      seats.hear(others); // what was sent with the join comes behind it
    };
    join();
    const rejoin = (): void => {
      member = undefined;
      join();
    };
    return { quota: new StreamQuota(new ManualClock(), seats), rejoin, leave: () => member?.leave() };
  });
  const replaceLedger = (): void => {
    ledger = new SeatLedger();
    for (const { rejoin } of processes) rejoin();
  };
  return { processes, replaceLedger, callers: () => ledger.size };
}

t.test('a caller has as many connections over all processes, until one of these ends', async (t) => {
  const { processes, replaceLedger, callers } = shareSeats(3);
  const keys = [1, 'key 1', subnet(1, 1)] as const;
  const acquire = (process: number, key: (typeof keys)[number]) => processes[process]?.quota.acquire(key, tier);
  const held = keys.map((key) => [acquire(0, key), acquire(1, key)]);
  const refused = (): unknown[] => keys.map((key) => acquire(2, key));
  t.same(refused(), [undefined, undefined, undefined]);
  replaceLedger();
  t.same(refused(), [undefined, undefined, undefined], 'another ledger is told');
  processes[1]?.leave();
  t.ok(acquire(2, 1), 'what an ended process had is free');
  for (const [seat] of held) seat?.release();
  t.ok(acquire(2, 'key 1'));
  t.equal(callers(), 2, 'who has none is forgotten');
});

t.test('the pace of a caller is that of its connections at this process', async (t) => {
  const { processes } = shareSeats(2);
  const [here, there] = processes.map(({ quota }) =>
    quota.acquire('key 1', { ...tier, messages: 8, subscriptions: 4 }),
  );
  const said = Array.from({ length: 10 }, () => here?.consumeMessage()).filter((verdict) => verdict === 'handle');
  t.equal(said.length, 4);
  const subscribed = Array.from({ length: 10 }, () => there?.consumeSubscribe()).filter((waitMs) => waitMs === 0);
  t.equal(subscribed.length, 2);
});

t.test('of connections opened at several processes at one moment those that were told last are revoked', async (t) => {
  const ledger = new SeatLedger();
  const held: (() => void)[] = [];
  const processes = [0, 1].map(() => {
    const seats: SharedSeats = new SharedSeats({
      hold: (all) => member.hold(all),
      afterTurn: (work) => held.push(work),
    });
    const member = ledger.join((others) => seats.hear(others));
    return new StreamQuota(new ManualClock(), seats);
  });
  const revoked: number[] = [];
  for (const [i, process] of [0, 1, 0, 1].entries()) {
    const seat = processes[process]?.acquire(subnet(1, 1), tier);
    seat?.onRevoked(() => {
      revoked.push(i);
      seat.release();
    });
  }
  for (let work = held.shift(); work !== undefined; work = held.shift()) work();
  t.same(revoked, [1, 3]);
  t.equal(processes[1]?.acquire(subnet(1, 1), tier), undefined);
});
