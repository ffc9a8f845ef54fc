import t from 'tap';
import type { Quota } from '../../../../src/access/limits/quota.ts';
import { RateLimiter } from '../../../../src/access/limits/rate-limiter.ts';
import type { Principal, Tier } from '../../../../src/access/limits/tiers.ts';
import { jumpClock } from '../../../support/access/clock-jump.ts';
import { windowEdgeFaults } from '../../../support/access/window-edges.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const START_S = 1_700_000_000;
const free = { requests: 100, windowSeconds: 10 };

const ip = (...bytes: number[]): ArrayBuffer => Uint8Array.from(bytes).buffer;
const mapped = (...bytes: number[]): ArrayBuffer => ip(...Array(10).fill(0), 0xff, 0xff, ...bytes);
/** 2001:db8:<site>:<subnet>::<host> */
const ipv6 = (site: number, subnet: number, host = 1): ArrayBuffer =>
  ip(0x20, 1, 0x0d, 0xb8, 0, site, subnet >> 8, subnet & 255, 0, 0, 0, 0, 0, 0, 0, host);

function limiterOf(identities = 1000) {
  const clock = new ManualClock(START_S * 1000);
  const limiter = new RateLimiter({ free, identities }, clock);
  const drain = (address: ArrayBuffer, count: number): Quota => {
    for (let i = 1; i < count; i++) limiter.consume(address, 1);
    return limiter.consume(address, 1);
  };
  return { clock, limiter, drain };
}

const home = ip(127, 0, 0, 1);

t.test('a caller has exactly its limit until the window ends, and then the full limit again', async (t) => {
  const { clock, limiter, drain } = limiterOf();
  const quota = { limit: 100, reset: START_S + 10 };
  t.match(limiter.consume(home, 1), { ...quota, allowed: true, remaining: 99 });
  t.match(drain(home, 99), { ...quota, allowed: true, remaining: 0 });
  t.match(limiter.consume(home, 1), { ...quota, allowed: false, remaining: 0, retryAfter: 10 });
  clock.advance(9_999);
  t.match(limiter.consume(home, 1), { ...quota, allowed: false, retryAfter: 1 });
  clock.advance(1);
  t.match(limiter.consume(home, 1), { allowed: true, remaining: 99, reset: START_S + 20 });
});

t.test('what is given back is left again, and never more than the limit', async (t) => {
  const { limiter } = limiterOf();
  limiter.consume(home, 5);
  t.match(limiter.giveBack(home, 2), { allowed: true, remaining: 97 });
  t.match(limiter.giveBack(home, 9), { remaining: 100 });
  t.equal(limiter.giveBack(home, 1).remaining, 100);
});

t.test('the window starts at the first request, and its end is given in whole seconds, never too early', async (t) => {
  const { clock, limiter } = limiterOf();
  clock.advance(1_234);
  t.equal(limiter.consume(home, 1).reset, START_S + 12);
});

t.test('peeking consumes nothing and returns the full limit where no window is open', async (t) => {
  const { clock, limiter } = limiterOf();
  t.match(limiter.peek(home), { allowed: true, limit: 100, remaining: 100, reset: START_S + 10 });
  t.equal(limiter.size, 0);
  limiter.consume(home, 1);
  clock.advance(4_000);
  t.match(limiter.peek(home), { remaining: 99, reset: START_S + 10, retryAfter: 6 });
  t.match(limiter.peek(home), { remaining: 99 });
});

t.test('a request that weighs more than the remaining quota is refused and consumes nothing', async (t) => {
  const { limiter, drain } = limiterOf();
  drain(home, 99);
  t.match(limiter.consume(home, 2), { allowed: false, remaining: 1 });
  t.match(limiter.consume(home, 1), { allowed: true, remaining: 0 });
});

t.test('an IPv4 address and its IPv4-mapped IPv6 form are one caller; every other address is another', async (t) => {
  const { limiter } = limiterOf();
  limiter.consume(ip(203, 0, 113, 9), 1);
  t.equal(limiter.consume(mapped(203, 0, 113, 9), 1).remaining, 98);
  t.equal(limiter.consume(ip(203, 0, 113, 10), 1).remaining, 99);
});

t.test('addresses that only look alike are counted apart', async (t) => {
  const { limiter } = limiterOf();
  limiter.consume(ip(203, 0, 113, 9), 1);
  t.equal(limiter.consume(ip(...Array(8).fill(0), 0, 2, 0xff, 0xff, 203, 0, 113, 9), 1).remaining, 99);
  limiter.consume(ipv6(1, 1), 1);
  t.equal(
    limiter.peek(ip(0, 0, 0x20, 1, 0x0d, 0xb8, 0, 1, ...Array(8).fill(0))).limit,
    100,
    'a /64 whose number equals that of a /48',
  );
});

t.test('a socket without an address is counted too', async (t) => {
  const { limiter } = limiterOf();
  limiter.consume(ip(), 1);
  t.equal(limiter.consume(ip(), 1).remaining, 98);
});

t.test('an IPv6 /64 is one caller', async (t) => {
  const { limiter } = limiterOf();
  limiter.consume(ipv6(1, 1, 1), 1);
  t.equal(limiter.consume(ipv6(1, 1, 2), 1).remaining, 98);
  t.equal(limiter.consume(ipv6(1, 2, 1), 1).remaining, 99);
});

t.test('rotating through a /48 gets eight limits, and the refusal gives the quota of the /48', async (t) => {
  const { limiter, drain } = limiterOf();
  for (let subnet = 1; subnet <= 8; subnet++) t.equal(drain(ipv6(1, subnet), 100).allowed, true);
  t.match(limiter.consume(ipv6(1, 9), 1), { allowed: false, limit: 800, remaining: 0 });
  t.equal(limiter.size, 9, 'a refused new caller opens no window');
  t.match(limiter.consume(ipv6(2, 9), 1), { allowed: true, limit: 100, remaining: 99 });
});

t.test('the quota is that of the window with the least remaining', async (t) => {
  const { limiter, drain } = limiterOf();
  for (let subnet = 1; subnet <= 7; subnet++) drain(ipv6(1, subnet), 100);
  t.match(drain(ipv6(1, 8), 20), { limit: 100, remaining: 80 }, 'in a tie it is the quota of the caller itself');
  limiter.consume(ipv6(1, 9), 1);
  t.match(limiter.peek(ipv6(1, 9)), { limit: 800, remaining: 79 });
});

t.test('callers beyond the capacity share one window until others end', async (t) => {
  const { clock, limiter } = limiterOf(4);
  for (let i = 0; i < 3; i++) limiter.consume(ip(10, 0, 0, i), 1);
  t.equal(limiter.consume(ip(10, 0, 0, 3), 1).remaining, 99);
  t.equal(limiter.consume(ip(10, 0, 0, 4), 1).remaining, 98, 'shared');
  t.equal(limiter.peek(ip(10, 0, 0, 5)).remaining, 98, 'a new caller sees the quota that it would get');
  t.equal(limiter.consume(ip(10, 0, 0, 0), 1).remaining, 98, 'a known caller keeps its own');
  t.equal(limiter.size, 4);
  clock.advance(10_000);
  t.equal(limiter.consume(ip(10, 0, 0, 4), 1).remaining, 99, 'now it has its own window');
});

t.test('a returning caller keeps its new window while ended ones are dropped', async (t) => {
  const { clock, limiter } = limiterOf();
  for (let i = 0; i < 20; i++) limiter.consume(ip(10, 0, 0, i), 1);
  clock.advance(10_000);
  limiter.consume(ip(10, 0, 0, 19), 1);
  for (let i = 20; i < 40; i++) limiter.consume(ip(10, 0, 0, i), 1);
  t.equal(limiter.size, 21);
  t.equal(limiter.peek(ip(10, 0, 0, 19)).remaining, 99);
});

t.test('21: a million callers use no more memory than the limit', async (t) => {
  const { clock, limiter } = limiterOf(1000);
  const address = ip(0, 0, 0, 0);
  const view = new DataView(address);
  let largest = 0;
  for (let i = 0; i < 1_000_000; i++) {
    view.setUint32(0, i);
    limiter.consume(address, 1);
    if (i % 100 === 0) clock.advance(1000);
    largest = Math.max(largest, limiter.size);
  }
  t.ok(largest <= 1000, `${largest} windows`);
});

t.test('22: a jump of the wall clock gives nobody more requests and takes none away', async (t) => {
  for (const byMs of [3_600_000, -3_600_000, 500, -500])
    for (const afterMs of [0, 1, 5_000, 9_998])
      t.same(
        jumpClock(byMs, afterMs),
        { freeRequests: 0, lostRequests: 0, isResetChanged: false },
        `${byMs} ms after ${afterMs}`,
      );
});

const scale: Tier = {
  name: 'scale',
  requests: 30_000,
  windowSeconds: 60,
  streams: 250,
  subscriptions: 1000,
  messages: 500,
  inFlight: 256,
  rpcBytes: 1,
  priority: true,
};
const principal = (more: Partial<Principal> = {}): Principal => ({
  id: 'key 1',
  key: '1',
  tier: scale,
  perIpLimit: undefined,
  ...more,
});

t.test('a principal has its own limit and window from every address, and the address keeps its own', async (t) => {
  const { clock, limiter } = limiterOf();
  t.match(limiter.consume(home, 1, principal()), {
    allowed: true,
    limit: 30_000,
    remaining: 29_999,
    reset: START_S + 60,
  });
  t.match(limiter.consume(ip(10, 0, 0, 1), 2, principal()), { remaining: 29_997 });
  t.match(limiter.consume(home, 1, principal({ id: 'key 2' })), { remaining: 29_999 });
  t.match(limiter.consume(home, 1), { limit: 100, remaining: 99 });
  clock.advance(59_999);
  t.match(limiter.peek(home, principal()), { remaining: 29_997, retryAfter: 1 });
  clock.advance(1);
  t.match(limiter.peek(home, principal()), { remaining: 30_000, reset: START_S + 120 });
});

t.test('a limit per address applies within the key, and the quota is the tighter one', async (t) => {
  const { limiter } = limiterOf();
  const bounded = principal({ perIpLimit: 3 });
  t.match(limiter.peek(home, bounded), { limit: 3, remaining: 3, reset: START_S + 60 });
  for (const remaining of [2, 1, 0])
    t.match(limiter.consume(home, 1, bounded), { allowed: true, limit: 3, remaining, reset: START_S + 60 });
  t.match(limiter.consume(home, 1, bounded), { allowed: false, limit: 3, remaining: 0 });
  t.match(limiter.consume(ip(10, 0, 0, 1), 1, bounded), { allowed: true, limit: 3, remaining: 2 });
  t.match(limiter.peek(home, principal()), { limit: 30_000, remaining: 29_996 }, 'a refused request consumes nothing');
});

t.test('a principal always has a window, however many addresses there are', async (t) => {
  const { limiter, drain } = limiterOf(2);
  drain(home, 100);
  drain(ip(10, 0, 0, 1), 100);
  t.equal(limiter.consume(ip(10, 0, 0, 2), 1).allowed, false, 'the overflow window is spent');
  t.match(limiter.consume(home, 1, principal()), { allowed: true, remaining: 29_999 });
  const bounded = principal({ id: 'key 2', perIpLimit: 5 });
  t.match(limiter.consume(home, 5, bounded), { allowed: true, limit: 5, remaining: 0 });
  t.match(limiter.consume(ip(10, 0, 0, 9), 1, bounded), { allowed: false, limit: 5 }, 'its addresses share one limit');
});

t.test('a changed limit of a principal applies from its next window', async (t) => {
  const { clock, limiter } = limiterOf();
  limiter.consume(home, 1, principal());
  const less = principal({ tier: { ...scale, requests: 500, windowSeconds: 10 } });
  t.match(limiter.consume(home, 1, less), { limit: 30_000, remaining: 29_998, reset: START_S + 60 });
  clock.advance(60_000);
  t.match(limiter.consume(home, 1, less), { limit: 500, remaining: 499, reset: START_S + 70 });
});

t.test('ended windows of principals are dropped', async (t) => {
  const { clock, limiter } = limiterOf();
  for (let i = 0; i < 100; i++) limiter.consume(home, 1, principal({ id: `wallet ${i}` }));
  clock.advance(60_000);
  for (let i = 0; i < 100; i++) limiter.consume(home, 1, principal({ id: `other ${i}` }));
  t.equal(limiter.size, 100);
});

t.test('19: at the edges of a window exactly the limit is admitted, and the headers say so', async (t) => {
  for (const offsetMs of [0, 1, 2, 500, 999]) t.same(windowEdgeFaults(offsetMs), []);
});
