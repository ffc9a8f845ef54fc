import fc from 'fast-check';
import t from 'tap';
import { Cache } from '../../../src/cache/cache.ts';
import type { AnswerMeta } from '../../../src/cache/entry.ts';
import { GatewayError } from '../../../src/domain/gateway-error.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const SLOT_MS = 400;
const META: AnswerMeta = { envelope: 'signed', commitment: 'confirmed', exact: false };
const REFUSAL = new GatewayError('not_found', 'no such thing');

const open = (options: { readonly bytes?: number; readonly hotKeys?: number } = {}) => {
  const clock = new ManualClock();
  const cache = new Cache({ clock, bytes: 1_000_000, maxStaleSlots: 150, hotKeys: 100, ...options });
  const to = (slot: number): void => {
    clock.advance(SLOT_MS);
    cache.advanceTip(slot);
  };
  return { clock, cache, to };
};

t.test('an answer is fresh for the slots of its policy, counted from the tip at its request', async (t) => {
  const { cache, to } = open();
  to(100);
  const entry = cache.put('k', { slot: 99, result: '1' }, { slots: 2 }, META);
  t.equal(cache.statusOf(entry), 'fresh');
  to(101);
  t.equal(cache.statusOf(entry), 'fresh');
  to(102);
  t.equal(cache.statusOf(entry), 'old');
  const slow = cache.put('slow', { slot: 101, result: '1' }, { slots: 2 }, META, { tipAtFetch: 100 });
  t.equal(cache.statusOf(slow), 'old', 'two slots passed while it was read');
  const final = cache.put('final', { slot: 10, result: '1', final: true }, { slots: 2 }, META);
  to(10_000);
  t.equal(cache.statusOf(final), 'fresh', 'a final answer is always fresh');
});

t.test('without new slots nothing stays fresh: entries are stale, then expired', async (t) => {
  const { cache, clock, to } = open();
  t.equal(cache.isStalled, true, 'before the first slot');
  t.equal(cache.tipAgeMs, Number.POSITIVE_INFINITY);
  to(100);
  const live = cache.put('live', { slot: 100, result: '100' }, 'live', META);
  const read = cache.put('read', { slot: 100, result: '1' }, { slots: 2 }, META);
  clock.advance(5 * SLOT_MS);
  cache.tick();
  t.same(
    [live, read].map((entry) => cache.statusOf(entry)),
    ['fresh', 'fresh'],
  );
  clock.advance(1);
  cache.tick();
  t.same(
    [live, read].map((entry) => cache.statusOf(entry)),
    ['stale', 'stale'],
  );
  clock.advance(145 * SLOT_MS - 1);
  cache.tick();
  t.same(
    [live, read].map((entry) => cache.statusOf(entry)),
    ['stale', 'stale'],
    '150 slots after the last',
  );
  clock.advance(1);
  t.same(
    [live, read].map((entry) => cache.statusOf(entry)),
    ['expired', 'expired'],
  );
  to(101);
  t.equal(cache.statusOf(read), 'fresh', 'only one slot passed, however long it took');
  to(102);
  t.equal(cache.statusOf(read), 'expired', 'too old to be served when it can not be read again');
});

t.test('a live answer whose reads fail expires although slots advance', async (t) => {
  const { cache, to } = open();
  to(1);
  const live = cache.put('live', { slot: 1, result: '1' }, 'live', META);
  for (let slot = 2; slot <= 151; slot++) to(slot);
  t.equal(cache.statusOf(live), 'fresh');
  to(152);
  t.equal(cache.statusOf(live), 'expired');
});

t.test('the newer slot wins, in whatever order answers come', async (t) => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.constantFrom('a', 'b'), fc.nat(50)), { minLength: 1 }), (answers) => {
      const { cache, to } = open();
      to(100);
      const newest = new Map<string, number>();
      for (const [key, slot] of answers) {
        const kept = cache.put(key, { slot, result: String(slot) }, { slots: 2 }, META);
        newest.set(key, Math.max(newest.get(key) ?? 0, slot));
        if (kept.slot !== newest.get(key) || cache.get(key)?.slot !== kept.slot) return false;
        if (kept.result !== String(kept.slot)) return false;
      }
      return true;
    }),
  );
  const { cache, to } = open();
  to(7);
  to(5);
  t.equal(cache.tip, 7, 'nor does the tip go back');
});

t.test('a refusal is cached for its slots, is replaced by an answer, and never replaces one', async (t) => {
  const { cache, to } = open();
  to(10);
  cache.putRefusal('k', REFUSAL, 2, META);
  const refused = cache.get('k');
  t.equal(refused?.refusal, REFUSAL);
  t.equal(refused && cache.statusOf(refused), 'fresh');
  to(12);
  t.equal(refused && cache.statusOf(refused), 'expired');
  cache.put('k', { slot: 3, result: '1' }, { slots: 2 }, META);
  t.equal(cache.get('k')?.result, '1', 'even one with an older slot');
  cache.putRefusal('k', REFUSAL, 2, META);
  t.equal(cache.get('k')?.result, '1');
});

t.test('a refusal answers for the minimum slot that it was read with', async (t) => {
  const { cache, to } = open();
  to(100);
  cache.putRefusal('k', REFUSAL, 2, META, 103);
  t.match(cache.peek('k'), { kind: 'refusal', slot: 103, refusal: REFUSAL });
  t.equal(cache.floor('k', 'confirmed'), undefined, 'but it is no answer that later ones must follow');
});

t.test('of an answer that is not cached the slot is remembered', async (t) => {
  const { cache, to } = open();
  to(100);
  cache.put('k', { slot: 98, result: '98' }, { slots: 2 }, META);
  cache.putSlotMark('k', 99, META);
  const mark = cache.get('k');
  t.match(mark, { kind: 'slot-mark', slot: 99, result: undefined });
  if (mark !== undefined) t.same([cache.isFresh(mark), cache.statusOf(mark)], [false, 'expired']);
  t.equal(cache.floor('k', 'confirmed'), 99);
  cache.put('k', { slot: 98, result: '98' }, { slots: 2 }, META);
  cache.putSlotMark('k', 98, META);
  cache.putRefusal('k', REFUSAL, 2, META);
  t.match(cache.peek('k'), { kind: 'slot-mark', slot: 99 });
  cache.put('k', { slot: 100, result: '100' }, { slots: 2 }, META);
  t.match(cache.peek('k'), { kind: 'answer', slot: 100, result: '100' });
  const served = cache.passBy('k', { slot: 101, result: '101', final: true }, META);
  t.match(served, { kind: 'answer', slot: 101, result: '101', final: false });
  t.match(cache.peek('k'), { kind: 'slot-mark', slot: 101 }, 'it was served once');
});

t.test('a final refusal is cached until it is evicted', async (t) => {
  const { cache, to } = open();
  to(10);
  cache.putRefusal('k', new GatewayError('slot_skipped', 'skipped', { final: true }), 2, META);
  to(1_000_000);
  const refused = cache.get('k');
  t.equal(refused && cache.statusOf(refused), 'fresh');
  for (let i = 0; i < 10_000; i++) {
    cache.putRefusal(`k${i}`, new GatewayError('slot_skipped', 'skipped', { final: true }), 2, META);
  }
  t.equal(cache.get('k'), undefined);
  t.ok(cache.entryCount < 1000, `${cache.entryCount} entries`);
});

t.test('an entry that is held back is not read before it is published, nor published over a newer one', async (t) => {
  const { cache, to } = open();
  to(1);
  cache.put('k', { slot: 1, result: '1' }, 'live', META);
  cache.holdBackWith(({ slot }) => slot === 2);
  const held = cache.put('k', { slot: 2, result: '2' }, 'live', META);
  t.equal(cache.get('k')?.slot, 1);
  cache.put('k', { slot: 3, result: '3' }, 'live', META);
  cache.publish(held);
  t.equal(cache.get('k')?.slot, 3);
});

t.test('keys that were read are refreshed once per slot, up to the limit', async (t) => {
  const { cache, to } = open({ hotKeys: 2 });
  to(1);
  const refreshed: string[] = [];
  const refreshes = (): string[] => {
    cache.refreshHot();
    return refreshed.splice(0);
  };
  for (const key of ['a', 'b', 'c']) {
    const refresh = async (): Promise<void> => void refreshed.push(key);
    cache.put(key, { slot: 1, result: '1' }, { slots: 2 }, META, { refresher: { refresh } });
  }
  for (const key of ['a', 'a', 'b', 'c']) cache.get(key);
  t.same(refreshes(), ['a', 'b']);
  cache.get('a');
  t.same(refreshes(), [], 'in the same slot');
  await Promise.resolve();
  to(2);
  cache.get('a');
  t.same(refreshes(), ['a']);
  cache.peek('b');
  t.same(refreshes(), []);
});

t.test('a key that is read at longer intervals than an answer is fresh is not refreshed', async (t) => {
  const { cache, to } = open();
  const refreshedAt: number[] = [];
  for (let tip = 1; tip <= 40; tip++) {
    to(tip);
    cache.refreshHot();
    if (tip % 10 !== 1) continue;
    cache.get('k');
    const refresh = async (): Promise<void> => void refreshedAt.push(tip);
    cache.put('k', { slot: tip, result: '1' }, { slots: 4 }, META, { refresher: { refresh } });
  }
  t.same(refreshedAt, []);
});

t.test('an entry is served while it is refreshed, but not for long', async (t) => {
  const { cache, to } = open();
  to(1);
  let done = (): void => {};
  const refresh = (): Promise<void> =>
    new Promise((resolve) => {
      done = resolve;
    });
  const entry = cache.put('k', { slot: 1, result: '1' }, { slots: 2 }, META, { refresher: { refresh } });
  cache.get('k');
  cache.refreshHot();
  to(4);
  t.ok(cache.isFresh(entry), 'its readers never wait');
  to(9);
  t.notOk(cache.isFresh(entry));
  to(4);
  done();
  await new Promise(setImmediate);
  t.notOk(cache.isFresh(entry), 'the refresh had no result');
});

t.test('an entry counts with its text as V8 keeps it, its body and its compressed bodies', async (t) => {
  const sizeOf = (result: string): number => {
    const { cache } = open({ bytes: 10_000_000 });
    cache.put('k', { slot: 1, result }, { slots: 2 }, META);
    return cache.sizeBytes;
  };
  const length = 100_000;
  t.ok(sizeOf('x'.repeat(length)) >= 3.5 * length, 'text, body, and at most 0.75 of it in each of two codings');
  t.ok(sizeOf(`\u2713${'x'.repeat(length)}`) >= 5.5 * length, 'two bytes a character in text and body');
  t.ok(sizeOf('x'.repeat(100)) < 1500, 'a short one is never compressed');
});

t.test('memory is bounded: the least recently read entry is evicted first', async (t) => {
  const bytes = 100_000;
  const { cache, to } = open({ bytes });
  to(1);
  const result = `"${'x'.repeat(1000)}"`;
  cache.put('first', { slot: 1, result }, { slots: 2 }, META);
  let largest = 0;
  for (let i = 0; i < 1000; i++) {
    to(2 + i);
    cache.put(`key ${i}`, { slot: 1, result }, { slots: 2 }, META);
    cache.get('first');
    largest = Math.max(largest, cache.sizeBytes);
  }
  t.ok(largest <= bytes, `${largest} bytes`);
  t.ok(cache.entryCount < 50);
  t.ok(cache.peek('first'));
  t.notOk(cache.peek('key 0'));
});
