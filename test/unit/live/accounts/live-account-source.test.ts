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

/** A subscriber that ignores all changes. */
const nobody: AccountSubscriber = { onChange: () => {}, onEnd: () => {} };

/** Subscribes to `a` from slot 100 on; returns the session that is opened for it. */
async function untilSubscribed(
  harness: AccountHarness,
  commitment: Commitment,
  subscriber = nobody,
): Promise<ManualSession> {
  harness.tips.observe('finalized', 100);
  harness.subscriptions.push(harness.source.subscribe('a', commitment, subscriber, 'me'));
  await flushEvents();
  return sessionOf(harness);
}

/** Subscribes to `a` and syncs it up to its second read: at slot 100 it has 1 lamport. */
async function untilSecondRead(harness: AccountHarness): Promise<ManualSession> {
  const session = await untilSubscribed(harness, 'confirmed');
  session.handlers.get('a')?.onAcknowledged();
  await flushEvents();
  session.pendingCalls.shift()?.answer(100, accountText(1));
  await flushEvents();
  session.clockUpdate(101);
  await flushEvents();
  return session;
}

async function untilLive(harness: AccountHarness): Promise<ManualSession> {
  const session = await untilSecondRead(harness);
  session.pendingCalls.shift()?.answer(101, accountText(1));
  await flushEvents();
  return session;
}

function sessionOf({ sessions }: AccountHarness): ManualSession {
  const session = sessions.at(-1);
  if (session === undefined) throw new Error('no session was opened');
  return session;
}

/** Returns `[slot, lamports]` of the state that is kept live; undefined when the read goes to the upstream. */
async function fromState(harness: AccountHarness): Promise<[number, number] | undefined> {
  const read = harness.source.read(query);
  await flushEvents();
  harness.upstream.pendingCalls.shift()?.fail(new GatewayError('upstream_unavailable', 'not now'));
  return read.then(
    ({ slot, account }) => [slot, account === null ? 0 : JSON.parse(account.toString()).lamports],
    () => undefined,
  );
}

t.test(
  'I3: an account is kept live after acknowledgement, read, Clock update and a second read at its slot or later',
  async (t) => {
    const harness = openAccountHarness();
    const session = await untilSubscribed(harness, 'confirmed');
    t.equal(session.pendingCalls.length, 0, 'nothing is read before the acknowledgement');
    session.handlers.get('a')?.onAcknowledged();
    await flushEvents();
    t.match(session.pendingCalls[0], { addresses: ['a'], minContextSlot: undefined });
    session.clockUpdate(100);
    session.pendingCalls.shift()?.answer(100, accountText(1));
    await flushEvents();
    session.clockUpdate(100);
    await flushEvents();
    t.equal(session.pendingCalls.length, 0, 'a Clock update that is not newer than the read does not count');
    session.clockUpdate(101);
    await flushEvents();
    t.match(session.pendingCalls[0], { minContextSlot: 101 });
    t.equal(await fromState(harness), undefined, 'not live yet');
    session.pendingCalls.shift()?.answer(102, accountText(2));
    await flushEvents();
    t.strictSame(await fromState(harness), [102, 2]);
  },
);

t.test('I3: in a pool the Clock update must be newer than the read by the largest lag between nodes', async (t) => {
  const harness = openAccountHarness();
  const session = await untilSubscribed(harness, 'confirmed');
  session.isPooled = true;
  session.handlers.get('a')?.onAcknowledged();
  await flushEvents();
  session.pendingCalls.shift()?.answer(100, accountText(1));
  await flushEvents();
  session.clockUpdate(108);
  await flushEvents();
  t.equal(session.pendingCalls.length, 0);
  session.clockUpdate(109);
  await flushEvents();
  t.match(session.pendingCalls[0], { minContextSlot: 109 });
});

t.test('I3: a second read that fails, or is too old, is repeated at the next Clock update', async (t) => {
  const harness = openAccountHarness();
  const session = await untilSecondRead(harness);
  session.pendingCalls.shift()?.fail(new GatewayError('upstream_timeout', 'late'));
  await flushEvents();
  session.clockUpdate(102);
  await flushEvents();
  session.pendingCalls.shift()?.answer(100, accountText(1));
  await flushEvents();
  t.equal(await fromState(harness), undefined);
  session.clockUpdate(103);
  await flushEvents();
  session.pendingCalls.shift()?.answer(103, accountText(1));
  await flushEvents();
  t.strictSame(await fromState(harness), [103, 1]);
});

t.test('I2: a live account is dated at the Clock update before the last', async (t) => {
  const harness = openAccountHarness();
  const session = await untilLive(harness);
  t.strictSame(await fromState(harness), [101, 1]);
  session.clockUpdate(102);
  t.strictSame(await fromState(harness), [101, 1]);
  session.clockUpdate(105);
  t.strictSame(await fromState(harness), [102, 1]);
});

t.test('I4: a newer notification replaces state and slot; any other is ignored', async (t) => {
  const harness = openAccountHarness();
  const session = await untilLive(harness);
  session.notify('a', 100, accountText(9));
  session.notify('a', 101, accountText(9));
  t.strictSame(await fromState(harness), [101, 1]);
  session.notify('a', 103, accountText(3));
  t.strictSame(await fromState(harness), [103, 3]);
});

t.test('I6: the leases of a lost session end; the account is kept live over another session', async (t) => {
  const harness = openAccountHarness();
  const session = await untilLive(harness);
  session.clockUpdate(102);
  session.clockUpdate(103);
  const { lease } = await harness.source.read(query);
  t.match([lease?.state, lease?.slot], ['active', 102]);
  session.close();
  t.match([lease?.state, lease?.slot], ['lost', 102]);
  t.equal(await fromState(harness), undefined);
  await flushEvents();
  t.equal(harness.sessions.length, 2);
  t.ok(sessionOf(harness).handlers.has('a'));
});

t.test('a session that lags answers no read, and is closed when it lags too far', async (t) => {
  const harness = openAccountHarness();
  const session = await untilLive(harness);
  session.clockUpdate(102);
  session.clockUpdate(103);
  const { lease } = await harness.source.read(query);
  harness.tips.observe('confirmed', 110);
  t.equal(lease?.state, 'active');
  harness.tips.observe('confirmed', 111);
  t.match([lease?.state, lease?.lagSlots], ['behind', 9]);
  t.equal(await fromState(harness), undefined, 'other nodes are asked');
  harness.tips.observe('confirmed', 123);
  t.ok(session.isLost);
});

t.test('I6: a revoked lease stops advancing, and is invalidated with its session', async (t) => {
  const harness = openAccountHarness();
  const session = await untilLive(harness);
  session.clockUpdate(102);
  const { lease } = await harness.source.read(query);
  const validatedMs = harness.clock.monotonic();
  session.notify('a', 103, accountText(2));
  for (const slot of [103, 104, 105]) {
    harness.clock.advance(400);
    session.clockUpdate(slot);
  }
  t.match(lease, { state: 'revoked', slot: 101, validatedMs });
  session.notify('a', 103, accountText(7)); // not newer
  session.notify('a', 104, accountText(7)); // covered by the lease
  t.equal(harness.source.stats.leaseViolations, 1);
  t.equal(lease?.validatedMs, Number.NEGATIVE_INFINITY);
});

t.test(
  'I9: an audit that finds another state at a slot that the lease covers drops it, and next time the session',
  async (t) => {
    const harness = openAccountHarness();
    const session = await untilLive(harness);
    for (const slot of [102, 103, 104]) session.clockUpdate(slot);
    const { lease } = await harness.source.read(query);
    const audit = harness.source.audit();
    await flushEvents();
    session.pendingCalls.shift()?.answer(103, accountText(2));
    await audit;
    t.match([harness.source.stats.leaseViolations, harness.problems.length > 0, session.isLost], [1, true, false]);
    t.equal(lease?.validatedMs, Number.NEGATIVE_INFINITY, 'nor is it served as stale');
    t.equal(await fromState(harness), undefined);
    await flushEvents();
    session.acknowledgeAll();
    await flushEvents();
    session.pendingCalls.shift()?.answer(104, accountText(2));
    await flushEvents();
    session.clockUpdate(105);
    await flushEvents();
    session.pendingCalls.shift()?.answer(105, accountText(2));
    await flushEvents();
    t.strictSame(await fromState(harness), [105, 2], 'it is live again, over the same session');
    const again = harness.source.audit();
    await flushEvents();
    session.pendingCalls.shift()?.answer(105, accountText(3));
    await again;
    t.match([harness.source.stats.leaseViolations, session.isLost], [2, true]);
  },
);

t.test('I9: a mismatch beyond the lease waits for a notification, and is a violation if none comes', async (t) => {
  for (const comes of [true, false]) {
    const harness = openAccountHarness();
    const session = await untilLive(harness);
    session.clockUpdate(102);
    const audit = harness.source.audit();
    await flushEvents();
    session.pendingCalls.shift()?.answer(103, accountText(2));
    await audit;
    t.equal(harness.source.stats.leaseViolations, 0);
    if (comes) session.notify('a', 103, accountText(2));
    session.clockUpdate(103);
    session.clockUpdate(104);
    t.equal(
      harness.source.stats.leaseViolations,
      comes ? 0 : 1,
      comes ? 'a notification came' : 'no notification came',
    );
  }
});

t.test('I9: a notification for a slot that the lease covers is a violation', async (t) => {
  const harness = openAccountHarness();
  const session = await untilLive(harness);
  for (const slot of [102, 103, 104]) session.clockUpdate(slot);
  session.notify('a', 103, accountText(7));
  t.match([harness.source.stats.leaseViolations, session.isLost], [1, true]);
});

t.test('I9: all leased accounts are read again at intervals, and compared by meaning', async (t) => {
  const harness = openAccountHarness();
  const session = await untilLive(harness);
  harness.clock.advance(30_000);
  await flushEvents();
  session.pendingCalls.shift()?.answer(101, '{ "data": ["", "base64"], "lamports": 1 }');
  await flushEvents();
  t.match([harness.source.stats.audited, harness.source.stats.leaseViolations], [1, 0]);
  harness.clock.advance(30_000);
  await flushEvents();
  t.equal(session.pendingCalls.length, 1);
});

t.test('I11: an account without lamports is absent', async (t) => {
  const harness = openAccountHarness();
  const session = await untilLive(harness);
  session.notify('a', 103, accountText(0));
  const { slot, account: json, lease } = await harness.source.read(query);
  t.strictSame([slot, json], [103, null]);
  t.equal(lease?.state, 'active');
});

t.test('I14: parsed JSON that depends on the Clock has no lease', async (t) => {
  const harness = openAccountHarness();
  const session = await untilLive(harness);
  const data = '{"program":"spl-token-2022","parsed":{"type":"account","info":{}},"space":165}';
  session.notify('a', 103, `{"lamports":5,"data":${data}}`);
  const parsed = queryOf('a', 'confirmed', 'parsed');
  const now = await harness.source.read(parsed);
  t.match([now.slot, now.lease], [103, undefined], 'it holds at its own slot');
  session.clockUpdate(103);
  session.clockUpdate(104);
  session.clockUpdate(105);
  const later = harness.source.read(parsed);
  await flushEvents();
  t.equal(harness.upstream.pendingCalls.length, 1, 'it is read again');
  harness.upstream.pendingCalls.shift()?.answer(105, `{"lamports":5,"data":${data}}`);
  t.match(await later, { slot: 105, lease: undefined });
  t.match(await harness.source.read(query), { slot: 104, lease: { state: 'active' } }, 'the balance has a lease');
});

t.test('an account that is read once is not kept live; one that is read often is, until nobody reads it', async (t) => {
  const harness = openAccountHarness();
  const read = () => harness.source.read(query).catch(() => {});
  harness.tips.observe('processed', 10);
  void read();
  void read();
  t.equal(harness.source.stats.size, 0);
  harness.tips.observe('processed', 11);
  void read();
  t.equal(harness.source.stats.size, 1);
  await flushEvents();
  for (let slot = 12; slot < 120; slot++) harness.tips.observe('processed', slot);
  t.equal(harness.source.stats.size, 0);
  t.strictSame(sessionOf(harness).unsubscribed, ['a']);
});

t.test('the number of live accounts is bounded, and a place goes with its last subscriber', async (t) => {
  const harness = openAccountHarness({ accounts: 2 });
  harness.tips.observe('processed', 10);
  const subscribe = (address: string) => harness.source.subscribe(address, 'confirmed', nobody, 'me');
  const subscription = subscribe('a');
  subscribe('b');
  t.throws(() => subscribe('c'), { code: 'overloaded' });
  subscription.end();
  t.equal(harness.source.stats.size, 1, 'its place goes with the subscriber');
  subscribe('c');
  t.equal(harness.source.stats.size, 2);
});

t.test('an account that is read, too, stays when its subscriber leaves', async (t) => {
  for (const isRead of [true, false]) {
    const harness = openAccountHarness();
    const session = await untilLive(harness);
    const { lease } = await harness.source.read(query);
    for (const slot of [101, 102, 103]) {
      session.notify('a', slot + 1, accountText(slot));
      harness.tips.observe('finalized', slot);
      await harness.source.read(query); // as for a push after each change
      if (isRead) lease?.recordRead(slot); // as the cache does when it answers
    }
    harness.subscriptions[0]?.end();
    t.equal(harness.source.stats.size, isRead ? 1 : 0);
  }
});

t.test('a subscription beyond the share of its caller ends when another needs the place', async (t) => {
  const harness = openAccountHarness({ accounts: 4, callerShare: 0.25 });
  const ended: unknown[] = [];
  for (const address of ['a', 'b', 'c'])
    harness.source.subscribe(
      address,
      'confirmed',
      { ...nobody, onEnd: (reason) => ended.push([address, reason]) },
      'me',
    );
  harness.source.subscribe('d', 'confirmed', nobody, 'other');
  t.match(ended, [['a', { code: 'overloaded' }]]);
  t.throws(() => harness.source.subscribe('a', 'confirmed', nobody, 'me'), { code: 'overloaded' });
});

t.test('an account that is too large, or that a node rejects, is read from the upstream', async (t) => {
  const harness = openAccountHarness({ maxAccountBytes: 40 });
  const session = await untilLive(harness);
  session.notify('a', 102, `{"lamports":5,"data":["${'A'.repeat(100)}","base64"]}`);
  t.equal(await fromState(harness), undefined);
  t.strictSame(session.unsubscribed, ['a']);
  harness.source.subscribe('b', 'confirmed', nobody, 'me');
  session.refuse('b');
  t.strictSame(session.unsubscribed, ['a', 'b']);
});

const UNDECODABLE = ['-1', '"5"', 'null', '1.5', '1e3', '[1]', '99999999999999999999999'].map(
  (lamports) => `{"lamports":${lamports},"data":["","base64"]}`,
);
UNDECODABLE.push('5', '"account"', '[]', '{}');

/** Syncs `a`, whose first or second read gives something else than an account. */
async function withUndecodableRead(harness: AccountHarness, number: 1 | 2, account: string, ended: string[]) {
  const onEnd = ({ code }: GatewayError) => ended.push(code);
  const session = await untilSubscribed(harness, 'confirmed', { ...nobody, onEnd });
  session.handlers.get('a')?.onAcknowledged();
  await flushEvents();
  if (number === 2) {
    session.pendingCalls.shift()?.answer(100, accountText(1));
    await flushEvents();
    session.clockUpdate(101);
    await flushEvents();
  }
  session.pendingCalls.shift()?.answer(101, account);
  await flushEvents();
  return session;
}

t.test('an account whose read can not be decoded is read from the upstream, and not again at each slot', async (t) => {
  for (const account of UNDECODABLE) {
    for (const number of [1, 2] as const) {
      const harness = openAccountHarness();
      const ended: string[] = [];
      const session = await withUndecodableRead(harness, number, account, ended);
      t.strictSame(ended, ['upstream_error'], `${account} in read ${number}`);
      t.equal(await fromState(harness), undefined);
      t.strictSame(session.unsubscribed, ['a']);
      for (let slot = 102; slot < 110; slot++) session.clockUpdate(slot);
      await flushEvents();
      t.equal(session.pendingCalls.length, 0);
      harness.source.subscribe('b', 'confirmed', nobody, 'me');
      session.acknowledgeAll();
      await flushEvents();
      t.match(session.pendingCalls, [{ addresses: ['b'] }], 'others are still made live');
    }
  }
});

t.test('a notification that can not be decoded ends one account, and not its session', async (t) => {
  for (const account of UNDECODABLE) {
    const harness = openAccountHarness();
    const session = await untilLive(harness);
    session.notify('a', 102, account);
    t.equal(await fromState(harness), undefined, account);
    t.strictSame(session.unsubscribed, ['a']);
    t.notOk(session.isLost);
  }
});

t.test('an audit that can not be decoded says nothing, and ends nothing', async (t) => {
  for (const account of UNDECODABLE) {
    const harness = openAccountHarness();
    const session = await untilLive(harness);
    const audit = harness.source.audit();
    await flushEvents();
    session.pendingCalls.shift()?.answer(101, account);
    await audit;
    session.clockUpdate(105);
    session.clockUpdate(106);
    t.strictSame(await fromState(harness), [105, 1], account);
    t.strictSame(harness.problems, []);
  }
});

t.test('a subscriber to an ineligible account receives the reason, and it is retried later', async (t) => {
  const harness = openAccountHarness({ maxAccountBytes: 40 });
  const ends: string[] = [];
  const session = await untilLive(harness);
  const follow = (address: string) =>
    harness.source.subscribe(
      address,
      'confirmed',
      { ...nobody, onEnd: ({ code }) => ends.push(`${address} ${code}`) },
      'me',
    );
  const subscription = follow('a');
  follow('b');
  session.notify('a', 102, `{"lamports":5,"data":["${'A'.repeat(100)}","base64"]}`);
  session.refuse('b');
  t.strictSame(ends, ['a result_too_large', 'b upstream_error']);
  subscription.end();
  t.throws(() => follow('a'), { code: 'result_too_large' });
  t.throws(() => follow('b'), { code: 'upstream_error' });
  for (let slot = 102; slot < 220; slot++) harness.tips.observe('processed', slot);
  t.equal(harness.source.stats.size, 0);
  follow('a');
  t.ok(session.handlers.has('a'));
});

t.test(
  'I5: at processed a state of a fork that the node has left is rolled back by the first message that shows it',
  async (t) => {
    for (const isClockUpdateFirst of [true, false]) {
      const harness = openAccountHarness();
      const changes: object[] = [];
      const session = await untilSubscribed(harness, 'processed', { ...nobody, onChange: (one) => changes.push(one) });
      for (const [slot, parent] of [
        [101, 100],
        [102, 100], // no slot is built on it yet
        [103, 101],
        [104, 102],
      ] as const)
        session.ancestry.record(slot, parent);
      session.handlers.get('a')?.onAcknowledged();
      session.notify('a', 101, accountText(7));
      session.clockUpdate(103);
      t.strictSame(changes, [{ slot: 101, isReorg: false }], 'this one is built on it');
      if (isClockUpdateFirst) session.clockUpdate(104);
      session.notify('a', 104, accountText(1));
      session.clockUpdate(104);
      t.strictSame(changes.slice(1), [
        { slot: 104, isReorg: true },
        { slot: 104, isReorg: false },
      ]);
    }
  },
);

t.test('at processed a rollback is reported as such, and the next read goes to the upstream', async (t) => {
  const harness = openAccountHarness();
  const changes: object[] = [];
  const session = await untilSubscribed(harness, 'processed', { ...nobody, onChange: (one) => changes.push(one) });
  session.handlers.get('a')?.onAcknowledged();
  session.notify('a', 101, accountText(1));
  session.notify('a', 100, accountText(0));
  t.strictSame(changes, [
    { slot: 101, isReorg: false },
    { slot: 102, isReorg: true },
  ]);
  const read = harness.source.read(queryOf('a', 'processed', 'lamports'));
  await flushEvents();
  t.equal(harness.upstream.pendingCalls.length, 1, 'the rolled-back state is not served');
  harness.upstream.pendingCalls.shift()?.answer(102, accountText(0));
  t.match(await read, { slot: 102 });
});
