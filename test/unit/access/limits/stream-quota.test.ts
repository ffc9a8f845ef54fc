import t from 'tap';
import { StreamQuota } from '../../../../src/access/limits/stream-quota.ts';
import type { Tier } from '../../../../src/access/limits/tiers.ts';
import { DEFAULT_TIERS } from '../../../support/access/default-tiers.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const tier: Tier = { ...DEFAULT_TIERS.free, streams: 2, messages: 15 };

/** A /64 in 2001:db8:<site>::/48. */
const subnet = (site: number, which: number): bigint => 0x2001_0db8_0000_0000n + (BigInt(site) << 16n) + BigInt(which);

t.test('an identity holds so many connections, and another when one has left', async (t) => {
  const seats = new StreamQuota(new ManualClock());
  const first = seats.acquire(1, tier);
  t.ok(seats.acquire(1, tier));
  t.equal(seats.acquire(1, tier), undefined);
  t.ok(seats.acquire(2, tier), 'others hold their own');
  first?.release();
  t.ok(seats.acquire(1, tier));
});

t.test('an IPv6 /48 holds eight times as many as a /64 in it', async (t) => {
  const seats = new StreamQuota(new ManualClock());
  const held = Array.from({ length: 40 }, (_, i) => seats.acquire(subnet(1, i), tier)).filter(
    (seat) => seat !== undefined,
  );
  t.equal(held.length, 16);
  t.equal(seats.acquire(subnet(1, 99), tier), undefined);
  t.ok(seats.acquire(subnet(2, 0), tier), 'another /48');
  for (const seat of held) seat.release();
  t.equal(seats.size, 2, 'who has left is forgotten');
});

t.test('ten messages a second on a connection, and so many on all of an identity', async (t) => {
  const clock = new ManualClock();
  const seats = new StreamQuota(clock);
  const [one, two] = [seats.acquire('key 1', tier), seats.acquire('key 1', tier)];
  const said = (times: number, seat = one): number =>
    Array.from({ length: times }, () => seat?.consumeMessage()).filter((isHeard) => isHeard).length;
  t.equal(said(11), 10);
  t.equal(said(10, two), 5, 'the rest of the identity’s fifteen');
  t.equal(said(1, seats.acquire('key 2', tier)), 1);
  clock.advance(1000);
  t.equal(said(10), 10);
  t.equal(said(5, two), 5);
});
