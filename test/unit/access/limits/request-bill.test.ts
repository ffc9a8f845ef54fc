import fc from 'fast-check';
import t from 'tap';
import { RateLimiter } from '../../../../src/access/limits/rate-limiter.ts';
import type { RequestBill } from '../../../../src/access/limits/request-bill.ts';
import { DEFAULT_TIERS } from '../../../support/access/default-tiers.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const [LIMIT, WINDOW_S, START_S] = [100, 10, 1_700_000_000];
const home = Uint8Array.of(127, 0, 0, 1).buffer;
/** An IPv6 address in the /64 of this number. */
const ipv6 = (subnet: number): ArrayBuffer =>
  Uint8Array.of(0x20, 1, 0x0d, 0xb8, 0, 1, 0, subnet, ...Array(8).fill(0)).buffer;

function open() {
  const clock = new ManualClock(START_S * 1000);
  const limiter = new RateLimiter({ free: { requests: LIMIT, windowSeconds: WINDOW_S }, identities: 100 }, clock);
  const billOf = (paid: number, address = home): RequestBill => {
    const bill = limiter.openBill(address);
    bill.pay(paid);
    return bill;
  };
  return { clock, limiter, billOf };
}

t.test('what is known only afterwards leads into debt, which the next window pays', async (t) => {
  const { clock, limiter, billOf } = open();
  t.match(billOf(1).settle(21), { limit: LIMIT, remaining: 79, reset: START_S + WINDOW_S });
  t.match(billOf(1).settle(109), { remaining: 0, reset: START_S + WINDOW_S }, '30 in debt: the next window has units');
  t.match(limiter.consume(home, 1), { allowed: false, remaining: 0, retryAfter: WINDOW_S });
  t.match(limiter.consume(home, 71), { allowed: false, retryAfter: 2 * WINDOW_S }, 'it has 70');
  clock.advance(WINDOW_S * 1000 - 1);
  t.equal(limiter.consume(home, 1).allowed, false);
  clock.advance(1);
  t.match(limiter.peek(home), { limit: LIMIT, remaining: 70, reset: START_S + 2 * WINDOW_S });
  clock.advance(WINDOW_S * 1000);
  t.match(limiter.peek(home), { remaining: LIMIT, reset: START_S + 3 * WINDOW_S }, 'the debt is paid');
  t.equal(limiter.size, 0, 'and the window is dropped');
  t.match(limiter.counts, { charged: 130, givenBack: 0, debt: 30, decisions: { free: { allowed: 2, refused: 3 } } });
});

t.test('a debt is at most one limit, and then a unit is free only after the next window', async (t) => {
  const { clock, limiter, billOf } = open();
  billOf(1).settle(1_000_000);
  t.match(limiter.counts, { charged: 2 * LIMIT, debt: LIMIT });
  t.match(limiter.consume(home, 1), { allowed: false, reset: START_S + 2 * WINDOW_S, retryAfter: 2 * WINDOW_S });
  clock.advance(2 * WINDOW_S * 1000 - 1);
  t.match(limiter.consume(home, 1), { allowed: false, remaining: 0, retryAfter: 1 });
  clock.advance(1);
  t.match(limiter.consume(home, 1), { allowed: true, remaining: LIMIT - 1 });
});

t.test('a debt stays with its caller while other windows come and go', async (t) => {
  const { clock, limiter, billOf } = open();
  billOf(1).settle(150);
  for (let second = 0; second < 15; second++) {
    clock.advance(1000);
    for (let i = 0; i < 20; i++) limiter.consume(Uint8Array.of(10, 0, second, i).buffer, 1);
  }
  t.match(limiter.peek(home), { remaining: 50, reset: START_S + 20 });
});

t.test('a debt counts for the site and for one address of a key, too', async (t) => {
  const { limiter, billOf } = open();
  for (let subnet = 0; subnet < 8; subnet++) billOf(1, ipv6(subnet)).settle(150);
  t.match(limiter.consume(ipv6(99), 1), { allowed: false, limit: 8 * LIMIT, remaining: 0 });
  const key = { id: 'key 1', key: '1', tier: DEFAULT_TIERS.build, perIpLimit: 5 };
  limiter.openBill(home, key).settle(8);
  t.match(limiter.consume(home, 1, key), { allowed: false, limit: 5, remaining: 0 });
  t.match(limiter.consume(ipv6(1), 1, key), { allowed: true, limit: 5 });
});

t.test('what is given back is left again, and what is refused takes nothing', async (t) => {
  const { limiter, billOf } = open();
  t.equal(billOf(21).settle(1).remaining, LIMIT - 1);
  t.equal(billOf(1).settle(0).remaining, LIMIT - 1);
  const bill = billOf(1);
  t.equal(bill.pay(LIMIT).allowed, false);
  t.match(bill.refusal(LIMIT), { allowed: false, units: LIMIT + 1, remaining: LIMIT - 1 });
  t.equal(limiter.peek(home).remaining, LIMIT - 1);
  t.match(limiter.counts, { charged: 23, givenBack: 22, debt: 0, decisions: { free: { allowed: 3, refused: 1 } } });
});

t.test('work reserves the most that it may cost: in turn, if all together might pass the greatest debt', async (t) => {
  const { billOf } = open();
  const [one, other, third] = [billOf(1), billOf(1), billOf(1)];
  t.equal(one.reserve({ known: 0, highest: 90 }), 'granted');
  t.equal(other.reserve({ known: 0, highest: 90 }), 'granted');
  t.equal(third.reserve({ known: 0, highest: 90 }), 'later');
  one.settle(2);
  one.release();
  t.equal(third.reserve({ known: 0, highest: 90 }), 'granted');
  t.equal(billOf(1).reserve({ known: 98, highest: 0 }), 'refused', 'the units that it surely costs are not left');
});

t.test('a full window allows one request, whatever it may cost', async (t) => {
  const { billOf, limiter } = open();
  const bill = billOf(1);
  t.equal(bill.reserve({ known: 5 * LIMIT, highest: 9 * LIMIT }), 'granted');
  bill.settle(9 * LIMIT);
  bill.release();
  t.equal(limiter.peek(home).remaining, 0);
});

interface Running {
  readonly bill: RequestBill;
  readonly highest: number;
}

t.test('nothing that was reserved goes uncharged, whatever runs at one time', async () => {
  const step = fc.record({ waitMs: fc.nat(4000), units: fc.integer({ min: 1, max: 60 }), ends: fc.nat(9) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
      const { clock, limiter } = open();
      const running: Running[] = [];
      let settled = 0;
      const end = ({ bill, highest }: Running): void => {
        bill.settle(1 + highest); // each costs the most that it may
        bill.release();
        settled += 1 + highest;
      };
      for (const { waitMs, units, ends } of steps) {
        clock.advance(waitMs);
        const bill = limiter.openBill(home);
        if (bill.pay(1).allowed) {
          if (bill.reserve({ known: 0, highest: units }) === 'granted') running.push({ bill, highest: units });
          else bill.refusal(units);
        }
        for (const each of running.splice(0, ends < 5 ? 0 : ends)) end(each);
        if (limiter.peek(home).remaining < 0) return false;
      }
      for (const each of running) end(each);
      const windows = Math.floor((clock.now() / 1000 - START_S) / WINDOW_S) + 1;
      return settled <= windows * LIMIT + LIMIT;
    }),
  );
});

t.test('Retry-After is when the units are free: not a second before', async () => {
  const step = fc.record({
    waitMs: fc.nat(12_000),
    later: fc.nat(250),
    units: fc.integer({ min: 1, max: LIMIT }),
    host: fc.nat(2),
  });
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 30 }), (steps) => {
      const { clock, limiter } = open();
      for (const { waitMs, later, units, host } of steps) {
        clock.advance(waitMs);
        const address = host === 0 ? home : ipv6(host);
        if (later > 0) limiter.charge(address, later);
        const { allowed, retryAfter, remaining, reset } = limiter.consume(address, units);
        if (remaining < 0) return false;
        if (allowed) continue;
        if (Math.abs(reset - (clock.now() / 1000 + retryAfter)) >= 1) return false;
        clock.advance((retryAfter - 1) * 1000);
        if (limiter.consume(address, units).allowed) return false;
        clock.advance(1000);
        if (!limiter.consume(address, units).allowed) return false;
      }
      return true;
    }),
  );
});

t.test('units beyond the greatest debt were not charged, so they are not given back', async (t) => {
  const { clock, limiter, billOf } = open();
  const bill = billOf(1);
  bill.settle(1000);
  billOf(0).settle(5);
  bill.settle(2 * LIMIT + 50);
  t.match(limiter.consume(home, 1), { allowed: false, retryAfter: 2 * WINDOW_S }, 'the whole debt is still owed');
  bill.settle(LIMIT + 30);
  clock.advance(WINDOW_S * 1000);
  t.match(limiter.peek(home), { remaining: 70 }, 'what is below it is given back');
});
