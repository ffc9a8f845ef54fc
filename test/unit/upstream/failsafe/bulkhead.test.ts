import fc from 'fast-check';
import t from 'tap';
import { Bulkhead, type BulkheadCall } from '../../../../src/upstream/failsafe/bulkhead.ts';

/** A call, and what became of it. */
interface Outcome {
  readonly call: BulkheadCall;
  state: 'waiting' | 'running' | 'ended' | 'refused';
  finish(): void;
  abort(): void;
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A bulkhead whose calls run until they are told to finish; `starts` has them in the order in which they started. */
class Rig {
  readonly calls: Outcome[] = [];
  readonly starts: Outcome[] = [];
  readonly #bulkhead: Bulkhead;

  constructor(capacity: number, maxQueued = 1000) {
    this.#bulkhead = new Bulkhead(capacity, maxQueued);
  }

  async add(call: BulkheadCall): Promise<Outcome> {
    const aborting = new AbortController();
    const outcome: Outcome = {
      call,
      state: 'waiting',
      finish: () => {},
      abort: () => aborting.abort(new Error('late')),
    };
    this.calls.push(outcome);
    this.#bulkhead
      .run(call, aborting.signal, () => {
        outcome.state = 'running';
        this.starts.push(outcome);
        return new Promise<void>((resolve) => {
          outcome.finish = resolve;
        });
      })
      .then(
        () => {
          outcome.state = 'ended';
        },
        () => {
          outcome.state = 'refused';
        },
      );
    await turn();
    return outcome;
  }

  all(state: Outcome['state'], test: (call: BulkheadCall) => boolean = () => true): Outcome[] {
    return this.calls.filter((outcome) => outcome.state === state && test(outcome.call));
  }

  /** Finishes one call after another until none runs. */
  async drain(): Promise<void> {
    for (let [next] = this.all('running'); next !== undefined; [next] = this.all('running')) {
      next.finish();
      await turn();
    }
  }
}

const isOwn = ({ caller }: BulkheadCall): boolean => caller === undefined;
const own = (isSlow = false): BulkheadCall => ({ caller: undefined, hasPriority: false, isSlow });
const of = (caller: string, more: Partial<BulkheadCall> = {}): BulkheadCall => ({
  caller,
  hasPriority: false,
  isSlow: false,
  ...more,
});

const call = fc.record({
  caller: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', undefined),
  hasPriority: fc.boolean(),
  isSlow: fc.boolean(),
});
const step = fc.oneof(
  { weight: 4, arbitrary: call.map((added) => ({ added })) },
  fc.nat(1000).map((finished) => ({ finished })),
  fc.nat(1000).map((aborted) => ({ aborted })),
);

t.test('no kind of call and no caller ever has more than its part, and the room that is kept is free', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 40 }), fc.array(step, { maxLength: 120 }), async (capacity, steps) => {
      const rig = new Rig(capacity, 40);
      const atMost = (divisor: number): number => Math.max(1, Math.floor(capacity / divisor));
      const reservedForOwn = Math.min(capacity - 1, Math.ceil(capacity / 8));
      for (const { added, finished, aborted } of steps as {
        added?: BulkheadCall;
        finished?: number;
        aborted?: number;
      }[]) {
        const isReserved =
          added !== undefined &&
          isOwn(added) &&
          !added.isSlow &&
          rig.all('running', (other) => isOwn(other) && !other.isSlow).length < reservedForOwn;
        if (added !== undefined) {
          const outcome = await rig.add(added);
          if (isReserved && outcome.state !== 'running') throw new Error('no room for the work of the gateway itself');
        }
        const [running, waiting] = [rig.all('running'), rig.all('waiting')];
        if (finished !== undefined) running[finished % running.length]?.finish();
        if (aborted !== undefined) waiting[aborted % waiting.length]?.abort();
        await turn();
        const counts = {
          all: rig.all('running').length <= capacity,
          slow: rig.all('running', ({ isSlow, caller }) => isSlow && caller !== undefined).length <= atMost(4),
          ownSlow: rig.all('running', ({ isSlow, caller }) => isSlow && caller === undefined).length <= atMost(4),
          queue: rig.all('waiting').length <= 40,
          callers: [...'abcdefg'].every((name) => {
            const running = rig.all('running', ({ caller }) => caller === name);
            const waiting = rig.all('waiting', ({ caller }) => caller === name);
            const slow = running.filter(({ call }) => call.isSlow);
            return running.length <= atMost(4) && slow.length <= atMost(8) && waiting.length <= 10;
          }),
        };
        const broken = Object.entries(counts).find(([, holds]) => !holds);
        if (broken !== undefined) throw new Error(`too many: ${broken[0]}`);
      }
      await rig.drain();
      return rig.all('waiting').length === 0; // none is forgotten
    }),
    { numRuns: 60 },
  );
});

t.test('none waits for ever: each kind of call starts, however many others keep coming', async (t) => {
  const kinds = [own(), own(true), of('a', { hasPriority: true }), of('a', { hasPriority: true, isSlow: true })];
  for (const capacity of [1, 4, 32]) {
    for (const last of [own(), own(true), of('z'), of('z', { isSlow: true })]) {
      const rig = new Rig(capacity);
      for (let i = 0; i < 2 * capacity; i++) for (const kind of kinds) await rig.add(kind);
      const waiting = await rig.add(last);
      let finished = 0;
      while (waiting.state === 'waiting') {
        const oldest = rig.all('running')[0];
        if (oldest === undefined || finished++ > 1000) break;
        oldest.finish();
        await rig.add(oldest.call); // the others never end
      }
      t.equal(waiting.state, 'running', `${JSON.stringify(last)} of ${capacity}, after ${finished}`);
    }
  }
});

t.test('turns go round the callers: one call does not wait for the fifty of another', async (t) => {
  const rig = new Rig(32);
  for (const caller of ['a', 'b', 'c', 'd']) for (let i = 0; i < 50; i++) await rig.add(of(caller));
  const only = await rig.add(of('z'));
  const before = rig.starts.length;
  while (only.state === 'waiting') {
    rig.all('running')[0]?.finish();
    await turn();
  }
  t.ok(rig.starts.length - before <= 5, `${rig.starts.length - before - 1} before it`);
});

t.test('priority goes ahead; slow calls take nothing from quick ones', async (t) => {
  const rig = new Rig(32);
  for (const caller of ['a', 'b', 'c', 'd', 'e'])
    for (let i = 0; i < 10; i++) await rig.add(of(caller, { isSlow: true }));
  t.equal(rig.all('running').length, 8);
  for (const caller of ['f', 'g', 'h', 'i']) for (let i = 0; i < 10; i++) await rig.add(of(caller));
  t.equal(rig.all('running', ({ isSlow }) => !isSlow).length, 18, 'all but what is reserved for the gateway itself');
  const behind = await rig.add(of('y'));
  const first = await rig.add(of('z', { hasPriority: true }));
  for (let i = 0; i < 2 && first.state === 'waiting'; i++) {
    rig.all('running', ({ isSlow }) => !isSlow)[0]?.finish();
    await turn();
  }
  t.match([first.state, behind.state], ['running', 'waiting']);
});

t.test(
  'the queue keeps room for the gateway itself and for priority, and one caller has a quarter of it',
  async (t) => {
    const rig = new Rig(1, 16);
    await rig.add(own());
    const refusedOf = async (calls: readonly BulkheadCall[]): Promise<number> => {
      const outcomes = [];
      for (const call of calls) outcomes.push(await rig.add(call));
      return outcomes.filter(({ state }) => state === 'refused').length;
    };
    const five = (caller: string, hasPriority = false) => Array.from({ length: 5 }, () => of(caller, { hasPriority }));
    t.equal(await refusedOf(five('a')), 1, 'a quarter for one caller');
    t.equal(await refusedOf([...five('b'), ...five('c')]), 6, 'half of it without priority');
    t.equal(await refusedOf([...five('d', true), ...five('e', true)]), 6, 'three quarters for callers');
    t.equal(await refusedOf(Array.from({ length: 5 }, () => own())), 1, 'the rest for the gateway itself');
  },
);
