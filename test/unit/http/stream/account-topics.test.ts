import t from 'tap';
import type { AccountSubscriber } from '../../../../src/domain/account-change.ts';
import { GatewayError } from '../../../../src/domain/gateway-error.ts';
import { AccountTopics } from '../../../../src/http/stream/account-topics.ts';
import { accountTopicOf } from '../../../../src/routes/stream-topics.ts';
import type { ReadThrough } from '../../../../src/serving/read-through.ts';
import type { Sealer } from '../../../../src/serving/sealer.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const TOPIC = accountTopicOf('balance', 'a', undefined);

/** Pushes over an account that a test changes by hand. */
function open() {
  const clock = new ManualClock();
  const followers = new Set<AccountSubscriber>();
  let [slot, result, isDown] = [1, '"one"', false];
  const readThrough = {
    fromCache: () => {
      if (isDown) throw new GatewayError('upstream_unavailable', 'nobody');
      return {
        entry: { slot, result, refusal: undefined, body: `{"result":${result},"slot":${slot}}` },
        cacheStatus: 'HIT',
      };
    },
  } as unknown as ReadThrough; // nothing else of it is used here
  const sealer = { bodyOf: ({ body }: { body: string }) => body } as unknown as Sealer; // the same
  const liveAccounts = {
    read: () => Promise.reject(new Error('not asked here')),
    subscribe: (_address: string, _commitment: string, follower: AccountSubscriber) => {
      followers.add(follower);
      return () => followers.delete(follower);
    },
  };
  const change = async (newSlot: number, newResult: string, isReorg = false): Promise<void> => {
    [slot, result] = [newSlot, newResult];
    for (const follower of followers) follower.onChange({ slot, isReorg });
    await settle();
  };
  return {
    clock,
    followers,
    change,
    down: (down: boolean) => {
      isDown = down;
    },
    pushes: new AccountTopics({ clock, readThrough, sealer, liveAccounts }),
  };
}

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A reader that can be made slow. */
function reader(maxSubscriptions = 10) {
  const frames: any[] = [];
  const connection = {
    isSlow: false,
    maxSubscriptions,
    reply: (frame: string): void => void frames.push(JSON.parse(frame)),
    push(frame: string): boolean {
      if (!connection.isSlow) frames.push(JSON.parse(frame));
      return !connection.isSlow;
    },
  };
  return { frames, listener: connection };
}

t.test('each subscriber gets the first value and the changes, and nothing when nothing has changed', async (t) => {
  const { pushes, change } = open();
  const [one, two] = [reader(), reader()];
  await pushes.subscribe(one.listener, TOPIC, 'x');
  await change(2, '"two"');
  await pushes.subscribe(two.listener, TOPIC, null);
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

t.test('what was taken back is pushed again, and says so', async (t) => {
  const { pushes, change } = open();
  const one = reader();
  await pushes.subscribe(one.listener, TOPIC, null);
  await change(2, '"two"');
  await change(3, '"one"', true);
  t.match(one.frames[2], { seq: 2, reorg: true, answer: { result: 'one', slot: 3 } });
  t.strictSame(Object.keys(one.frames[2]).slice(-2), ['reorg', 'answer']);
  t.notOk('reorg' in one.frames[1]);
});

t.test('who reads too slowly misses changes, sees it by seq, and gets the newest when he can', async (t) => {
  const { pushes, change } = open();
  const one = reader();
  await pushes.subscribe(one.listener, TOPIC, null);
  one.listener.isSlow = true;
  for (const slot of [2, 3, 4]) await change(slot, `"${slot}"`);
  one.listener.isSlow = false;
  pushes.sendUnsent(one.listener);
  pushes.sendUnsent(one.listener);
  t.match(one.frames.slice(1), [{ seq: 3, answer: { result: '4' } }]);
  t.equal(one.frames.length, 2);
});

t.test('a slow reader misses no answer to what he asks', async (t) => {
  const { pushes, change } = open();
  const one = reader();
  one.listener.isSlow = true;
  await pushes.subscribe(one.listener, TOPIC, 1);
  await change(2, '"two"');
  pushes.unsubscribe(one.listener, TOPIC, 2);
  t.match(one.frames, [
    { type: 'subscribed', id: 1, answer: { slot: 1 } },
    { type: 'unsubscribed', id: 2 },
  ]);
  t.equal(one.frames.length, 2);
});

t.test('what can no more be told of ends with an error frame, and may be subscribed to anew', async (t) => {
  const { pushes, followers, change } = open();
  const [one, two] = [reader(1), reader()];
  await pushes.subscribe(one.listener, TOPIC, 'x');
  await pushes.subscribe(two.listener, TOPIC, 7);
  for (const follower of followers) follower.onEnd(new GatewayError('result_too_large', 'too large'));
  t.match([followers.size, pushes.topicCount], [0, 0]);
  t.strictSame(one.frames.slice(1), [{ type: 'error', id: 'x', error: 'result_too_large', message: 'too large' }]);
  t.strictSame(two.frames.slice(1), [{ type: 'error', id: 7, error: 'result_too_large', message: 'too large' }]);
  await pushes.subscribe(one.listener, TOPIC, 'y');
  await change(2, '"two"');
  t.match(one.frames.slice(2), [
    { type: 'subscribed', id: 'y' },
    { seq: 1, answer: { slot: 2 } },
  ]);
});

t.test('one account is followed once for all, and for ten seconds after the last has left', async (t) => {
  const { pushes, followers, clock } = open();
  const [one, two] = [reader(), reader()];
  await pushes.subscribe(one.listener, TOPIC, null);
  await pushes.subscribe(two.listener, TOPIC, null);
  t.equal(followers.size, 1);
  pushes.unsubscribe(one.listener, TOPIC, 7);
  t.match(one.frames.at(-1), { type: 'unsubscribed', id: 7, topic: 'balance', address: 'a' });
  pushes.removeConnection(two.listener);
  clock.advance(9_999);
  t.equal(followers.size, 1);
  await pushes.subscribe(one.listener, TOPIC, null);
  clock.advance(60_000);
  t.equal(followers.size, 1, 'who comes back in time keeps it');
  pushes.removeConnection(one.listener);
  clock.advance(10_000);
  t.match([followers.size, pushes.topicCount], [0, 0]);
});

t.test('a connection holds so many subscriptions, each topic once', async (t) => {
  const { pushes } = open();
  const { listener } = reader(1);
  await pushes.subscribe(listener, TOPIC, null);
  await t.rejects(pushes.subscribe(listener, TOPIC, null), { code: 'invalid_request' });
  await t.rejects(pushes.subscribe(listener, accountTopicOf('account', 'a', undefined), null), {
    code: 'rate_limited',
  });
});

t.test(
  'a change that can not be read yet is pushed when it can; a first value that can not be read ends it',
  async (t) => {
    const { pushes, change, down, clock, followers } = open();
    const one = reader();
    await pushes.subscribe(one.listener, TOPIC, null);
    down(true);
    await change(2, '"two"');
    t.equal(one.frames.length, 1);
    await t.rejects(pushes.subscribe(reader().listener, TOPIC, null), { code: 'upstream_unavailable' });
    down(false);
    clock.advance(400);
    await settle();
    t.match(one.frames[1], { seq: 1, answer: { result: 'two' } });
    t.equal(followers.size, 1);
  },
);
