import fc from 'fast-check';
import t from 'tap';
import { LeastRead } from '../../../src/live/least-read.ts';
import { Places } from '../../../src/live/places.ts';
import { ReadHeat } from '../../../src/live/read-heat.ts';

const HALF_LIFE = 10;
const IDLE_SLOTS = 2 * HALF_LIFE;

/** A value that has a place, or had one. */
interface Value {
  readonly key: string;
  readonly heat: ReadHeat;
}

/** Opens places, and records which values lose theirs. */
function open({ maxSize = 8, callerShare = 0.25 } = {}) {
  const state = { tip: 100 };
  const evicted: Value[] = [];
  const places = new Places<Value>({
    maxSize,
    callerShare,
    tip: () => state.tip,
    heatOf: ({ heat }) => heat,
    isIdle: ({ heat }) => state.tip - (heat.tipAtLastRead ?? Number.NEGATIVE_INFINITY) > IDLE_SLOTS,
    staysUntilIdle: () => false,
    onEvict: (_, value) => evicted.push(value),
  });
  const heats = new Map<string, ReadHeat>();
  const heatOf = (key: string): ReadHeat => {
    const heat = heats.get(key) ?? new ReadHeat(HALF_LIFE);
    heats.set(key, heat);
    return heat;
  };
  /** Reads a key at the tip, as often as is told with a slot in between; it gets a place if it may. */
  const read = (key: string, caller: string | undefined, times = 1): Value | undefined => {
    for (let i = 0; i < times; i++) {
      if (i > 0) state.tip++;
      heatOf(key).record(state.tip);
    }
    return places.get(key) ?? places.addRead(key, caller, heatOf(key), () => ({ key, heat: heatOf(key) }));
  };
  const subscribe = (key: string, caller: string): Value | undefined =>
    places.subscribe(key, caller, () => ({ key, heat: heatOf(key) }));
  /** Returns the keys that have lost their places since the last call. */
  const taken = (): readonly string[] => evicted.splice(0).map(({ key }) => key);
  return { state, places, heatOf, read, subscribe, taken };
}

t.test('heat counts slots with a read, and half of it is left after a half-life', async (t) => {
  const heat = new ReadHeat(HALF_LIFE);
  t.equal(heat.at(300_000_000), 0);
  for (const tip of [300_000_000, 300_000_000, 300_000_000]) heat.record(tip);
  t.ok(Math.abs(heat.at(300_000_000) - 1) < 1e-6, 'three reads in one slot are one');
  t.ok(Math.abs(heat.at(300_000_010) - 0.5) < 1e-6);
  heat.record(300_000_010);
  t.ok(Math.abs(heat.at(300_000_010) - 1.5) < 1e-6);
});

t.test('the least read is found whatever is read, added and deleted meanwhile', async () => {
  const step = fc.oneof(
    fc.record({ do: fc.constant('add' as const), key: fc.nat(300) }),
    fc.record({ do: fc.constant('delete' as const), key: fc.nat(300) }),
    fc.record({ do: fc.constant('read' as const), key: fc.nat(300) }),
    fc.record({ do: fc.constant('find' as const), key: fc.constant(0) }),
  );
  fc.assert(
    fc.property(fc.array(step, { minLength: 200, maxLength: 600 }), (steps) => {
      const [set, members] = [new LeastRead<{ heat: ReadHeat }>(), new Map<number, { heat: ReadHeat }>()];
      let tip = 1;
      for (const { do: what, key } of steps) {
        tip++;
        if (what === 'add' && !members.has(key)) {
          const member = { heat: new ReadHeat(HALF_LIFE) };
          member.heat.record(tip);
          members.set(key, member);
          set.add(member);
        } else if (what === 'read') members.get(key)?.heat.record(tip);
        else if (what === 'delete') {
          const member = members.get(key);
          if (member !== undefined) set.delete(member);
          members.delete(key);
        } else if (what === 'find') {
          const least = Math.min(...[...members.values()].map(({ heat }) => heat.rank));
          if ((set.find()?.heat.rank ?? Number.POSITIVE_INFINITY) !== least) return false;
        }
      }
      return true;
    }),
    { numRuns: 100 },
  );
});

t.test(
  'what is read twice by strangers displaces nothing that is read steadily; who reads more takes the least read',
  async (t) => {
    const { read, taken, state, places } = open({ maxSize: 4, callerShare: 0.5 });
    for (let i = 0; i < 4; i++) read(`old ${i}`, `caller ${i}`, 3 + i);
    for (let i = 0; i < 20; i++) t.equal(read(`once ${i}`, `stranger ${i}`), undefined);
    for (const key of ['old 1', 'old 2', 'old 3']) read(key, undefined);
    t.equal(read('two', 'somebody', 2)?.key, undefined);
    t.equal(read('more', 'somebody', 5)?.key, 'more');
    t.same(taken(), ['old 0']);
    state.tip += 3 * IDLE_SLOTS;
    t.equal(read('new', 'somebody else')?.key, 'new', 'what nobody reads any more goes first');
    t.equal(places.size, 1, 'all of it, as few are examined at once');
  },
);

t.test('who holds more than a share gives up the least read to whoever reads steadily', async (t) => {
  const { read, taken, state } = open({ maxSize: 8, callerShare: 0.25 });
  for (let slot = 0; slot < 6; slot++, state.tip++)
    for (let i = 0; i < 8; i++) if (i < 7 || slot < 5) read(`large ${i}`, 'large');
  for (let i = 0; i < 3; i++) t.equal(read(`passing ${i}`, `stranger ${i}`, 2), undefined);
  t.equal(read('steady', 'small', 3)?.key, 'steady');
  t.same(taken(), ['large 7']);
  t.equal(read('large 7', 'large', 1), undefined, 'it gets none beyond its share that others read more');
});

t.test('a subscriber takes the least read place, but leaves a quarter of all to readers', async (t) => {
  const { read, subscribe, taken, places } = open({ maxSize: 8, callerShare: 0.25 });
  for (let i = 0; i < 8; i++) read(`read ${i}`, `caller ${i}`, 2 + i);
  for (let i = 0; i < 6; i++) t.ok(subscribe(`subscribed ${i}`, `subscriber ${i % 3}`));
  t.same(
    taken(),
    [0, 1, 2, 3, 4, 5].map((i) => `read ${i}`),
  );
  t.equal(subscribe('one more', 'another subscriber'), undefined, 'nobody has more than a share');
  t.same([places.size, places.subscribed], [8, 6]);
  t.ok(subscribe('subscribed 0', 'another subscriber'), 'a place that is there already is free');
});

t.test(
  'who subscribes to more than a share loses the oldest of these to another, and never one within it',
  async (t) => {
    const { subscribe, taken, places } = open({ maxSize: 8, callerShare: 0.25 });
    for (let i = 0; i < 6; i++) t.ok(subscribe(`${i}`, 'large'), 'while there is room');
    t.equal(subscribe('6', 'large'), undefined);
    places.subscribe('0', 'small', () => t.fail() as never);
    t.ok(subscribe('a', 'small'));
    t.same(taken(), ['1'], 'the first one is shared with a caller who is within its share');
    for (const key of ['b', 'c', 'd', 'e']) subscribe(key, `other ${key}`);
    t.same(taken(), ['2', '3', '4'], 'two are left to each');
    places.unsubscribe('a', 'small');
    places.unsubscribe('a', 'small');
    t.equal(places.get('a'), undefined);
  },
);

/** Who holds a place: subscribers, each with a number of subscriptions, or the caller who reads it. */
interface Holders {
  readonly subscriptions: Map<string, number>;
  reader: string | undefined;
}

/** The law of the places, told by looking at all of them. */
class PlacesModel {
  readonly places = new Map<string, Holders>();
  readonly #maxSize: number;
  readonly #share: number;
  readonly #heatOf: (key: string) => ReadHeat;

  constructor(maxSize: number, callerShare: number, heatOf: (key: string) => ReadHeat) {
    this.#maxSize = maxSize;
    this.#share = Math.max(1, Math.floor(maxSize * callerShare));
    this.#heatOf = heatOf;
  }

  /** Returns the keys of which one gives its place to a key that is read; none if it needs none, undefined if none does. */
  displacedByRead(caller: string, heat: ReadHeat, tip: number): readonly string[] | undefined {
    if (this.places.size < this.#maxSize) return [];
    const isWithinShare = this.#placesOf(caller) < this.#share;
    const beyond = this.#onlyRead(
      (reader) => this.#placesOf(reader) > this.#share || (!isWithinShare && reader === caller),
    );
    const least = this.#leastOf(beyond.length === 0 && isWithinShare ? this.#onlyRead() : beyond);
    const [first] = least;
    if (first === undefined) return undefined;
    const margin = this.#heatOf(first).at(tip) + 1;
    return heat.at(tip) > (isWithinShare && beyond.length > 0 ? Math.min(2, margin) : margin) ? least : undefined;
  }

  /** Returns the same for a key that is subscribed to. */
  displacedBySubscription(key: string, caller: string): readonly string[] | undefined {
    if ((this.places.get(key)?.subscriptions.size ?? 0) > 0) return [];
    const isWithinShare = this.#subscriptionsOf(caller) < this.#share;
    const subscribed = [...this.places].filter(([, { subscriptions }]) => subscriptions.size > 0);
    if (subscribed.length >= Math.ceil(this.#maxSize * 0.75)) {
      const beyond = subscribed.filter(([, { subscriptions }]) =>
        [...subscriptions.keys()].every((name) => this.#subscriptionsOf(name) > this.#share),
      );
      return isWithinShare && beyond.length > 0 ? beyond.map(([name]) => name) : undefined;
    }
    if (this.places.size < this.#maxSize || this.places.has(key)) return [];
    if (!isWithinShare) return undefined;
    const beyond = this.#onlyRead((reader) => this.#placesOf(reader) > this.#share);
    return this.#leastOf(beyond.length > 0 ? beyond : this.#onlyRead());
  }

  #onlyRead(isReader: (caller: string) => boolean = () => true): readonly string[] {
    return [...this.places].flatMap(([key, { subscriptions, reader = '' }]) =>
      subscriptions.size === 0 && isReader(reader) ? [key] : [],
    );
  }

  #leastOf(keys: readonly string[]): readonly string[] {
    const least = Math.min(...keys.map((key) => this.#heatOf(key).rank));
    return keys.filter((key) => this.#heatOf(key).rank === least);
  }

  #subscriptionsOf(caller: string): number {
    return [...this.places.values()].filter(({ subscriptions }) => subscriptions.has(caller)).length;
  }

  #placesOf(caller: string): number {
    return [...this.places.values()].filter((place) => place.reader === caller).length + this.#subscriptionsOf(caller);
  }
}

/** A step of a random schedule over a few callers and keys. */
interface Step {
  readonly kind: 'read' | 'subscribe' | 'unsubscribe' | 'evictIdle';
  readonly key: string;
  readonly caller: string;
  readonly slots: number;
}

const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom<Step['kind']>('read', 'read', 'read', 'subscribe', 'subscribe', 'unsubscribe', 'evictIdle'),
  key: fc.nat(24).map((number) => `key ${number}`),
  caller: fc.nat(5).map((number) => `caller ${number}`),
  slots: fc.nat(4),
});

/** Takes one step in places and model, and returns what is wrong then. */
function findFault(world: ReturnType<typeof open>, model: PlacesModel, { kind, key, caller, slots }: Step) {
  const { state, places, heatOf, read, subscribe, taken } = world;
  state.tip += slots;
  if (kind === 'read') read(key, caller);
  else if (kind === 'subscribe') subscribe(key, caller);
  else if (kind === 'unsubscribe') places.unsubscribe(key, caller);
  else places.evictIdle(model.places.size);

  const isIdle = (name: string): boolean =>
    model.places.get(name)?.subscriptions.size === 0 &&
    state.tip - (heatOf(name).tipAtLastRead ?? Number.NEGATIVE_INFINITY) > IDLE_SLOTS;
  const gone = taken();
  const displaced = gone.filter((name) => !isIdle(name));
  for (const name of gone) if (isIdle(name)) model.places.delete(name);
  const known = model.places.get(key);
  let allowed: readonly string[] | undefined = [];
  if (kind === 'read' && known === undefined) allowed = model.displacedByRead(caller, heatOf(key), state.tip);
  else if (kind === 'subscribe') allowed = model.displacedBySubscription(key, caller);
  else if (kind === 'unsubscribe') {
    const left = (known?.subscriptions.get(caller) ?? 0) - 1;
    if (left > 0) known?.subscriptions.set(caller, left);
    else if (left === 0) {
      known?.subscriptions.delete(caller);
      if (known?.subscriptions.size === 0) {
        known.reader = caller;
        if (heatOf(key).at(state.tip) <= 1) allowed = [key];
      }
    }
  }
  if (displaced.length !== Math.min(1, allowed?.length ?? 0)) return `${displaced} went, not one of ${allowed}`;
  if (displaced.some((name) => allowed?.includes(name) !== true)) return `${displaced} went instead of ${allowed}`;
  for (const name of displaced) model.places.delete(name);
  if (allowed !== undefined && (kind === 'read' || kind === 'subscribe')) {
    const holders = known ?? { subscriptions: new Map(), reader: caller };
    if (kind === 'subscribe') {
      holders.reader = undefined;
      holders.subscriptions.set(caller, (holders.subscriptions.get(caller) ?? 0) + 1);
    }
    model.places.set(key, holders);
  }
  if (kind === 'evictIdle' && [...model.places.keys()].some(isIdle)) return 'an idle one has stayed';
  const hasSame = [...model.places.keys()].every((name) => places.get(name) !== undefined);
  return hasSame && places.size === model.places.size ? undefined : `the places of ${[...model.places.keys()]} differ`;
}

t.test('in any order of reads and subscriptions places go to whom the law gives them', async () => {
  fc.assert(
    fc.property(
      fc.array(step, { minLength: 50, maxLength: 400 }),
      fc.integer({ min: 1, max: 12 }),
      fc.constantFrom(0.1, 0.25, 0.5, 1),
      (steps, maxSize, callerShare) => {
        const world = open({ maxSize, callerShare });
        const model = new PlacesModel(maxSize, callerShare, world.heatOf);
        for (const one of steps) {
          const fault = findFault(world, model, one);
          if (fault !== undefined) throw new Error(fault);
          if (world.places.size > maxSize) throw new Error('there are too many');
        }
      },
    ),
    { numRuns: 100 },
  );
});
