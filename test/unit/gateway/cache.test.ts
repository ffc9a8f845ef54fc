import fc from 'fast-check';
import t from 'tap';
import { Cache } from '../../../src/gateway/cache/cache.ts';
import { type AnswerMeta, type Entry, newestOf } from '../../../src/gateway/cache/entry.ts';
import { SingleFlight } from '../../../src/gateway/cache/single-flight.ts';
import { GatewayError } from '../../../src/shared/domain/gateway-error.ts';
import {
  combinedLease,
  type Lease,
  type LeaseListener,
  type LeaseState,
  limitedLease,
} from '../../../src/shared/domain/lease.ts';
import type { Slot } from '../../../src/shared/domain/slot.ts';
import { ManualClock } from '../../support/manual-clock.ts';

t.test('cache', async (t) => {
  const SLOT_MS = 400;
  const META: AnswerMeta = { envelope: 'signed', commitment: 'confirmed', exact: false };
  const REFUSAL = new GatewayError('not_found', 'no such thing');

  const open = (options: { readonly bytes?: number; readonly hotKeys?: number } = {}) => {
    const clock = new ManualClock();
    const cache = new Cache({ clock, bytes: 1_000_000, maxStaleMs: 60_000, hotKeys: 100, ...options });
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
    const statuses = () => [live, read].map((entry) => cache.statusOf(entry));
    clock.advance(5 * SLOT_MS);
    cache.tick();
    t.same(statuses(), ['fresh', 'fresh']);
    clock.advance(1);
    cache.tick();
    t.same(statuses(), ['stale', 'stale']);
    clock.advance(145 * SLOT_MS - 1);
    cache.tick();
    t.same(statuses(), ['stale', 'stale'], '150 slots after the last');
    clock.advance(1);
    t.same(statuses(), ['expired', 'expired']);
    to(101);
    t.equal(cache.statusOf(read), 'fresh', 'only one slot passed, however long it took');
    to(102);
    t.equal(cache.statusOf(read), 'expired', 'too old to be served when it cannot be read again');
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

  t.test('a policy in milliseconds holds by the clock, one in slots by the tip, however long slots last', async (t) => {
    for (const slotMs of [150, 200, 400]) {
      const { cache, clock } = open();
      let slot = 100;
      const pass = (slots: number): void => {
        for (let n = 0; n < slots; n++) {
          clock.advance(slotMs);
          cache.advanceTip(++slot);
        }
      };
      pass(1);
      cache.put('timed', { slot, result: '1' }, { ms: 10_000 }, META);
      cache.put('counted', { slot, result: '1' }, { slots: 25 }, META);
      cache.putRefusal('refused', REFUSAL, { ms: 10_000 }, META);
      const isFresh = (key: string): boolean | undefined => {
        const item = cache.get(key);
        return item && cache.isFresh(item);
      };
      const slots = Math.ceil(10_000 / slotMs);
      pass(24);
      t.equal(isFresh('counted'), true, `${slotMs} ms`);
      pass(slots - 25);
      t.same([isFresh('timed'), isFresh('refused')], [true, true], `${slotMs} ms: ${slots - 1} slots later`);
      pass(1);
      t.same([isFresh('timed'), isFresh('refused')], [false, false], `${slotMs} ms: ${slots} slots later`);
      t.equal(isFresh('counted'), false, `${slotMs} ms`);
    }
  });

  t.test('an answer is too old after the same time, however long a slot lasts', async (t) => {
    for (const slotMs of [150, 200, 400]) {
      const { cache, clock } = open();
      let slot = 100;
      const pass = (ms: number): void => {
        for (const endMs = clock.monotonic() + ms; clock.monotonic() < endMs; ) {
          clock.advance(Math.min(slotMs, endMs - clock.monotonic()));
          cache.advanceTip(++slot);
        }
      };
      pass(slotMs);
      const entry = cache.put('k', { slot, result: '1' }, { slots: 2 }, META);
      pass(60_000);
      t.equal(cache.statusOf(entry), 'old', `${slotMs} ms`);
      pass(1);
      t.equal(cache.statusOf(entry), 'expired', `${slotMs} ms`);
    }
  });

  t.test('a refusal is cached for its slots, is replaced by an answer, and never replaces one', async (t) => {
    const { cache, to } = open();
    to(10);
    cache.putRefusal('k', REFUSAL, { slots: 2 }, META);
    const refused = cache.get('k');
    t.equal(refused?.refusal, REFUSAL);
    t.equal(refused && cache.statusOf(refused), 'fresh');
    to(12);
    t.equal(refused && cache.statusOf(refused), 'expired');
    cache.put('k', { slot: 3, result: '1' }, { slots: 2 }, META);
    t.equal(cache.get('k')?.result, '1', 'even one with an older slot');
    cache.putRefusal('k', REFUSAL, { slots: 2 }, META);
    t.equal(cache.get('k')?.result, '1');
  });

  t.test('a refusal is of the slot that its node had to reach, and does not replace a newer answer', async (t) => {
    const { cache, to } = open();
    to(100);
    cache.putRefusal('k', REFUSAL, { slots: 2 }, META, 93);
    t.match(cache.peek('k'), { kind: 'refusal', slot: 93, refusal: REFUSAL });
    t.equal(cache.floor('k', 'confirmed'), undefined, 'but it is no answer that later ones must follow');
    cache.put('k', { slot: 94, result: '1' }, { slots: 2 }, META);
    to(200);
    cache.putRefusal('k', REFUSAL, { slots: 2 }, META, 93);
    t.match(cache.peek('k'), { kind: 'answer', slot: 94 });
    cache.putRefusal('k', REFUSAL, { slots: 2 }, META, 94);
    t.match(cache.peek('k'), { kind: 'refusal', slot: 94 });
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
    cache.putRefusal('k', REFUSAL, { slots: 2 }, META);
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
    cache.putRefusal('k', new GatewayError('slot_skipped', 'skipped', { final: true }), { slots: 2 }, META);
    to(1_000_000);
    const refused = cache.get('k');
    t.equal(refused && cache.statusOf(refused), 'fresh');
    for (let i = 0; i < 10_000; i++) {
      cache.putRefusal(`k${i}`, new GatewayError('slot_skipped', 'skipped', { final: true }), { slots: 2 }, META);
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
    t.equal(cache.floor('k', 'confirmed'), 2, 'readers may wait for it');
    t.equal(cache.put('k', { slot: 1, result: 'late' }, 'live', META), held);
    cache.putSlotMark('k', 1, META);
    t.equal(cache.get('k')?.kind, 'answer');
    cache.put('k', { slot: 3, result: '3' }, 'live', META);
    cache.publish(held);
    t.equal(cache.get('k')?.slot, 3);
  });

  t.test('what was held back is not published once an operator has lied, unless two vouch for it', async (t) => {
    for (const [agreed, slot] of [
      [1, 1],
      [2, 2],
    ]) {
      const { cache, to } = open();
      const vouched = (slot: number, agreed = 2) => ({ slot, agreed, read: 2, needed: 2 });
      to(2);
      cache.put('k', { slot: 1, result: '1', agreement: vouched(1) }, { slots: 2 }, META);
      cache.holdBackWith(() => true);
      const { unagreedDrops } = cache;
      const held = cache.put('k', { slot: 2, result: '2', agreement: vouched(2, agreed) }, { slots: 2 }, META);
      const published = cache.peek('k');
      t.equal(published?.kind === 'answer' && newestOf(published).slot, slot, 'nor sealed where two are demanded');
      cache.dropUnagreed();
      cache.publish(held, unagreedDrops);
      t.strictSame([cache.peek('k')?.slot, cache.peek('k')?.successor], [slot, undefined]);
    }
  });

  t.test('what is fresh for some time is refreshed in the last slot of it', async (t) => {
    const { cache, to } = open();
    to(1);
    let refreshes = 0;
    const refresh = (): Promise<void> => {
      refreshes++;
      return new Promise(() => {});
    };
    const entry = cache.put('k', { slot: 1, result: '1' }, { ms: 10_000 }, META, { refresher: { refresh } });
    const pass = (slot: number): void => {
      cache.get('k');
      to(slot);
      cache.refreshHot(SLOT_MS);
    };
    for (let slot = 2; slot <= 24; slot++) pass(slot);
    t.equal(refreshes, 0);
    pass(25);
    t.equal(refreshes, 1);
    t.ok(cache.isFresh(entry), 'while it is read again, too');
    to(26);
    t.notOk(cache.isFresh(entry));
  });

  t.test('keys that were read are refreshed once per slot, up to the limit', async (t) => {
    const { cache, to } = open({ hotKeys: 2 });
    to(1);
    const refreshed: string[] = [];
    const refreshes = (): string[] => {
      cache.refreshHot(400);
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
      cache.refreshHot(400);
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
    cache.refreshHot(400);
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
});

t.test('lease', async (t) => {
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
    const cache = new Cache({ clock, bytes, maxStaleMs: 60_000, hotKeys: 100 });
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
    t.equal(cache.isFresh(entry), true, 'it is still served');
  });

  t.test('live state renews without a load: a hot entry when its lease ends, another at its next read', (t) => {
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
  });

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

  t.test('an entry whose lease is denied is not served while it is refreshed', async (t) => {
    const { cache, lease, put } = open();
    const entry = put(() => new Promise(() => {}));
    cache.get('k');
    revoke(lease);
    t.equal(cache.statusOf(entry), 'fresh', 'that of a revoked one is');
    lease.validatedMs = Number.NEGATIVE_INFINITY;
    t.equal(cache.statusOf(entry), 'expired');
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

  t.test('I6: an answer whose session is lost is stale immediately, old when it lags far, and expires', async (t) => {
    const { cache, clock, to, lease, put } = open();
    const entry = put();
    lease.state = 'lost';
    lease.lagSlots = 8;
    t.equal(cache.statusOf(entry), 'stale');
    lease.lagSlots = 9;
    t.equal(cache.statusOf(entry), 'old', 'other nodes are called first');
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
    t.match(
      [cache.floor('a', 'finalized'), cache.floor('b', 'confirmed'), cache.floor('c', 'confirmed')],
      [70, 90, 90],
    );
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
});

t.test('single-flight', async (t) => {
  t.test('concurrent callers of the same key share one piece of work', async (t) => {
    const flight = new SingleFlight<number>();
    let started = 0;
    let land = (_: number): void => {};
    const start = () => {
      started++;
      return new Promise<number>((resolve) => {
        land = resolve;
      });
    };
    const waiting = [flight.run('a', start), flight.run('a', start), flight.run('a', start)];
    t.equal(started, 1);
    t.ok(flight.get('a'));
    land(7);
    t.same(await Promise.all(waiting), [7, 7, 7]);
    t.notOk(flight.get('a'));
    t.equal(await flight.run('a', async () => 8), 8, 'the next call starts new work');
  });

  t.test('they share its failure, which is not kept', async (t) => {
    const flight = new SingleFlight<number>();
    const fails = () => Promise.reject(new Error('no'));
    const outcomes = await Promise.allSettled([flight.run('a', fails), flight.run('a', fails)]);
    t.ok(outcomes.every(({ status }) => status === 'rejected'));
    t.equal(await flight.run('a', async () => 1), 1);
  });

  t.test('work of different keys runs concurrently', async (t) => {
    const flight = new SingleFlight<string>();
    t.same(await Promise.all(['a', 'b'].map((key) => flight.run(key, async () => key))), ['a', 'b']);
  });
});
