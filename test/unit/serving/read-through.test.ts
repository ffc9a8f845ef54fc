import fc from 'fast-check';
import t from 'tap';
import { z } from 'zod';
import { Cache } from '../../../src/cache/cache.ts';
import type { Answer } from '../../../src/domain/answer.ts';
import { GatewayError } from '../../../src/domain/gateway-error.ts';
import { type RouteContext, readRoute } from '../../../src/routing/route.ts';
import { type ReadRequest, RouteReadThrough } from '../../../src/routing/route-read-through.ts';
import { minContextSlotNotReached } from '../../../src/upstream/rpc/error-normalizer.ts';
import { ManualClock } from '../../support/manual-clock.ts';

type Resolve = () => Promise<Pick<Answer<number>, 'slot' | 'result' | 'fromSnapshot'>>;

/** Opens the read-through of one route, whose upstream the test sets. */
function openReadThrough({ bytes = 1_000_000 } = {}) {
  const clock = new ManualClock();
  const cache = new Cache({ clock, bytes, maxStaleSlots: 150, hotKeys: 10 });
  let calls = 0;
  let upstream: Resolve = () => Promise.reject(new Error('no upstream'));
  const route = readRoute({
    path: '/thing',
    summary: 'A thing',
    params: {},
    result: z.number(),
    envelope: 'signed',
    cache: { slots: 2 },
    commitmentOf: () => 'confirmed',
    resolve() {
      calls++;
      return upstream();
    },
  });
  const mesh = { tip: () => cache.tip };
  const context = { cache, clock, mesh } as unknown as RouteContext; // the read-through uses no other member
  const readThrough = new RouteReadThrough(context, (work) => work());
  const request: ReadRequest = { route, params: {}, key: '/api/v1/thing' };
  return {
    cache,
    readThrough,
    request,
    calls: () => calls,
    setUpstream: (resolve: Resolve) => {
      upstream = resolve;
    },
    advanceTo(slot: number) {
      clock.advance(400);
      cache.advanceTip(slot);
    },
    wait(ms: number) {
      clock.advance(ms);
      cache.tick();
    },
    /** Reads as a request does: from the cache, else from the upstream. */
    read: async (minSlot?: number) => {
      const bounded = { ...request, minSlot };
      return readThrough.fromCache(bounded) ?? (await readThrough.fetch(bounded));
    },
  };
}

const unreachable = (): Promise<never> => Promise.reject(new GatewayError('upstream_unavailable', 'nobody'));

t.test('ten thousand equal reads make one upstream call', async (t) => {
  const { read, setUpstream, calls, advanceTo } = openReadThrough();
  advanceTo(10);
  setUpstream(async () => ({ slot: 9, result: 1 }));
  const pending = Array.from({ length: 10_000 }, read);
  t.equal(calls(), 1);
  const served = await Promise.all(pending);
  t.equal(new Set(served.map(({ entry }) => entry)).size, 1);
  t.ok(served.every(({ cacheStatus }) => cacheStatus === 'MISS'));
  t.equal(calls(), 1);
  t.equal((await read()).cacheStatus, 'HIT');
  t.equal(calls(), 1);
});

t.test('who joins the load of a caller that has no turn at the upstream loads for itself', async (t) => {
  const { readThrough, request, setUpstream, calls, advanceTo } = openReadThrough();
  advanceTo(10);
  const admitted: string[] = [];
  const fetch = (caller: string) =>
    readThrough.fetch(request, (work) => {
      admitted.push(caller);
      return work();
    });
  let refuse = (): void => {};
  setUpstream(() => new Promise((_, reject) => (refuse = () => reject(new GatewayError('overloaded', 'no turn')))));
  const first = fetch('flood');
  const joined = [fetch('a'), fetch('b')];
  setUpstream(async () => ({ slot: 9, result: 1 }));
  refuse();
  await t.rejects(first, { code: 'overloaded' });
  t.same(new Set((await Promise.all(joined)).map(({ entry }) => entry.slot)), new Set([9]));
  t.same(admitted, ['flood', 'a', 'b']);
  t.equal(calls(), 2, 'the two share one');

  advanceTo(100);
  setUpstream(() => Promise.reject(new GatewayError('upstream_unavailable', 'nobody')));
  await Promise.allSettled([fetch('c'), fetch('d')]);
  t.equal(calls(), 3, 'another failure is that of all');
});

t.test('an older answer of a lagging node does not replace a newer one', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(fc.nat(5), fc.nat(30)), { maxLength: 30 }), async (reads) => {
      const { read, setUpstream, advanceTo } = openReadThrough();
      let tip = 100;
      let newest = 0;
      for (const [passed, lag] of reads) {
        tip += passed;
        advanceTo(tip);
        setUpstream(async () => ({ slot: tip - lag, result: tip - lag }));
        const { entry } = await read();
        if (entry.slot < newest || entry.result !== String(entry.slot)) return false;
        newest = entry.slot;
      }
      return true;
    }),
  );
});

t.test('answers that arrive out of order do not go back in time', async (t) => {
  const { readThrough, request, cache, setUpstream, advanceTo } = openReadThrough();
  advanceTo(10);
  const respond: ((slot: number) => void)[] = [];
  setUpstream(() => new Promise((resolve) => respond.push((slot) => resolve({ slot, result: slot }))));
  const pending = readThrough.fetch(request);
  cache.put(
    request.key,
    { slot: 12, result: '12' },
    { slots: 2 },
    { envelope: 'signed', commitment: 'confirmed', exact: false },
  );
  respond[0]?.(9);
  t.equal((await pending).entry.slot, 12);
});

t.test('an answer overtaken by one that is no longer cached is read again, once', async (t) => {
  for (const again of [12, 8]) {
    const { readThrough, request, cache, setUpstream, calls, advanceTo } = openReadThrough({ bytes: 1 }); // nothing stays cached for long
    advanceTo(10);
    const respond: ((slot: number) => void)[] = [];
    setUpstream(() => new Promise((resolve) => respond.push((slot) => resolve({ slot, result: slot }))));
    const pending = readThrough.fetch(request);
    const label = { envelope: 'signed', commitment: 'confirmed', exact: false } as const;
    cache.put('/api/v1/other', { slot: 12, result: '12' }, { slots: 2 }, label);
    respond[0]?.(9);
    for (let i = 0; i < 9 && calls() < 2; i++) await new Promise((resolve) => setImmediate(resolve));
    respond[1]?.(again);
    if (again === 12) t.equal((await pending).entry.slot, 12);
    else await t.rejects(pending, { code: 'stale' });
    t.equal(calls(), 2);
  }
});

t.test('a caller who has seen a slot gets nothing older', async (t) => {
  const { read, setUpstream, advanceTo, calls } = openReadThrough();
  advanceTo(10);
  setUpstream(() => Promise.reject(new GatewayError('not_found', 'there is none')));
  await t.rejects(read(), { code: 'not_found' });
  advanceTo(11);
  await t.rejects(read(10), { code: 'not_found' });
  t.equal(calls(), 1, 'the negative answer is cached');
  setUpstream(async () => ({ slot: 11, result: 1 }));
  t.match(await read(11), { cacheStatus: 'MISS', entry: { slot: 11 } }, 'but it is of slot 10');
  t.equal((await read(11)).cacheStatus, 'HIT');
  advanceTo(13);
  setUpstream(async () => ({ slot: 12, result: 2, fromSnapshot: true }));
  await t.rejects(read(13), { code: 'min_slot_not_reached' });
  t.match(await read(12), { entry: { slot: 12 } });
});

t.test('when no upstream has reached the slot served for a key that is no longer cached, it is stale', async (t) => {
  const { read, setUpstream, advanceTo } = openReadThrough({ bytes: 1 }); // nothing stays cached
  advanceTo(10);
  setUpstream(async () => ({ slot: 10, result: 1 }));
  t.match(await read(), { entry: { slot: 10 } });
  setUpstream(() => Promise.reject(minContextSlotNotReached()));
  await t.rejects(read(), { code: 'stale', status: 503, retryAfter: 1 });
  await t.rejects(read(10), { code: 'min_slot_not_reached' }, 'unless the caller named the slot');
});

t.test('a final negative answer holds whatever slot is named', async (t) => {
  const { read, setUpstream, advanceTo, calls } = openReadThrough();
  advanceTo(10);
  setUpstream(() => Promise.reject(new GatewayError('block_pruned', 'it is gone', { final: true })));
  await t.rejects(read(), { code: 'block_pruned' });
  advanceTo(99);
  await t.rejects(read(99), { code: 'block_pruned' });
  t.equal(calls(), 1);
});

t.test('when the upstream fails the cached answer is served as stale, until it is too old', async (t) => {
  const { read, setUpstream, advanceTo, wait } = openReadThrough();
  advanceTo(10);
  await t.rejects(read(), { message: 'no upstream' });
  setUpstream(unreachable);
  await t.rejects(read(), { code: 'upstream_unavailable' });
  setUpstream(async () => ({ slot: 10, result: 1 }));
  t.equal((await read()).cacheStatus, 'MISS');
  setUpstream(unreachable);
  advanceTo(12);
  const stale = await read();
  t.equal(stale.cacheStatus, 'STALE');
  t.equal(stale.entry.slot, 10);
  wait(60_000);
  await t.rejects(read(), { code: 'stale', status: 503, retryAfter: 1 });
});

t.test('a stale answer does not hide a defect of the gateway', async (t) => {
  const { read, setUpstream, advanceTo } = openReadThrough();
  advanceTo(10);
  setUpstream(async () => ({ slot: 10, result: 1 }));
  await read();
  advanceTo(12);
  setUpstream(() => Promise.reject(new TypeError('a defect')));
  await t.rejects(read(), TypeError);
});

t.test('while the tip is stalled the cached answer is served at once, and read again now and then', async (t) => {
  const { readThrough, request, read, setUpstream, advanceTo, wait, calls } = openReadThrough();
  advanceTo(10);
  setUpstream(async () => ({ slot: 10, result: 1 }));
  await read();
  setUpstream(unreachable);
  wait(3000);
  for (let i = 0; i < 10; i++) t.equal(readThrough.fromCache(request)?.cacheStatus, 'STALE');
  t.equal(calls(), 2, 'one retry for ten readers');
  await new Promise(setImmediate); // it has failed
  wait(400);
  readThrough.fromCache(request);
  t.equal(calls(), 3);
});
