import fc from 'fast-check';
import t from 'tap';
import { z } from 'zod';
import { Cache } from '../../../src/cache/cache.ts';
import type { Answer } from '../../../src/domain/answer.ts';
import { GatewayError } from '../../../src/domain/gateway-error.ts';
import { type RouteContext, readRoute } from '../../../src/routing/route.ts';
import { type ReadRequest, ReadThrough } from '../../../src/serving/read-through.ts';
import { minContextSlotNotReached } from '../../../src/upstream/rpc/error-normalizer.ts';
import { ManualClock } from '../../support/manual-clock.ts';

type Resolve = () => Promise<Pick<Answer<number>, 'slot' | 'result' | 'fromSnapshot'>>;

/** A route whose upstream the test plays. */
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
  const context = { cache, clock, mesh } as unknown as RouteContext; // nothing else of it is looked at here
  const answers = new ReadThrough(context);
  const question: ReadRequest = { route, params: {}, key: '/api/v1/thing' };
  return {
    cache,
    answers,
    question,
    calls: () => calls,
    play: (resolve: Resolve) => {
      upstream = resolve;
    },
    to(slot: number) {
      clock.advance(400);
      cache.advanceTip(slot);
    },
    stand(ms: number) {
      clock.advance(ms);
      cache.tick();
    },
    /** As a request does it. */
    ask: async (minSlot?: number) => {
      const asked = { ...question, minSlot };
      return answers.fromCache(asked) ?? (await answers.fetch(asked));
    },
  };
}

const unreachable = (): Promise<never> => Promise.reject(new GatewayError('upstream_unavailable', 'nobody'));

t.test('ten thousand equal questions are one to the upstream', async (t) => {
  const { ask, play, calls, to, answers } = openReadThrough();
  to(10);
  play(async () => ({ slot: 9, result: 1 }));
  const asked = Array.from({ length: 10_000 }, ask);
  t.equal(answers.inFlight, 1);
  const served = await Promise.all(asked);
  t.equal(new Set(served.map(({ entry }) => entry)).size, 1);
  t.ok(served.every(({ cacheStatus }) => cacheStatus === 'MISS'));
  t.equal(calls(), 1);
  t.equal((await ask()).cacheStatus, 'HIT');
  t.equal(calls(), 1);
});

t.test('an older answer of a node that lags does not take the place of a newer one', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(fc.nat(5), fc.nat(30)), { maxLength: 30 }), async (reads) => {
      const { ask, play, to } = openReadThrough();
      let tip = 100;
      let newest = 0;
      for (const [passed, lag] of reads) {
        tip += passed;
        to(tip);
        play(async () => ({ slot: tip - lag, result: tip - lag }));
        const { entry } = await ask();
        if (entry.slot < newest || entry.result !== String(entry.slot)) return false;
        newest = entry.slot;
      }
      return true;
    }),
  );
});

t.test('answers that come in another order than they were asked for do not go back', async (t) => {
  const { answers, question, cache, play, to } = openReadThrough();
  to(10);
  const landings: ((slot: number) => void)[] = [];
  play(() => new Promise((resolve) => landings.push((slot) => resolve({ slot, result: slot }))));
  const slow = answers.fetch(question);
  cache.put(
    question.key,
    { slot: 12, result: '12' },
    { slots: 2 },
    { envelope: 'signed', commitment: 'confirmed', exact: false },
  );
  landings[0]?.(9);
  t.equal((await slow).entry.slot, 12);
});

t.test('an answer that was overtaken by one that is kept no more is asked for again, once', async (t) => {
  for (const again of [12, 8]) {
    const { answers, question, cache, play, calls, to } = openReadThrough({ bytes: 1 }); // nothing is kept for long
    to(10);
    const landings: ((slot: number) => void)[] = [];
    play(() => new Promise((resolve) => landings.push((slot) => resolve({ slot, result: slot }))));
    const slow = answers.fetch(question);
    const label = { envelope: 'signed', commitment: 'confirmed', exact: false } as const;
    cache.put('/api/v1/other', { slot: 12, result: '12' }, { slots: 2 }, label);
    landings[0]?.(9);
    for (let i = 0; i < 9 && calls() < 2; i++) await new Promise((resolve) => setImmediate(resolve));
    landings[1]?.(again);
    if (again === 12) t.equal((await slow).entry.slot, 12);
    else await t.rejects(slow, { code: 'stale' });
    t.equal(calls(), 2);
  }
});

t.test('who has seen a slot is told nothing from before it', async (t) => {
  const { ask, play, to, calls } = openReadThrough();
  to(10);
  play(() => Promise.reject(new GatewayError('not_found', 'there is none')));
  await t.rejects(ask(), { code: 'not_found' });
  to(11);
  await t.rejects(ask(10), { code: 'not_found' });
  t.equal(calls(), 1, 'the refusal is kept');
  play(async () => ({ slot: 11, result: 1 }));
  t.match(await ask(11), { cacheStatus: 'MISS', entry: { slot: 11 } }, 'but it is one of slot 10');
  t.equal((await ask(11)).cacheStatus, 'HIT');
  to(13);
  play(async () => ({ slot: 12, result: 2, fromSnapshot: true }));
  await t.rejects(ask(13), { code: 'min_slot_not_reached' });
  t.match(await ask(12), { entry: { slot: 12 } });
});

t.test('when no upstream is as far as what was told of a key that is kept no more, it is stale', async (t) => {
  const { ask, play, to } = openReadThrough({ bytes: 1 }); // nothing is kept
  to(10);
  play(async () => ({ slot: 10, result: 1 }));
  t.match(await ask(), { entry: { slot: 10 } });
  play(() => Promise.reject(minContextSlotNotReached()));
  await t.rejects(ask(), { code: 'stale', status: 503, retryAfter: 1 });
  await t.rejects(ask(10), { code: 'min_slot_not_reached' }, 'unless the caller named the slot');
});

t.test('what is gone for good is told whatever slot is named', async (t) => {
  const { ask, play, to, calls } = openReadThrough();
  to(10);
  play(() => Promise.reject(new GatewayError('block_pruned', 'it is gone', { final: true })));
  await t.rejects(ask(), { code: 'block_pruned' });
  to(99);
  await t.rejects(ask(99), { code: 'block_pruned' });
  t.equal(calls(), 1);
});

t.test('when the upstream fails the old answer goes on as stale, then not at all', async (t) => {
  const { ask, play, to, stand } = openReadThrough();
  to(10);
  await t.rejects(ask(), { message: 'no upstream' });
  play(unreachable);
  await t.rejects(ask(), { code: 'upstream_unavailable' });
  play(async () => ({ slot: 10, result: 1 }));
  t.equal((await ask()).cacheStatus, 'MISS');
  play(unreachable);
  to(12);
  const stale = await ask();
  t.equal(stale.cacheStatus, 'STALE');
  t.equal(stale.entry.slot, 10);
  stand(60_000);
  await t.rejects(ask(), { code: 'stale', status: 503, retryAfter: 1 });
});

t.test('a defect of ours is not covered by an old answer', async (t) => {
  const { ask, play, to } = openReadThrough();
  to(10);
  play(async () => ({ slot: 10, result: 1 }));
  await ask();
  to(12);
  play(() => Promise.reject(new TypeError('a defect')));
  await t.rejects(ask(), TypeError);
});

t.test('while slots stand still the old answer is served at once, and asked for again now and then', async (t) => {
  const { answers, question, ask, play, to, stand, calls } = openReadThrough();
  to(10);
  play(async () => ({ slot: 10, result: 1 }));
  await ask();
  play(unreachable);
  stand(3000);
  for (let i = 0; i < 10; i++) t.equal(answers.fromCache(question)?.cacheStatus, 'STALE');
  t.equal(calls(), 2, 'one retry for ten readers');
  await new Promise(setImmediate); // it has failed
  stand(400);
  answers.fromCache(question);
  t.equal(calls(), 3);
});
