import t from 'tap';
import type { AccountSubscriber } from '../../../../src/domain/account-change.ts';
import type { Commitment } from '../../../../src/domain/commitment.ts';
import { GatewayError } from '../../../../src/domain/gateway-error.ts';
import {
  type AccountHarness,
  accountText,
  flushEvents,
  type ManualSession,
  openAccountHarness,
} from '../manual-session.ts';

const queryOf = (address: string, commitment: Commitment, shape: 'lamports' | 'parsed', minContextSlot?: number) => ({
  address,
  commitment,
  shape,
  minContextSlot,
});
const query = queryOf('a', 'confirmed', 'lamports');

/** Has an account watched, and listens to nothing. */
const nobody: AccountSubscriber = { onChange: () => {}, onEnd: () => {} };

/** Follows `a` from slot 100 on; gives the line that is opened for it. */
async function untilFollowed(world: AccountHarness, commitment: Commitment, follower = nobody): Promise<ManualSession> {
  world.tips.observe('finalized', 100);
  world.source.subscribe('a', commitment, follower);
  await flushEvents();
  return lineOf(world);
}

/** Follows `a`, and brings it to where its second reading is wanted: at 100 it had 1 lamport. */
async function untilSecondRead(world: AccountHarness): Promise<ManualSession> {
  const line = await untilFollowed(world, 'confirmed');
  line.handlers.get('a')?.onAcknowledged();
  await flushEvents();
  line.pendingCalls.shift()?.answer(100, accountText(1));
  await flushEvents();
  line.clockUpdate(101);
  await flushEvents();
  return line;
}

async function untilLive(world: AccountHarness): Promise<ManualSession> {
  const line = await untilSecondRead(world);
  line.pendingCalls.shift()?.answer(101, accountText(1));
  await flushEvents();
  return line;
}

function lineOf({ sessions }: AccountHarness): ManualSession {
  const line = sessions.at(-1);
  if (line === undefined) throw new Error('no line was opened');
  return line;
}

/** What is kept, without asking anybody: `[slot, lamports]`. */
async function kept(world: AccountHarness): Promise<[number, number] | undefined> {
  const reading = world.source.read(query);
  await flushEvents();
  world.upstream.pendingCalls.shift()?.fail(new GatewayError('upstream_unavailable', 'not now'));
  return reading.then(
    ({ slot, account }) => [slot, account === null ? 0 : JSON.parse(account.toString()).lamports],
    () => undefined,
  );
}

t.test('I3: an account is live after acknowledgement, reading, beacon and a second reading from it on', async (t) => {
  const world = openAccountHarness();
  const line = await untilFollowed(world, 'confirmed');
  t.equal(line.pendingCalls.length, 0, 'nothing is read before the acknowledgement');
  line.handlers.get('a')?.onAcknowledged();
  await flushEvents();
  t.match(line.pendingCalls[0], { addresses: ['a'], minContextSlot: undefined });
  line.clockUpdate(100);
  line.pendingCalls.shift()?.answer(100, accountText(1));
  await flushEvents();
  line.clockUpdate(100);
  await flushEvents();
  t.equal(line.pendingCalls.length, 0, 'a beacon that is not behind the reading is none');
  line.clockUpdate(101);
  await flushEvents();
  t.match(line.pendingCalls[0], { minContextSlot: 101 });
  t.equal(await kept(world), undefined, 'not live yet');
  line.pendingCalls.shift()?.answer(102, accountText(2));
  await flushEvents();
  t.strictSame(await kept(world), [102, 2]);
});

t.test(
  'I3: where another node may have read, the beacon is behind the reading by as much as nodes are apart',
  async (t) => {
    const world = openAccountHarness();
    const line = await untilFollowed(world, 'confirmed');
    line.isPooled = true;
    line.handlers.get('a')?.onAcknowledged();
    await flushEvents();
    line.pendingCalls.shift()?.answer(100, accountText(1));
    await flushEvents();
    line.clockUpdate(108);
    await flushEvents();
    t.equal(line.pendingCalls.length, 0);
    line.clockUpdate(109);
    await flushEvents();
    t.match(line.pendingCalls[0], { minContextSlot: 109 });
  },
);

t.test('I3: a second reading that fails, or is too old, is made again at the next beacon', async (t) => {
  const world = openAccountHarness();
  const line = await untilSecondRead(world);
  line.pendingCalls.shift()?.fail(new GatewayError('upstream_timeout', 'late'));
  await flushEvents();
  line.clockUpdate(102);
  await flushEvents();
  line.pendingCalls.shift()?.answer(100, accountText(1));
  await flushEvents();
  t.equal(await kept(world), undefined);
  line.clockUpdate(103);
  await flushEvents();
  line.pendingCalls.shift()?.answer(103, accountText(1));
  await flushEvents();
  t.strictSame(await kept(world), [103, 1]);
});

t.test('I2: a live account claims what the beacon before the last has passed', async (t) => {
  const world = openAccountHarness();
  const line = await untilLive(world);
  t.strictSame(await kept(world), [101, 1]);
  line.clockUpdate(102);
  t.strictSame(await kept(world), [101, 1]);
  line.clockUpdate(105);
  t.strictSame(await kept(world), [102, 1]);
});

t.test('I4: what is newer replaces state and slot, what is not is left alone', async (t) => {
  const world = openAccountHarness();
  const line = await untilLive(world);
  line.notify('a', 100, accountText(9));
  line.notify('a', 101, accountText(9));
  t.strictSame(await kept(world), [101, 1]);
  line.notify('a', 103, accountText(3));
  t.strictSame(await kept(world), [103, 3]);
});

t.test('I6: a lost line proves nothing more; the account is live again over another one', async (t) => {
  const world = openAccountHarness();
  const line = await untilLive(world);
  line.clockUpdate(102);
  line.clockUpdate(103);
  const { lease } = await world.source.read(query);
  t.match([lease?.state, lease?.slot], ['active', 102]);
  line.close();
  t.match([lease?.state, lease?.slot], ['lost', 102]);
  t.equal(await kept(world), undefined);
  await flushEvents();
  t.equal(world.sessions.length, 2);
  t.ok(lineOf(world).handlers.has('a'));
});

t.test('a line that falls behind the cluster vouches for nothing, and is given up when it stays there', async (t) => {
  const world = openAccountHarness();
  const line = await untilLive(world);
  line.clockUpdate(102);
  line.clockUpdate(103);
  const { lease } = await world.source.read(query);
  world.tips.observe('confirmed', 110);
  t.equal(lease?.state, 'active');
  world.tips.observe('confirmed', 111);
  t.match([lease?.state, lease?.lagSlots], ['behind', 9]);
  t.equal(await kept(world), undefined, 'others are asked');
  world.tips.observe('confirmed', 123);
  t.ok(line.isLost);
});

t.test(
  'I6: the proof of a state that was superseded stands still, and is taken back with its connection',
  async (t) => {
    const world = openAccountHarness();
    const line = await untilLive(world);
    line.clockUpdate(102);
    const { lease } = await world.source.read(query);
    const validatedMs = world.clock.monotonic();
    line.notify('a', 103, accountText(2));
    for (const slot of [103, 104, 105]) {
      world.clock.advance(400);
      line.clockUpdate(slot);
    }
    t.match(lease, { state: 'revoked', slot: 101, validatedMs });
    line.notify('a', 103, accountText(7)); // known already
    line.notify('a', 104, accountText(7)); // claimed already
    t.equal(world.source.stats.leaseViolations, 1);
    t.equal(lease?.validatedMs, Number.NEGATIVE_INFINITY);
  },
);

t.test('I9: an audit that finds another state below the claim drops all that came over the line', async (t) => {
  const world = openAccountHarness();
  const line = await untilLive(world);
  for (const slot of [102, 103, 104]) line.clockUpdate(slot);
  const { lease } = await world.source.read(query);
  const audit = world.source.audit();
  await flushEvents();
  line.pendingCalls.shift()?.answer(103, accountText(2));
  await audit;
  t.match([world.source.stats.leaseViolations, world.problems.length > 0, line.isLost], [1, true, true]);
  t.equal(lease?.validatedMs, Number.NEGATIVE_INFINITY, 'nor is it served as stale');
  t.equal(await kept(world), undefined);
});

t.test('I9: an audit that is ahead of the claim waits for the news, and alarms when none comes', async (t) => {
  for (const comes of [true, false]) {
    const world = openAccountHarness();
    const line = await untilLive(world);
    line.clockUpdate(102);
    const audit = world.source.audit();
    await flushEvents();
    line.pendingCalls.shift()?.answer(103, accountText(2));
    await audit;
    t.equal(world.source.stats.leaseViolations, 0);
    if (comes) line.notify('a', 103, accountText(2));
    line.clockUpdate(103);
    line.clockUpdate(104);
    t.equal(world.source.stats.leaseViolations, comes ? 0 : 1, comes ? 'news came' : 'no news came');
  }
});

t.test('I9: news of a slot that was claimed without it is a false claim', async (t) => {
  const world = openAccountHarness();
  const line = await untilLive(world);
  for (const slot of [102, 103, 104]) line.clockUpdate(slot);
  line.notify('a', 103, accountText(7));
  t.match([world.source.stats.leaseViolations, line.isLost], [1, true]);
});

t.test('I9: every so often all that is live is read again, and what means the same is the same', async (t) => {
  const world = openAccountHarness();
  const line = await untilLive(world);
  world.clock.advance(30_000);
  await flushEvents();
  line.pendingCalls.shift()?.answer(101, '{ "data": ["", "base64"], "lamports": 1 }');
  await flushEvents();
  t.match([world.source.stats.audited, world.source.stats.leaseViolations], [1, 0]);
  world.clock.advance(30_000);
  await flushEvents();
  t.equal(line.pendingCalls.length, 1);
});

t.test('I11: an emptied account is an absent one', async (t) => {
  const world = openAccountHarness();
  const line = await untilLive(world);
  line.notify('a', 103, accountText(0));
  const { slot, account: json, lease } = await world.source.read(query);
  t.strictSame([slot, json], [103, null]);
  t.equal(lease?.state, 'active');
});

t.test('I14: a text that follows the Clock is not carried on', async (t) => {
  const world = openAccountHarness();
  const line = await untilLive(world);
  const data = '{"program":"spl-token-2022","parsed":{"type":"account","info":{}},"space":165}';
  line.notify('a', 103, `{"lamports":5,"data":${data}}`);
  const parsed = queryOf('a', 'confirmed', 'parsed');
  const now = await world.source.read(parsed);
  t.match([now.slot, now.lease], [103, undefined], 'it holds at its own slot');
  line.clockUpdate(103);
  line.clockUpdate(104);
  line.clockUpdate(105);
  const later = world.source.read(parsed);
  await flushEvents();
  t.equal(world.upstream.pendingCalls.length, 1, 'it is read again');
  world.upstream.pendingCalls.shift()?.answer(105, `{"lamports":5,"data":${data}}`);
  t.match(await later, { slot: 105, lease: undefined });
  t.match(await world.source.read(query), { slot: 104, lease: { state: 'active' } }, 'the balance is carried on');
});

t.test('what is read once is not watched; what is read again and again is, until nobody reads it', async (t) => {
  const world = openAccountHarness();
  const read = () => world.source.read(query).catch(() => {});
  world.tips.observe('processed', 10);
  void read();
  void read();
  t.equal(world.source.stats.size, 0);
  world.tips.observe('processed', 11);
  void read();
  t.equal(world.source.stats.size, 1);
  await flushEvents();
  for (let slot = 12; slot < 120; slot++) world.tips.observe('processed', slot);
  t.equal(world.source.stats.size, 0);
  t.strictSame(lineOf(world).unsubscribed, ['a']);
});

t.test('no more accounts are watched than are allowed, and the idle make room', async (t) => {
  const world = openAccountHarness({ accounts: 2 });
  world.tips.observe('processed', 10);
  const stop = world.source.subscribe('a', 'confirmed', nobody);
  world.source.subscribe('b', 'confirmed', nobody);
  t.throws(() => world.source.subscribe('c', 'confirmed', nobody), { code: 'overloaded' });
  stop();
  for (let slot = 11; slot < 120; slot++) world.tips.observe('processed', slot);
  world.source.subscribe('c', 'confirmed', nobody);
  t.equal(world.source.stats.size, 2);
});

t.test('an account that is too large to be kept, or that a node refuses, is read from the upstream', async (t) => {
  const world = openAccountHarness({ maxAccountBytes: 40 });
  const line = await untilLive(world);
  line.notify('a', 102, `{"lamports":5,"data":["${'A'.repeat(100)}","base64"]}`);
  t.equal(await kept(world), undefined);
  t.strictSame(line.unsubscribed, ['a']);
  world.source.subscribe('b', 'confirmed', nobody);
  line.refuse('b');
  t.strictSame(line.unsubscribed, ['a', 'b']);
});

t.test('who follows an account that can not be kept hears why, and it is tried again later', async (t) => {
  const world = openAccountHarness({ maxAccountBytes: 40 });
  const ends: string[] = [];
  const line = await untilLive(world);
  const follow = (address: string) =>
    world.source.subscribe(address, 'confirmed', { ...nobody, onEnd: ({ code }) => ends.push(`${address} ${code}`) });
  const stop = follow('a');
  follow('b');
  line.notify('a', 102, `{"lamports":5,"data":["${'A'.repeat(100)}","base64"]}`);
  line.refuse('b');
  t.strictSame(ends, ['a result_too_large', 'b upstream_error']);
  stop();
  t.throws(() => follow('a'), { code: 'result_too_large' });
  t.throws(() => follow('b'), { code: 'upstream_error' });
  for (let slot = 102; slot < 220; slot++) world.tips.observe('processed', slot);
  t.equal(world.source.stats.size, 0);
  follow('a');
  t.ok(line.handlers.has('a'));
});

t.test('I5: at processed a value of a fork that the node has left is taken back, by what shows it first', async (t) => {
  for (const isBeaconFirst of [true, false]) {
    const world = openAccountHarness();
    const news: object[] = [];
    const line = await untilFollowed(world, 'processed', { ...nobody, onChange: (one) => news.push(one) });
    for (const [slot, parent] of [
      [101, 100],
      [102, 100], // nobody works on it yet
      [103, 101],
      [104, 102],
    ] as const)
      line.ancestry.record(slot, parent);
    line.handlers.get('a')?.onAcknowledged();
    line.notify('a', 101, accountText(7));
    line.clockUpdate(103);
    t.strictSame(news, [{ slot: 101, isReorg: false }], 'this one is built on it');
    if (isBeaconFirst) line.clockUpdate(104);
    line.notify('a', 104, accountText(1));
    line.clockUpdate(104);
    t.strictSame(news.slice(1), [
      { slot: 104, isReorg: true },
      { slot: 104, isReorg: false },
    ]);
  }
});

t.test('at processed a value that is taken back is told as such, and a newer one is asked for', async (t) => {
  const world = openAccountHarness();
  const news: object[] = [];
  const line = await untilFollowed(world, 'processed', { ...nobody, onChange: (one) => news.push(one) });
  line.handlers.get('a')?.onAcknowledged();
  line.notify('a', 101, accountText(1));
  line.notify('a', 100, accountText(0));
  t.strictSame(news, [
    { slot: 101, isReorg: false },
    { slot: 102, isReorg: true },
  ]);
  const reading = world.source.read(queryOf('a', 'processed', 'lamports'));
  await flushEvents();
  t.equal(world.upstream.pendingCalls.length, 1, 'what was taken back is not given');
  world.upstream.pendingCalls.shift()?.answer(102, accountText(0));
  t.match(await reading, { slot: 102 });
});
