import fc from 'fast-check';
import t from 'tap';
import { Admission, type AdmittedCaller } from '../../../../src/access/limits/admission.ts';
import type { Tier } from '../../../../src/access/limits/tiers.ts';
import { DEFAULT_TIERS } from '../../../support/access/default-tiers.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const free = (inFlight: number): Tier => ({ ...DEFAULT_TIERS.free, inFlight });
const scale = (inFlight: number): Tier => ({ ...DEFAULT_TIERS.scale, inFlight });
const OVERLOADED = { code: 'overloaded', status: 503, retryAfter: 1 };

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Creates an admission and work that runs until the test ends it. */
function admissionOf({ inFlight: maxInFlight = 100, queue: maxQueued = 100 } = {}) {
  const clock = new ManualClock();
  const state = { late: false };
  const admission = new Admission({ maxInFlight, maxQueued, maxWaitMs: 1000, clock, isOverloaded: () => state.late });
  const started: string[] = [];
  const ends = new Map<string, () => void>();
  const run = (name: string, identity: string, tier: Tier, more: Partial<AdmittedCaller> = {}): Promise<string> => {
    const work = (): Promise<string> => {
      started.push(name);
      return new Promise((resolve) => ends.set(name, () => resolve(name)));
    };
    const running = admission.run({ key: identity, tier, ...more }, work);
    running.catch(() => {}); // the test checks it later
    return running;
  };
  const end = async (name: string): Promise<void> => {
    ends.get(name)?.();
    await settle();
  };
  return { admission, clock, state, started, run, end };
}

t.test('a caller has limited work running, queues as much again, and the rest is rejected', async (t) => {
  const { admission, started, run, end } = admissionOf();
  for (const name of ['a1', 'a2', 'a3', 'a4']) run(name, 'a', free(2));
  await t.rejects(run('a5', 'a', free(2)), OVERLOADED);
  t.same(started, ['a1', 'a2']);
  run('b1', 'b', free(2));
  t.same(started, ['a1', 'a2', 'b1'], 'other callers are not affected');
  await end('b1');
  t.same(started.length, 3, 'capacity freed by other callers does not raise its limit');
  await end('a2');
  t.same(started.slice(3), ['a3']);
  t.match(admission, { running: 2, waiting: 1, refused: 1 });
});

t.test('the queue is served in order, priority tiers first', async (t) => {
  const { started, run, end } = admissionOf({ inFlight: 1 });
  run('first', 'a', free(9));
  run('free 1', 'b', free(9));
  run('free 2', 'c', free(9));
  run('scale 1', 'd', scale(9));
  run('scale 2', 'e', scale(9));
  for (const name of ['first', 'scale 1', 'scale 2', 'free 1', 'free 2']) await end(name);
  t.same(started, ['first', 'scale 1', 'scale 2', 'free 1', 'free 2']);
});

t.test('in a full queue a priority request displaces the last one without priority', async (t) => {
  const { run } = admissionOf({ inFlight: 1, queue: 2 });
  run('under way', 'a', free(9));
  const kept = run('free 1', 'b', free(9));
  const last = run('free 2', 'c', free(9));
  await t.rejects(run('free 3', 'd', free(9)), OVERLOADED);
  run('scale 1', 'e', scale(9));
  await t.rejects(last, OVERLOADED);
  run('scale 2', 'f', scale(9));
  await t.rejects(kept, OVERLOADED);
  await t.rejects(run('scale 3', 'g', scale(9)), OVERLOADED, 'all who wait have priority');
});

t.test('a request that waited too long is rejected, and its place in the queue is free', async (t) => {
  const { admission, clock, run } = admissionOf({ inFlight: 1, queue: 1 });
  run('under way', 'a', free(9));
  const waiting = run('waiting', 'b', free(9));
  clock.advance(999);
  t.equal(admission.waiting, 1);
  clock.advance(1);
  await t.rejects(waiting, OVERLOADED);
  t.equal(admission.waiting, 0);
});

t.test('nothing is started while the event loop lags', async (t) => {
  const { state, run, end } = admissionOf();
  state.late = true;
  await t.rejects(run('a', 'a', free(9)), OVERLOADED);
  state.late = false;
  const taken = run('b', 'a', free(9));
  await end('b');
  t.equal(await taken, 'b');
});

t.test('work that fails frees its capacity and passes on its error', async (t) => {
  const { admission } = admissionOf({ inFlight: 1 });
  for (let i = 0; i < 3; i++) {
    const failing = admission.run({ key: 'a', tier: free(1) }, () => Promise.reject(new Error(`no ${i}`)));
    await t.rejects(failing, { message: `no ${i}` });
  }
  t.equal(admission.running, 0);
});

const ASKED = fc.record({ who: fc.integer({ min: 0, max: 5 }), priority: fc.boolean(), ends: fc.nat(3) });

t.test(
  'in any order of requests no limit is exceeded, nothing waits while capacity is free, and no state remains',
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(ASKED, { maxLength: 60 }), async (asked) => {
        const { admission, clock, started, run, end } = admissionOf({ inFlight: 6, queue: 8 });
        const under = new Map<string, number>();
        const ended = new Set<string>();
        const look = (): boolean => {
          under.clear();
          for (const name of started) {
            const who = name.slice(0, 1);
            if (!ended.has(name)) under.set(who, (under.get(who) ?? 0) + 1);
          }
          const total = [...under.values()].reduce((a, b) => a + b, 0);
          const isIdle = total < 6 && [...under.values()].every((count) => count < 3);
          return (
            total === admission.running &&
            total <= 6 &&
            [...under.values()].every((count) => count <= 3) &&
            admission.waiting <= 8 &&
            (!isIdle || admission.waiting === 0)
          );
        };
        for (const [i, { who, priority, ends }] of asked.entries()) {
          run(`${who} ${i}`, `${who}`, (priority ? scale : free)(3));
          for (const name of started.filter((name) => !ended.has(name)).slice(0, ends === 3 ? 1 : 0)) {
            ended.add(name);
            await end(name);
          }
          if (!look()) return false;
        }
        clock.advance(1000);
        for (const name of started) if (!ended.has(name)) await end(name);
        return admission.running === 0 && admission.waiting === 0;
      }),
      { numRuns: 100 },
    );
  },
);

t.test('one /48 has at most half of the places and of the queue', async (t) => {
  const { admission, run, end } = admissionOf({ inFlight: 8, queue: 4 });
  const siteKey = -1n;
  for (let i = 0; i < 6; i++) run(`s${i}`, `subnet ${i}`, free(2), { siteKey });
  t.match(admission, { running: 4, waiting: 2 });
  await t.rejects(run('s6', 'subnet 6', free(2), { siteKey }), OVERLOADED);
  run('other', 'b', free(2));
  t.match(admission, { running: 5, waiting: 2 }, 'others have theirs');
  await end('other');
  t.match(admission, { running: 4, waiting: 2 });
  await end('s0');
  t.match(admission, { running: 4, waiting: 1 });
});

t.test('work waits until its caller has room for what it may cost, and is refused if it has none', async (t) => {
  const { admission, started, run, end } = admissionOf();
  let room = 1;
  const reserve = (): boolean => {
    if (room < 0) throw new Error('no units are left');
    return room-- > 0;
  };
  run('a1', 'a', free(9), { reserve });
  run('a2', 'a', free(9), { reserve: () => room > 0 });
  run('b', 'b', free(9));
  t.same(started, ['a1', 'b']);
  room = 1;
  await end('a1');
  t.same(started, ['a1', 'b', 'a2']);
  room = -1;
  await t.rejects(run('a3', 'a', free(9), { reserve }), { message: 'no units are left' });
  t.equal(admission.waiting, 0);
});

t.test('work of the gateway itself has places of its own, neither more nor fewer', async (t) => {
  const { admission, started, run } = admissionOf({ inFlight: 2, queue: 1 });
  const ends: (() => void)[] = [];
  const own = (): Promise<void> => admission.runOwn(() => new Promise((resolve) => ends.push(resolve)));
  for (let i = 0; i < 3; i++) void own();
  t.same(admission.own, { running: 2, waiting: 1 });
  await t.rejects(own(), OVERLOADED);
  run('a', 'a', free(2));
  t.same(started, ['a'], 'it takes no place from callers');
  ends[0]?.();
  await settle();
  t.same([ends.length, admission.own], [3, { running: 2, waiting: 0 }]);
});
