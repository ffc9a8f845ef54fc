import t from 'tap';
import { Cache } from '../../../src/cache/cache.ts';
import type { AnswerMeta } from '../../../src/cache/entry.ts';
import type { Slot } from '../../../src/domain/slot.ts';
import { ReadHeat } from '../../../src/live/read-heat.ts';
import { Watermark } from '../../../src/live/watermark.ts';
import { WatermarkLease } from '../../../src/live/watermark-lease.ts';
import { SpentBodies } from '../../../src/serving/spent-bodies.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const META: AnswerMeta = { envelope: 'signed', commitment: 'confirmed', exact: false };

/** Answers of one slot that have bodies, under a lease that a watermark advances. */
function openAnswers(keys: readonly string[]) {
  const clock = new ManualClock();
  const cache = new Cache({ clock, bytes: 1_000_000, maxStaleSlots: 150, hotKeys: 0 });
  const bodies = new SpentBodies(cache);
  let tip = 100;
  cache.advanceTip(tip);
  bodies.remove(); // as before each batch that is sealed
  const watermark = new Watermark(() => tip);
  const leases = keys.map(() => new WatermarkLease(tip, watermark, new ReadHeat(75)));
  for (const [i, key] of keys.entries()) {
    const lease = leases[i];
    cache.put(key, { slot: tip, result: '1', lease }, { slots: 2 }, META).body = 'a body';
    bodies.record(key);
  }
  return {
    bodies,
    leases,
    cover: (slot: Slot) => watermark.advance(slot, clock.monotonic()),
    nextTip: () => cache.advanceTip(++tip),
    withBody: () => keys.filter((key) => cache.peek(key)?.body !== undefined),
  };
}

t.test('a body goes with the first tip at which its lease covers a newer slot', async (t) => {
  const { bodies, cover, nextTip, withBody } = openAnswers(['/a', '/b']);
  cover(101);
  bodies.remove();
  t.same(withBody(), ['/a', '/b'], 'the tip stands still');
  nextTip();
  bodies.remove();
  t.same(withBody(), []);
});

t.test('a lease that is late by a tip has its body removed with the next one', async (t) => {
  const { bodies, cover, nextTip, withBody } = openAnswers(['/a']);
  nextTip();
  bodies.remove();
  cover(101);
  bodies.remove();
  t.same(withBody(), ['/a']);
  nextTip();
  bodies.remove();
  t.same(withBody(), []);
});

t.test('a body stays whose lease covers no newer slot', async (t) => {
  const { bodies, nextTip, withBody } = openAnswers(['/a']);
  for (let i = 0; i < 3; i++) {
    nextTip();
    bodies.remove();
  }
  t.same(withBody(), ['/a']);
});

t.test('a body stays whose lease is revoked: it is sent until the answer is read again', async (t) => {
  const { bodies, leases, cover, nextTip, withBody } = openAnswers(['/a', '/b']);
  cover(101);
  leases[0]?.revoke();
  for (let i = 0; i < 3; i++) {
    nextTip();
    bodies.remove();
  }
  t.same(withBody(), ['/a']);
});
