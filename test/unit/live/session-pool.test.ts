import t from 'tap';
import { SessionPool, type SessionPoolOptions } from '../../../src/live/session-pool.ts';
import type { PubsubSession } from '../../../src/upstream/pubsub/pubsub-session.ts';
import { ManualClock } from '../../support/manual-clock.ts';

interface Item {
  readonly subscriptionCount: number;
  readonly rank?: number;
}

class Session {
  readonly items = new Set<Item>();
  room: number;
  isOpen = true;
  mayGrow = false;
  #syncing: number | undefined;

  constructor(room: number) {
    this.room = room;
  }

  get capacity(): number {
    return this.room - this.items.size;
  }

  get maxSubscriptions(): number {
    return this.room;
  }

  get syncing(): number {
    return this.#syncing ?? this.items.size;
  }

  set syncing(count: number) {
    this.#syncing = count;
  }

  get size(): number {
    return this.items.size;
  }

  add(item: Item): void {
    this.items.add(item);
  }

  remove(item: Item): void {
    this.items.delete(item);
  }
}

/** Opens a pool whose sessions have room for so many items; `opened` has all that were ever opened. */
function open(room: number, maxSubscriptions = 1000, options: Partial<SessionPoolOptions<Item, Session>> = {}) {
  const clock = new ManualClock();
  const opened: Session[] = [];
  const pool = new SessionPool<Item, Session>({
    clock,
    maxSubscriptions,
    openPubsub: async () => {
      const session = new Session(room);
      opened.push(session);
      const pubsub: Partial<PubsubSession> = {
        close: () => {
          session.isOpen = false;
        },
      };
      return pubsub as PubsubSession;
    },
    createSession: () => opened.at(-1) ?? new Session(room),
    rankOf: () => 0,
    ...options,
  });
  const add = async (count: number): Promise<Item[]> => {
    const items = Array.from({ length: count }, () => ({ subscriptionCount: 1 }));
    for (const item of items) pool.add(item);
    for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
    return items;
  };
  return { pool, clock, opened, add, sizes: () => [...pool.sessions].map(({ size }) => size) };
}

t.test('a session that stays empty is closed; one that is used again is not', async (t) => {
  const { pool, clock, opened, add, sizes } = open(2);
  const items = await add(4);
  t.same(sizes(), [2, 2]);
  for (const item of items) pool.remove(item);
  clock.advance(29_000);
  await add(1);
  clock.advance(31_000);
  t.same(sizes(), [1]);
  t.same(
    opened.map(({ isOpen }) => isOpen),
    [true, false],
  );
  await add(2);
  t.same(sizes(), [2, 1], 'another is opened when it is needed');
});

t.test('items go to the fullest session that has room, so that others become empty', async (t) => {
  const { pool, add, sizes } = open(3);
  const [first, second] = await add(6);
  for (const item of [first, second]) if (item !== undefined) pool.remove(item);
  await add(1);
  t.same(sizes(), [2, 3]);
  const third = [...([...pool.sessions][1] as Session).items][0];
  if (third !== undefined) pool.remove(third);
  await add(1);
  t.same(sizes().toSorted(), [2, 3]);
});

t.test('the number of sessions is bounded; what finds no room waits until others leave', async (t) => {
  const { pool, opened, add, sizes } = open(2, 4);
  const items = await add(10);
  t.same(sizes(), [2, 2, 2], 'those that hold what is needed, and one more');
  for (const item of items.slice(0, 3)) pool.remove(item);
  t.same(sizes(), [2, 2, 2]);
  t.equal(opened.length, 3);
});

t.test('no session is opened after another that can make no subscription', async (t) => {
  const { opened, add } = open(0);
  await add(3);
  t.equal(opened.length, 1);
});

t.test(
  'items that are read most come first, so many at a time, and no session is opened while one may take more',
  async (t) => {
    const { pool, opened, add, sizes } = open(2, 1000, { maxSyncing: 3, rankOf: ({ rank = 0 }) => rank });
    const items = Array.from({ length: 6 }, (_, i) => ({ subscriptionCount: 1, rank: i }));
    await add(1);
    const [first] = opened;
    if (first === undefined) throw new Error('no session');
    first.mayGrow = true;
    pool.dropSession(new Session(0), items);
    await add(0);
    t.same(sizes(), [2], 'the others wait until the node has answered');
    t.match([...first.items], [{}, { rank: 5 }]);
    first.room = 4;
    pool.assignWaiting();
    t.match([...first.items], [{}, { rank: 5 }, { rank: 4 }], 'three are synced at a time');
    first.syncing = 0;
    pool.assignWaiting();
    first.mayGrow = false;
    await add(0);
    pool.assignWaiting();
    await add(0);
    t.equal(opened.length, 3, 'for what it has no room for');
  },
);
