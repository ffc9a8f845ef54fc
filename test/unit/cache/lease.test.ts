import t from 'tap';
import { Cache } from '../../../src/cache/cache.ts';
import type { AnswerMeta, Entry } from '../../../src/cache/entry.ts';
import {
  combinedLease,
  type Lease,
  type LeaseListener,
  type LeaseState,
  limitedLease,
} from '../../../src/domain/lease.ts';
import type { Slot } from '../../../src/domain/slot.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const META: AnswerMeta = { envelope: 'signed', commitment: 'confirmed', exact: false };

/** A lease that a test controls. */
class ScriptedLease implements Lease {
  state: LeaseState = 'active';
  lagSlots = 0;
  readonly reads: Slot[] = [];
  readonly sources = [this];
  readonly listeners = new Map<string, LeaseListener>();
  slot: Slot;
  validatedMs: number;

  constructor(slot: Slot, clock: ManualClock) {
    this.slot = slot;
    this.validatedMs = clock.monotonic();
  }

  recordRead(tip: Slot): void {
    this.reads.push(tip);
  }

  onRevoked(key: string, listener: LeaseListener): void {
    this.listeners.set(key, listener);
  }

  offRevoked(key: string): void {
    this.listeners.delete(key);
  }
}

function revoke(lease: ScriptedLease): void {
  lease.state = 'revoked';
  for (const [key, listener] of lease.listeners) listener.onRevoked(key);
}

function open(bytes = 1_000_000) {
  const clock = new ManualClock();
  const cache = new Cache({ clock, bytes, maxStaleSlots: 150, hotKeys: 100 });
  const to = (slot: Slot): void => {
    clock.advance(400);
    cache.advanceTip(slot);
  };
  to(100);
  const lease = new ScriptedLease(100, clock);
  const put = (refresh?: () => Promise<void>) =>
    cache.put('k', { slot: 100, result: '1', lease }, { slots: 2 }, META, { refresher: refresh && { refresh } });
  return { clock, cache, to, lease, put };
}

t.test('I2: an answer with an active lease is fresh at the slot that the lease covers', async (t) => {
  const { cache, to, lease, put } = open();
  const entry = put();
  to(150);
  t.equal(cache.statusOf(entry), 'fresh', 'whatever the tip is');
  lease.slot = 149;
  t.equal(cache.isFresh(entry), false);
  const advanced = cache.get('k');
  t.match([advanced?.slot, advanced?.result, advanced && cache.isFresh(advanced)], [149, '1', true]);
  t.equal(cache.peek('k'), advanced);
  t.equal(cache.get('k'), advanced, 'once is enough');
});

t.test('an entry whose lease advances while it is held back catches up before its next read', async (t) => {
  const { cache, lease, put } = open();
  put();
  cache.get('k');
  const held: Entry[] = [];
  cache.holdBackWith((next) => held.push(next) > 0);
  const publishNext = (): void => {
    const next = held.shift();
    if (next !== undefined) cache.publish(next);
  };
  for (lease.slot of [101, 102]) cache.advanceHot(lease);
  for (const slot of [101, 102]) {
    publishNext();
    const shown = cache.get('k');
    t.match([shown?.slot, shown && cache.isFresh(shown)], [slot, true]);
  }
  t.strictSame(held, [], 'once is enough');
});

t.test('a hot entry is advanced before its next read, and held back until it has a body', async (t) => {
  const { cache, lease, put } = open();
  const entry = put();
  cache.get('k');
  t.strictSame(lease.reads, [100]);
  const held: number[] = [];
  cache.holdBackWith(({ slot }) => held.push(slot) > 0);
  lease.slot = 101;
  cache.advanceHot(lease);
  cache.advanceHot(lease);
  t.strictSame(held, [101]);
  t.equal(cache.peek('k'), entry);
  t.equal(cache.isFresh(entry), true, 'it is served meanwhile');
});

t.test(
  'what live state answers is renewed at once: a hot entry when its lease ends, any other at its next read',
  (t) => {
    const { clock, cache, to, lease } = open();
    let newest: Slot | undefined;
    const refreshNow = (): boolean => {
      if (newest === undefined) return false;
      cache.put('k', { slot: newest, result: '2' }, { slots: 2 }, META, { refresher });
      return true;
    };
    const refresher = { refresh: () => new Promise<void>(() => {}), refreshNow };
    const put = (slot: Slot, held: ScriptedLease): Entry =>
      cache.put('k', { slot, result: '1', lease: held }, { slots: 2 }, META, { refresher });
    const cold = put(100, lease);
    to(103);
    revoke(lease);
    t.equal(cache.renew(cold), undefined, 'no live state knows it');
    newest = 103;
    t.match(cache.renew(cold), { slot: 103, result: '2' });
    const second = new ScriptedLease(104, clock);
    put(104, second);
    to(104);
    cache.get('k');
    newest = 105;
    revoke(second);
    t.match(cache.peek('k'), { slot: 105, result: '2' });
    t.end();
  },
);

t.test('a revoked lease causes an immediate refresh of a hot entry; any other waits for its next read', async (t) => {
  const { cache, to, lease, put } = open();
  let refreshed = 0;
  const entry = put(async () => {
    refreshed++;
  });
  lease.listeners.get('k')?.onRevoked('k');
  t.equal(refreshed, 0);
  cache.get('k');
  lease.state = 'revoked';
  lease.listeners.get('k')?.onRevoked('k');
  t.equal(refreshed, 1);
  await new Promise(setImmediate);
  to(101);
  t.equal(cache.statusOf(entry), 'old');
});

t.test('I5: a processed state is served for one slot, also while no upstream answers', async (t) => {
  const { cache, clock, to } = open();
  const entry = cache.put('k', { slot: 100, result: '1' }, { slots: 1 }, { ...META, commitment: 'processed' });
  t.equal(cache.statusOf(entry), 'fresh');
  clock.advance(5000);
  cache.tick();
  t.equal(cache.statusOf(entry), 'stale', 'no slot has passed');
  to(101);
  t.equal(cache.statusOf(entry), 'expired');
});

t.test('I6: an answer whose session is lost is stale at once, old when it lags far, and expires', async (t) => {
  const { cache, clock, to, lease, put } = open();
  const entry = put();
  lease.state = 'lost';
  lease.lagSlots = 8;
  t.equal(cache.statusOf(entry), 'stale');
  lease.lagSlots = 9;
  t.equal(cache.statusOf(entry), 'old', 'other nodes are asked first');
  clock.advance(150 * 400 - 400);
  to(101);
  t.equal(cache.statusOf(entry), 'old');
  clock.advance(1);
  t.equal(cache.statusOf(entry), 'expired', 'counted by the clock from the last Clock update');
});

t.test('I6: an entry whose lease is revoked or at the end of its term is not advanced', async (t) => {
  const { cache, clock, to, lease } = open();
  const limited = limitedLease(lease, { slots: 10, tip: () => cache.tip, nowMs: clock.monotonic() });
  const entry = cache.put('k', { slot: 100, result: '1', lease: limited }, { slots: 2 }, META);
  const clockUpdate = (slot: Slot): void => {
    to(slot);
    lease.slot = slot - 1;
    lease.validatedMs = clock.monotonic();
  };
  for (let slot = 101; slot < 110; slot++) clockUpdate(slot);
  t.equal(entry.slot, 100);
  const advanced = cache.get('k');
  t.equal(advanced?.slot, 108);
  for (let slot = 110; slot <= 250; slot++) clockUpdate(slot);
  t.equal(cache.get('k'), advanced);
  t.equal(advanced && cache.statusOf(advanced), 'old');
  clock.advance(4001); // 150 slots after the lease was limited
  t.equal(advanced && cache.statusOf(advanced), 'expired');
});

t.test('an evicted entry leaves no listener on its lease', async (t) => {
  const { cache, lease } = open(10_000);
  for (let i = 0; i < 1000; i++) cache.put(`mint ${i}`, { slot: 100, result: '1', lease }, { slots: 2 }, META);
  t.ok(cache.entryCount < 20);
  t.equal(lease.listeners.size, cache.entryCount);
  cache.put('large', { slot: 100, result: 'x'.repeat(10_000), lease }, { slots: 2 }, META);
  t.equal(lease.listeners.has('large'), false);
});

t.test('an answer from a session that lags is not fresh', async (t) => {
  const { cache, lease, put } = open();
  const entry = put();
  lease.state = 'behind';
  t.equal(cache.statusOf(entry), 'old');
});

t.test('I7: a cached key has its own floor; evicted keys share one per commitment', async (t) => {
  const { cache } = open(5000);
  const put = (key: string, slot: Slot, commitment: AnswerMeta['commitment']) =>
    cache.put(key, { slot, result: '1' }, { slots: 2 }, { ...META, commitment });
  put('a', 70, 'finalized');
  put('b', 90, 'confirmed');
  t.match([cache.floor('a', 'finalized'), cache.floor('b', 'confirmed')], [70, 90]);
  t.equal(cache.floor('c', 'confirmed'), undefined);
  for (let i = 0; i < 20; i++) put(`more ${i}`, 50, 'processed');
  t.equal(cache.peek('a'), undefined);
  t.match([cache.floor('a', 'finalized'), cache.floor('b', 'confirmed'), cache.floor('c', 'confirmed')], [70, 90, 90]);
  put('c', 95, 'confirmed');
  t.equal(cache.floor('c', 'confirmed'), 95);
  cache.put('d', { slot: 99, result: 'x'.repeat(10_000) }, { slots: 2 }, META);
  t.equal(cache.floor('d', 'confirmed'), 99, 'also for an answer too large to be cached');
});

t.test('combined leases cover the oldest slot, have the worst state and call their listener once', async (t) => {
  const clock = new ManualClock();
  const [one, other] = [new ScriptedLease(100, clock), new ScriptedLease(90, clock)];
  const both = combinedLease([one, other]);
  let calls = 0;
  both.onRevoked('k', { onRevoked: () => calls++ });
  t.match([both.slot, both.state], [90, 'active']);
  one.state = 'lost';
  t.equal(both.state, 'lost');
  other.state = 'revoked';
  t.equal(both.state, 'revoked');
  for (const lease of [one, other]) lease.listeners.get('k')?.onRevoked('k');
  t.equal(calls, 1);
  both.recordRead(7);
  both.offRevoked('k');
  for (const lease of [one, other]) t.match([lease.reads, lease.listeners.size], [[7], 0]);
});
