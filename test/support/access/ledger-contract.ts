import t, { type Test } from 'tap';
import type { QuotaAsk, QuotaLedger, QuotaState } from '../../../src/access/quota/quota-ledger.ts';

/** A ledger under test, and the time that it goes by. */
export interface LedgerWorld {
  /** The length of the windows that are tested, in milliseconds. */
  readonly windowMs: number;
  join(member: string): QuotaLedger | Promise<QuotaLedger>;
  /** Lets that much time pass on the ledger's clock, and lets what was told arrive. */
  pass(ms: number): void | Promise<void>;
  /** Makes the ledger forget everything. */
  forget(): void | Promise<void>;
  close(): void | Promise<void>;
}

/** The promises of a quota ledger, as tests of `name`. Each opens a world of its own. */
export function testLedger(name: string, open: () => LedgerWorld | Promise<LedgerWorld>): void {
  const inWorld = (title: string, run: (t: Test, world: LedgerWorld) => Promise<void>): void => {
    t.test(`${name}: ${title}`, async (t) => {
      const world = await open();
      t.teardown(() => world.close());
      await run(t, world);
    });
  };

  inWorld('shares stay within the limit, and nobody is promised the last unit twice', async (t, world) => {
    const members = await Promise.all(['a', 'b', 'c'].map((member) => world.join(member)));
    const shares = members.map(() => 0);
    const sums: number[] = [];
    for (let i = 0; i < 90; i++) {
      const member = (i * 7 + (i % 11)) % members.length;
      const used = shares[member] ?? 0; // all of it
      const { share } = await settleOne(members[member], askOf(world, { used, want: used + 40 }));
      shares[member] = share;
      sums.push(shares.reduce((sum, each) => sum + each));
    }
    t.equal(Math.max(...sums), 100);
  });

  inWorld('a repeated ask changes nothing', async (t, world) => {
    const [one, two] = [await world.join('a'), await world.join('b')];
    const first = await settleOne(one, askOf(world, { used: 3, want: 13 }));
    const ask = askOf(world, { used: 3, want: 13, window: first.window });
    const again = [await settleOne(one, ask), await settleOne(one, ask), await settleOne(one, ask)];
    t.same(
      again.map(({ share, left, window }) => [share, left, window]),
      again.map(() => [first.share, first.left, first.window]),
    );
    const other = await settleOne(two, askOf(world));
    t.equal(other.left, 100 - first.share, 'its first share is all that is gone');
    t.equal(other.window, first.window, 'all are in one window');
    t.equal(other.reset, first.reset);
  });

  inWorld('what a request needs is granted whole, or refused on what is left in all', async (t, world) => {
    const [one, two] = [await world.join('a'), await world.join('b')];
    const large = await settleOne(one, askOf(world, { need: 90 }));
    t.equal(large.share, 90, 'more than would be granted ahead');
    const refused = await settleOne(two, askOf(world, { need: 20, window: large.window }));
    t.equal(refused.share, 0);
    t.equal(refused.left, 10);
    t.equal((await settleOne(two, askOf(world, { need: 10, window: large.window }))).share, 10);
  });

  inWorld('what is given back is free for others', async (t, world) => {
    const [one, two] = [await world.join('a'), await world.join('b')];
    const { window } = await settleOne(one, askOf(world, { need: 100 }));
    t.equal((await settleOne(two, askOf(world, { need: 50, window }))).share, 0);
    t.equal((await settleOne(one, askOf(world, { used: 10, window }))).share, 10);
    t.equal((await settleOne(two, askOf(world, { need: 50, window }))).share, 50);
  });

  inWorld('a window ends as long after its first request as it is, and the next is empty', async (t, world) => {
    const one = await world.join('a');
    const ageMs = world.windowMs / 4;
    const first = await settleOne(one, askOf(world, { used: 60, ageMs }));
    t.ok(first.endsInMs > 0 && first.endsInMs <= world.windowMs - ageMs, 'the request came before the ask');
    await world.pass(world.windowMs - ageMs + 1);
    const late = await settleOne(one, askOf(world, { used: 60, window: first.window }));
    t.ok(late.isOver, 'what was used in a window that is over');
    t.ok(late.window > first.window);
    t.ok(late.reset >= first.reset);
    t.equal(late.share + late.left, 100);
  });

  inWorld('what was charged beyond the limit is paid by the next window, and by no other', async (t, world) => {
    const [one, two] = [await world.join('a'), await world.join('b')];
    const first = await settleOne(one, askOf(world, { used: 130 }));
    t.equal(first.share, 130, 'it was answered');
    t.equal(first.left, -30);
    await world.pass(world.windowMs + world.windowMs / 4);
    const second = await settleOne(two, askOf(world));
    t.equal(second.left, 70);
    t.ok(second.endsInMs <= world.windowMs * 0.75 + 1, 'it has followed the first at once');
    await world.pass(world.windowMs);
    t.equal((await settleOne(two, askOf(world))).left, 100);
  });

  inWorld('a debt is at most one limit', async (t, world) => {
    const one = await world.join('a');
    await settleOne(one, askOf(world, { used: 350 }));
    await world.pass(world.windowMs + 1);
    const next = await settleOne(one, askOf(world, { need: 1 }));
    t.equal(next.left, 0);
    t.equal(next.share, 0);
  });

  inWorld('a ledger that forgot is told again', async (t, world) => {
    const [one, two] = [await world.join('a'), await world.join('b')];
    const first = await settleOne(one, askOf(world, { used: 40 }));
    await settleOne(two, askOf(world, { used: 30, window: first.window }));
    await world.forget();
    await settleOne(one, askOf(world, { used: 40, window: first.window }));
    const told = await settleOne(two, askOf(world, { used: 30, window: first.window }));
    t.equal(told.left, 30);
    t.ok(Math.abs(told.window - first.window) <= 1, 'the window goes on');
  });

  inWorld('members hear of each halving, of 0, of a debt and of what is free again', async (t, world) => {
    const [one, two] = [await world.join('a'), await world.join('b')];
    const heard: number[] = [];
    const stop = two.onLeft(({ left }: QuotaState) => heard.push(left));
    let window = 0;
    for (const used of [20, 50, 60, 75, 100, 110, 115, 130, 90])
      ({ window } = await settleOne(one, askOf(world, { used, window })));
    await world.pass(world.windowMs / 20);
    t.same(heard, [50, 25, 0, -10, -30, 10]);
    stop();
    await settleOne(one, askOf(world, { used: 100, window }));
    await world.pass(world.windowMs / 20);
    t.equal(heard.length, 6, 'nothing is heard after the end');
  });

  inWorld('identities, and lengths of windows, are apart', async (t, world) => {
    const one = await world.join('a');
    const asks = [
      askOf(world, { used: 100 }),
      askOf(world, { id: 'y', limit: 5, windowMs: 2 * world.windowMs, need: 5 }),
    ];
    const shares = await one.settle(asks);
    t.same(
      shares.map(({ id, share, left, limit }) => ({ id, share, left, limit })),
      [
        { id: 'x', share: 100, left: 0, limit: 100 },
        { id: 'y', share: 5, left: 0, limit: 5 },
      ],
    );
  });
}

const askOf = ({ windowMs }: LedgerWorld, ask: Partial<QuotaAsk> = {}): QuotaAsk => {
  const used = ask.used ?? 0;
  return { id: 'x', limit: 100, windowMs, window: 0, ageMs: 0, want: used, need: used, ...ask, used };
};

async function settleOne(ledger: QuotaLedger | undefined, ask: QuotaAsk) {
  const [share] = (await ledger?.settle([ask])) ?? [];
  if (share === undefined) throw new Error('the ledger gave no answer');
  return share;
}
