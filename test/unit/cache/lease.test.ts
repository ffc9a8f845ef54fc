import t from 'tap';
import { Cache } from '../../../src/cache/cache.ts';
import type { AnswerMeta, Entry } from '../../../src/cache/entry.ts';
import { combinedLease, expiringLease, type Lease, type LeaseState } from '../../../src/domain/lease.ts';
import type { Slot } from '../../../src/domain/slot.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const META: AnswerMeta = { envelope: 'signed', commitment: 'confirmed', exact: false };

/** A proof whose every word a test says. */
class ScriptedLease implements Lease {
  state: LeaseState = 'active';
  lagSlots = 0;
  readonly reads: Slot[] = [];
  readonly listeners = new Map<string, () => void>();
  slot: Slot;
  validatedMs: number;

  constructor(slot: Slot, clock: ManualClock) {
    this.slot = slot;
    this.validatedMs = clock.monotonic();
  }

  recordRead(tip: Slot): void {
    this.reads.push(tip);
  }

  onRevoked(name: string, listener: () => void): void {
    this.listeners.set(name, listener);
  }

  offRevoked(name: string): void {
    this.listeners.delete(name);
  }
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
    cache.put('k', { slot: 100, result: '1', lease }, { slots: 2 }, META, refresh === undefined ? {} : { refresh });
  return { clock, cache, to, proof: lease, put };
}

t.test('I2: an answer with a live proof is fresh at the slot that the proof has come to', async (t) => {
  const { cache, to, proof, put } = open();
  const entry = put();
  to(150);
  t.equal(cache.statusOf(entry), 'fresh', 'whatever the tip');
  proof.slot = 149;
  t.equal(cache.isFresh(entry), false);
  const carried = cache.advanceToLease(entry);
  t.match([carried.slot, carried.result, cache.isFresh(carried)], [149, '1', true]);
  t.equal(cache.peek('k'), carried);
  t.equal(cache.advanceToLease(carried), carried, 'once is enough');
});

t.test(
  'what its proof has moved on by while it was held back is made up for before its next reader comes',
  async (t) => {
    const { cache, proof, put } = open();
    put();
    cache.get('k');
    const held: Entry[] = [];
    cache.holdBackWith((next) => held.push(next) > 0);
    const showNext = (): void => {
      const next = held.shift();
      if (next !== undefined) cache.publish(next);
    };
    for (proof.slot of [101, 102]) cache.advanceHot();
    for (const slot of [101, 102]) {
      showNext();
      const shown = cache.get('k');
      t.match([shown?.slot, shown && cache.isFresh(shown)], [slot, true]);
    }
    t.strictSame(held, [], 'once is enough');
  },
);

t.test('what is being read is carried on before its next reader comes, held back until it has its body', async (t) => {
  const { cache, proof, put } = open();
  const entry = put();
  cache.get('k');
  t.strictSame(proof.reads, [100]);
  const held: number[] = [];
  cache.holdBackWith(({ slot }) => held.push(slot) > 0);
  proof.slot = 101;
  cache.advanceHot();
  cache.advanceHot();
  t.strictSame(held, [101]);
  t.equal(cache.peek('k'), entry);
  t.equal(cache.isFresh(entry), true, 'goes on for a moment');
});

t.test('news has an answer asked for anew at once when it is being read, else by its next reader', async (t) => {
  const { cache, to, proof, put } = open();
  let renewed = 0;
  const entry = put(async () => {
    renewed++;
  });
  proof.listeners.get('k')?.();
  t.equal(renewed, 0);
  cache.get('k');
  proof.state = 'revoked';
  proof.listeners.get('k')?.();
  t.equal(renewed, 1);
  await new Promise(setImmediate);
  to(101);
  t.equal(cache.statusOf(entry), 'old');
});

t.test('I5: a processed state is given for one slot, also while nobody can do better', async (t) => {
  const { cache, clock, to } = open();
  const entry = cache.put('k', { slot: 100, result: '1' }, { slots: 1 }, { ...META, commitment: 'processed' });
  t.equal(cache.statusOf(entry), 'fresh');
  clock.advance(5000);
  cache.tick();
  t.equal(cache.statusOf(entry), 'stale', 'no slot has passed');
  to(101);
  t.equal(cache.statusOf(entry), 'expired');
});

t.test('I6: without its connection an answer is stale at once, old when it is far behind, and expires', async (t) => {
  const { cache, clock, to, proof, put } = open();
  const entry = put();
  proof.state = 'lost';
  proof.lagSlots = 8;
  t.equal(cache.statusOf(entry), 'stale');
  proof.lagSlots = 9;
  t.equal(cache.statusOf(entry), 'old', 'others are asked first');
  clock.advance(150 * 400 - 400);
  to(101);
  t.equal(cache.statusOf(entry), 'old');
  clock.advance(1);
  t.equal(cache.statusOf(entry), 'expired', 'counted by the clock from the last beacon');
});

t.test(
  'I6: a state that there is a newer one of, or a part that is to be looked at anew, is carried no further',
  async (t) => {
    const { cache, clock, to, proof } = open();
    const both = combinedLease([proof, expiringLease(10, () => cache.tip, clock.monotonic())]);
    const entry = cache.put('k', { slot: 100, result: '1', lease: both }, { slots: 2 }, META);
    const beat = (slot: Slot): void => {
      to(slot);
      proof.slot = slot - 1;
      proof.validatedMs = clock.monotonic();
    };
    for (let slot = 101; slot < 110; slot++) beat(slot);
    const carried = cache.advanceToLease(entry);
    t.equal(carried.slot, 108);
    for (let slot = 110; slot <= 250; slot++) beat(slot);
    t.equal(cache.advanceToLease(carried), carried);
    t.equal(cache.statusOf(carried), 'old');
    clock.advance(4001); // 150 slots after it was looked at
    t.equal(cache.statusOf(carried), 'expired');
  },
);

t.test('nothing is left with a proof of what the cache has let go of', async (t) => {
  const { cache, proof: lease } = open(10_000);
  for (let i = 0; i < 1000; i++) cache.put(`mint ${i}`, { slot: 100, result: '1', lease }, { slots: 2 }, META);
  t.ok(cache.entryCount < 20);
  t.equal(lease.listeners.size, cache.entryCount);
  cache.put('large', { slot: 100, result: 'x'.repeat(10_000), lease }, { slots: 2 }, META);
  t.equal(lease.listeners.has('large'), false);
});

t.test('an answer from a connection that lags is not called fresh', async (t) => {
  const { cache, proof, put } = open();
  const entry = put();
  proof.state = 'behind';
  t.equal(cache.statusOf(entry), 'old');
});

t.test('I7: a cached key has its own floor, those that are evicted share one for each commitment', async (t) => {
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
  t.equal(cache.floor('d', 'confirmed'), 99, 'also of what is too large to be kept');
});
