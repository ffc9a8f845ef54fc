import t from 'tap';
import type { AccountSubscriber } from '../../../../src/domain/account-change.ts';
import { GatewayError } from '../../../../src/domain/gateway-error.ts';
import { RequestCost } from '../../../../src/domain/request-cost.ts';
import { AccountTopics } from '../../../../src/http/stream/account-topics.ts';
import { accountTopicOf } from '../../../../src/routes/stream-topics.ts';
import type { RouteReadThrough } from '../../../../src/routing/route-read-through.ts';
import type { Sealer } from '../../../../src/serving/sealer.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const TOPIC = accountTopicOf('balance', 'a', undefined);

/** Opens account topics over an account that a test changes by hand. */
function open() {
  const clock = new ManualClock();
  const subscribers = new Set<AccountSubscriber>();
  const callers: string[] = [];
  let [slot, result, isDown] = [1, '"one"', false];
  const readThrough = {
    fromCache: () => {
      if (isDown) throw new GatewayError('upstream_unavailable', 'nobody');
      return {
        entry: { slot, result, refusal: undefined, body: `{"result":${result},"slot":${slot}}` },
        cacheStatus: 'HIT',
      };
    },
  } as unknown as RouteReadThrough; // no other member is used here
  const sealer = { bodyOf: ({ body }: { body: string }) => body } as unknown as Sealer; // the same
  const liveAccounts = {
    read: () => Promise.reject(new Error('not read here')),
    readBalances: () => Promise.reject(new Error('not read here')),
    readLive: () => undefined,
    readLiveBalances: () => undefined,
    subscribe: (_address: string, _commitment: string, subscriber: AccountSubscriber, caller: string) => {
      subscribers.add(subscriber);
      callers.push(caller);
      return {
        addCaller: (added: string) => void callers.push(added),
        removeCaller: (removed: string) => void callers.splice(callers.indexOf(removed), 1),
        end: () => {
          subscribers.delete(subscriber);
          callers.splice(0);
        },
      };
    },
  };
  const change = async (newSlot: number, newResult: string, isReorg = false): Promise<void> => {
    [slot, result] = [newSlot, newResult];
    for (const subscriber of subscribers) subscriber.onChange({ slot, isReorg });
    await settle();
  };
  return {
    clock,
    subscribers,
    callers,
    change,
    down: (down: boolean) => {
      isDown = down;
    },
    topics: new AccountTopics({ clock, readThrough, sealer, liveAccounts }),
  };
}

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Creates a connection that can be made slow; its replies can be kept waiting. */
function openConnection(maxSubscriptions = 10, name = 'somebody') {
  const frames: any[] = [];
  const waiting: (() => void)[] = [];
  const connection = {
    isSlow: false,
    isWaiting: false,
    caller: {
      name,
      maxSubscriptions,
      admit: <T>(work: () => Promise<T>) => work(),
      newCost: () => new RequestCost(name, false),
    },
    reply(makeFrame: () => string | undefined, onSent?: () => void): void {
      const send = (): void => {
        const frame = makeFrame();
        if (frame === undefined) return;
        frames.push(JSON.parse(frame));
        onSent?.();
      };
      if (connection.isWaiting) waiting.push(send);
      else send();
    },
    sendWaiting(): void {
      for (const send of waiting.splice(0)) send();
    },
    push(frame: string): boolean {
      if (!connection.isSlow) frames.push(JSON.parse(frame));
      return !connection.isSlow;
    },
  };
  return { frames, connection };
}

t.test('each subscriber gets the first value and the changes, and nothing if the value is the same', async (t) => {
  const { topics, change } = open();
  const [one, two] = [openConnection(), openConnection()];
  await topics.subscribe(one.connection, TOPIC, 'x');
  await change(2, '"two"');
  await topics.subscribe(two.connection, TOPIC, null);
  await change(3, '"two"');
  await change(4, '"four"');
  t.match(one.frames, [
    { type: 'subscribed', id: 'x', topic: 'balance', address: 'a', seq: 0, answer: { result: 'one', slot: 1 } },
    { type: 'balance', id: 'x', address: 'a', seq: 1, answer: { result: 'two', slot: 2 } },
    { type: 'balance', id: 'x', address: 'a', seq: 2, answer: { result: 'four', slot: 4 } },
  ]);
  t.match(two.frames, [
    { type: 'subscribed', id: null, seq: 0, answer: { slot: 2 } },
    { seq: 1, answer: { slot: 4 } },
  ]);
  t.strictSame(Object.keys(one.frames[1]).at(-1), 'answer');
});

t.test('a reverted value is pushed again, marked as a reorg', async (t) => {
  const { topics, change } = open();
  const one = openConnection();
  await topics.subscribe(one.connection, TOPIC, null);
  await change(2, '"two"');
  await change(3, '"one"', true);
  t.match(one.frames[2], { seq: 2, reorg: true, answer: { result: 'one', slot: 3 } });
  t.strictSame(Object.keys(one.frames[2]).slice(-2), ['reorg', 'answer']);
  t.notOk('reorg' in one.frames[1]);
});

t.test('a slow consumer misses changes, sees so by seq, and gets the newest once it has caught up', async (t) => {
  const { topics, change } = open();
  const one = openConnection();
  await topics.subscribe(one.connection, TOPIC, null);
  one.connection.isSlow = true;
  for (const slot of [2, 3, 4]) await change(slot, `"${slot}"`);
  one.connection.isSlow = false;
  topics.sendUnsent(one.connection);
  topics.sendUnsent(one.connection);
  t.match(one.frames.slice(1), [{ seq: 3, answer: { result: '4' } }]);
  t.equal(one.frames.length, 2);
});

t.test('a slow consumer still gets every reply to its messages', async (t) => {
  const { topics, change } = open();
  const one = openConnection();
  one.connection.isSlow = true;
  await topics.subscribe(one.connection, TOPIC, 1);
  await change(2, '"two"');
  topics.unsubscribe(one.connection, TOPIC, 2);
  t.match(one.frames, [
    { type: 'subscribed', id: 1, answer: { slot: 1 } },
    { type: 'unsubscribed', id: 2 },
  ]);
  t.equal(one.frames.length, 2);
});

t.test('a first value that waits for room is the newest then, and nothing is pushed before it', async (t) => {
  const { topics, change } = open();
  const one = openConnection();
  one.connection.isWaiting = true;
  await topics.subscribe(one.connection, TOPIC, 1);
  await change(2, '"two"');
  t.equal(one.frames.length, 0);
  one.connection.sendWaiting();
  await change(3, '"three"');
  t.match(one.frames, [
    { type: 'subscribed', seq: 0, answer: { slot: 2, result: 'two' } },
    { type: 'balance', seq: 1, answer: { slot: 3 } },
  ]);
  const two = openConnection();
  two.connection.isWaiting = true;
  await topics.subscribe(two.connection, TOPIC, 1);
  topics.unsubscribe(two.connection, TOPIC, 2);
  two.connection.sendWaiting();
  t.match(two.frames, [{ type: 'unsubscribed', id: 2 }]);
  t.equal(two.frames.length, 1, 'no first value after the end');
});

t.test('an id ends all subscriptions that have it, and no others', async (t) => {
  const { topics, subscribers } = open();
  const [one, two] = [openConnection(), openConnection()];
  const [b, c] = ['b', 'c'].map((address) => accountTopicOf('balance', address, undefined));
  if (b === undefined || c === undefined) throw new Error('no topics');
  await topics.subscribe(one.connection, TOPIC, 7, true);
  await topics.subscribe(one.connection, b, 7, true);
  await topics.subscribe(one.connection, c, '7');
  await topics.subscribe(two.connection, TOPIC, 7);
  topics.unsubscribeId(one.connection, 7);
  t.strictSame(one.frames.slice(3), [
    { type: 'unsubscribed', id: 7, topic: 'balance', address: 'a' },
    { type: 'unsubscribed', id: 7, topic: 'balance', address: 'b' },
  ]);
  t.equal(topics.findFault(one.connection, TOPIC), undefined, 'it may subscribe again');
  t.match(topics.findFault(two.connection, TOPIC), { code: 'invalid_request' }, 'another one still is');
  t.throws(() => topics.unsubscribeId(one.connection, 7), { code: 'invalid_request' });
  for (const subscriber of subscribers) subscriber.onEnd(new GatewayError('result_too_large', 'too large'));
  t.notOk('address' in one.frames.at(-1), 'one address alone needs no name');
});

t.test('the end of one address of a batch names it', async (t) => {
  const { topics, subscribers } = open();
  const one = openConnection();
  await topics.subscribe(one.connection, TOPIC, 7, true);
  for (const subscriber of subscribers) subscriber.onEnd(new GatewayError('result_too_large', 'too large'));
  t.strictSame(one.frames.slice(1), [
    { type: 'error', id: 7, address: 'a', error: 'result_too_large', message: 'too large' },
  ]);
});

t.test("a topic that can't be kept live ends with an error frame, and can be subscribed to again", async (t) => {
  const { topics, subscribers, change } = open();
  const [one, two] = [openConnection(1), openConnection()];
  await topics.subscribe(one.connection, TOPIC, 'x');
  await topics.subscribe(two.connection, TOPIC, 7);
  for (const subscriber of subscribers) subscriber.onEnd(new GatewayError('result_too_large', 'too large'));
  t.match([subscribers.size, topics.topicCount], [0, 0]);
  t.strictSame(one.frames.slice(1), [{ type: 'error', id: 'x', error: 'result_too_large', message: 'too large' }]);
  t.strictSame(two.frames.slice(1), [{ type: 'error', id: 7, error: 'result_too_large', message: 'too large' }]);
  await topics.subscribe(one.connection, TOPIC, 'y');
  await change(2, '"two"');
  t.match(one.frames.slice(2), [
    { type: 'subscribed', id: 'y' },
    { seq: 1, answer: { slot: 2 } },
  ]);
});

t.test('an account has one subscription for all connections, until ten seconds after the last of them', async (t) => {
  const { topics, subscribers, clock } = open();
  const [one, two] = [openConnection(), openConnection()];
  await topics.subscribe(one.connection, TOPIC, null);
  await topics.subscribe(two.connection, TOPIC, null);
  t.equal(subscribers.size, 1);
  topics.unsubscribe(one.connection, TOPIC, 7);
  t.match(one.frames.at(-1), { type: 'unsubscribed', id: 7, topic: 'balance', address: 'a' });
  topics.removeConnection(two.connection);
  clock.advance(9_999);
  t.equal(subscribers.size, 1);
  await topics.subscribe(one.connection, TOPIC, null);
  clock.advance(60_000);
  t.equal(subscribers.size, 1, 'a connection that comes back in time keeps it');
  topics.removeConnection(one.connection);
  clock.advance(10_000);
  t.match([subscribers.size, topics.topicCount], [0, 0]);
});

t.test('a place counts for each caller that subscribes, and in the grace period for the last one', async (t) => {
  const { clock, callers, topics } = open();
  const [one, two] = [openConnection(10, 'one'), openConnection(10, 'two')];
  await topics.subscribe(one.connection, TOPIC, null);
  await topics.subscribe(two.connection, TOPIC, null);
  t.same(callers, ['one', 'two']);
  topics.unsubscribe(one.connection, TOPIC, null);
  t.same(callers, ['two']);
  topics.unsubscribe(two.connection, TOPIC, null);
  t.same(callers, ['two']);
  await topics.subscribe(one.connection, TOPIC, null);
  t.same(callers, ['one']);
  topics.removeConnection(one.connection);
  clock.advance(10_000);
  t.same(callers, []);
});

t.test('a connection has a maximum of subscriptions, and one per topic', async (t) => {
  const { topics } = open();
  const { connection } = openConnection(1);
  await topics.subscribe(connection, TOPIC, null);
  await t.rejects(topics.subscribe(connection, TOPIC, null), { code: 'invalid_request' });
  await t.rejects(topics.subscribe(connection, accountTopicOf('account', 'a', undefined), null), {
    code: 'rate_limited',
  });
});

t.test(
  'a change that can not be read yet is pushed later; a first value that can not be read ends the subscription',
  async (t) => {
    const { topics, change, down, clock, subscribers } = open();
    const one = openConnection();
    await topics.subscribe(one.connection, TOPIC, null);
    down(true);
    await change(2, '"two"');
    t.equal(one.frames.length, 1);
    await t.rejects(topics.subscribe(openConnection().connection, TOPIC, null), { code: 'upstream_unavailable' });
    down(false);
    clock.advance(400);
    await settle();
    t.match(one.frames[1], { seq: 1, answer: { result: 'two' } });
    t.equal(subscribers.size, 1);
  },
);
