import t, { type Test } from 'tap';
import type {
  CountAnswer,
  CounterConnection,
  CounterListener,
  CountReport,
} from '../../../src/gateway/access/quota/counter-store.ts';

/** A store under test, and the time that it goes by. */
export interface StoreWorld {
  /** The length of the windows that are tested, in milliseconds. */
  readonly windowMs: number;
  join(member: string, listener: CounterListener): CounterConnection | Promise<CounterConnection>;
  /** Lets that much time pass on the store's clock, and lets messages arrive. */
  pass(ms: number): void | Promise<void>;
  /** Makes the store forget everything. */
  forget(): void | Promise<void>;
  close(): void | Promise<void>;
}

const UNUSED: CounterListener = { onTotal: () => {}, onStale: () => {} };

/** The promises of a store of counters, as tests of `name`. Each opens a world of its own. */
export function testStore(name: string, open: () => StoreWorld | Promise<StoreWorld>): void {
  const inWorld = (title: string, run: (t: Test, world: StoreWorld) => Promise<void>): void => {
    t.test(`${name}: ${title}`, async (t) => {
      const world = await open();
      t.teardown(() => world.close());
      await run(t, world);
    });
  };

  inWorld('it adds up what members spend, and a repeated report adds nothing', async (t, world) => {
    const [a, b] = [await world.join('a', UNUSED), await world.join('b', UNUSED)];
    const first = await reportOne(a, reportOf(world, { spent: 10 }));
    t.match(first, { total: 10, counted: 10 });
    const other = await reportOne(b, reportOf(world, { spent: 5 }));
    t.match(other, { total: 15, counted: 5, window: first.window }, 'all are in one window');
    const again = reportOf(world, { window: first.window, total: 10, counted: 10, spent: 12 });
    t.match(await reportOne(a, again), { total: 17, counted: 12 });
    t.match(await reportOne(a, again), { total: 17, counted: 12 });
  });

  inWorld('a price is counted ahead whole or not at all', async (t, world) => {
    const [a, b] = [await world.join('a', UNUSED), await world.join('b', UNUSED)];
    t.match(await reportOne(a, reportOf(world, { spent: 1, prepay: 89 })), { total: 90, counted: 90 });
    t.match(await reportOne(b, reportOf(world, { prepay: 11 })), { total: 90, counted: 0 });
    t.match(await reportOne(b, reportOf(world, { prepay: 10 })), { total: 100, counted: 10 });
  });

  inWorld('a window ends as long after its first request as it is, and the next is empty', async (t, world) => {
    const a = await world.join('a', UNUSED);
    const ageMs = world.windowMs / 4;
    const first = await reportOne(a, reportOf(world, { spent: 60, ageMs }));
    t.ok(first.endsInMs > 0 && first.endsInMs <= world.windowMs - ageMs, 'the request came before the report');
    await world.pass(world.windowMs - ageMs + 1);
    const late = await reportOne(a, reportOf(world, { window: first.window, total: 60, counted: 60, spent: 70 }));
    t.match(late, { total: 0 }, 'what was spent in a window that is over is not counted');
    t.ok(late.window > first.window);
    t.match(await reportOne(a, reportOf(world, { spent: 5 })), { total: 5, counted: 5 }, 'nor is it in the next one');
  });

  inWorld('a debt is paid by the next window, at most one limit, and by no other', async (t, world) => {
    const [a, b] = [await world.join('a', UNUSED), await world.join('b', UNUSED)];
    const first = await reportOne(a, reportOf(world, { spent: 130 }));
    const most = await reportOne(a, reportOf(world, { id: 'x 100/10 kother', spent: 350 }));
    t.match([first.total, most.total], [130, 200]);
    await world.pass(world.windowMs * 1.25);
    const second = await reportOne(b, reportOf(world));
    t.equal(second.total, 30);
    t.ok(second.endsInMs <= world.windowMs * 0.75 + 1, 'it has followed the first immediately');
    await world.pass(world.windowMs);
    t.equal((await reportOne(b, reportOf(world))).total, 0);
  });

  inWorld('what a caller has spent by the highest limit that members see is no debt', async (t, world) => {
    const [a, b] = [await world.join('a', UNUSED), await world.join('b', UNUSED)];
    await reportOne(b, reportOf(world, { limit: 60 }));
    await reportOne(a, reportOf(world, { spent: 100 }));
    await world.pass(world.windowMs * 1.25);
    t.equal((await reportOne(b, reportOf(world, { limit: 60 }))).total, 0);
  });

  inWorld('a store that has lost its memory goes on from what members know', async (t, world) => {
    const [a, b] = [await world.join('a', UNUSED), await world.join('b', UNUSED)];
    const { window } = await reportOne(a, reportOf(world, { spent: 40 }));
    await reportOne(b, reportOf(world, { spent: 30, window }));
    await world.forget();
    await reportOne(a, reportOf(world, { spent: 41, counted: 40, total: 40, window }));
    const answer = await reportOne(b, reportOf(world, { spent: 30, counted: 30, total: 70, window }));
    t.match([answer.total >= 70, answer.total <= 71], [true, true]);
    t.ok(Math.abs(answer.window - window) <= 1, 'the window goes on');
  });

  inWorld('a store that has lost only the last reports counts none of them twice', async (t, world) => {
    const a = await world.join('a', UNUSED);
    const { window } = await reportOne(a, reportOf(world, { spent: 20 }));
    const known = reportOf(world, { spent: 42, counted: 40, total: 40, window });
    t.match(await reportOne(a, known), { total: 42, counted: 42 });
  });

  inWorld('members that see different limits of a caller have one total, and no lower one', async (t, world) => {
    const [a, b] = [await world.join('a', UNUSED), await world.join('b', UNUSED)];
    const { window } = await reportOne(a, reportOf(world, { spent: 90 }));
    const lower = reportOf(world, { limit: 40, spent: 5, window });
    t.match(await reportOne(b, lower), { total: 80 }, 'the most that its member may know of');
    const again = reportOf(world, { spent: 91, counted: 90, total: 90, window });
    t.match(await reportOne(a, again), { total: 91 });
  });

  inWorld('members are informed of each halving of what is left', async (t, world) => {
    const totals: number[] = [];
    const a = await world.join('a', UNUSED);
    const b = await world.join('b', { ...UNUSED, onTotal: ({ total }) => totals.push(total) });
    await reportOne(b, reportOf(world)); // it knows the caller
    let window = 0;
    for (const spent of [20, 50, 60, 75, 90, 100, 130])
      ({ window } = await reportOne(a, reportOf(world, { spent, window })));
    await world.pass(world.windowMs / 20);
    t.same(totals, [50, 75, 90, 100]);
  });

  inWorld('streams are added up, until they or their member end', async (t, world) => {
    let news = 0;
    const a = await world.join('a', { onTotal: () => news++, onStale: (id) => id !== undefined && news++ });
    const b = await world.join('b', UNUSED);
    const streams = (spent: number, counted = 0) => reportOf(world, { id: 'streams kx', windowMs: 0, spent, counted });
    t.match(await reportOne(a, streams(2)), { total: 2, counted: 2 });
    t.match(await reportOne(b, streams(3)), { total: 5, counted: 3 });
    await world.pass(world.windowMs / 20);
    t.ok(news > 0, 'the others are informed');
    t.match(await reportOne(a, streams(1, 2)), { total: 4 });
    b.leave();
    await world.pass(world.windowMs / 20);
    t.match(await reportOne(a, streams(1, 1)), { total: 1 });
    t.match(await reportOne(a, streams(0, 1)), { total: 0 });
  });
}

const reportOf = ({ windowMs }: StoreWorld, report: Partial<CountReport> = {}): CountReport => ({
  ...{ id: 'x 100/10 kcaller', limit: 100, windowMs, window: 0, ageMs: 0, total: 0, counted: 0, spent: 0, prepay: 0 },
  ...report,
});

async function reportOne(connection: CounterConnection, report: CountReport): Promise<CountAnswer> {
  const [answer] = await connection.report([report]);
  if (answer === undefined) throw new Error('the store has no room');
  return answer;
}
