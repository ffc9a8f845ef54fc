import t from 'tap';
import { type LearnedLimit, SubscriptionLimit } from '../../../../src/upstream/pubsub/subscription-limit.ts';
import { isOverLimit } from '../../../../src/upstream/pubsub/subscription-refusal.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

function open(cap: number | null = null) {
  const clock = new ManualClock();
  let learned: LearnedLimit | undefined;
  const learnedLimits = {
    get: () => learned,
    set: (_: string, value: LearnedLimit) => {
      learned = value;
    },
  };
  const create = () => new SubscriptionLimit({ clock, cap, wsUrl: 'ws://a', learnedLimits });
  return { clock, limit: create(), create };
}

t.test('the limit starts at 1,000 and doubles each time that a WebSocket has reached it', async (t) => {
  const { limit, create } = open();
  t.equal(limit.current, 1000);
  limit.onAcknowledged(999, false);
  t.equal(limit.current, 1000);
  for (let count = 1000; count <= 64_000; count *= 2) limit.onAcknowledged(count, true);
  t.equal(limit.current, 128_000);
  t.equal(create().current, 128_000, 'the next process goes on with it');
});

t.test('a refusal leaves what was accepted, at least half, and is not tried again for a day', async (t) => {
  const { clock, limit, create } = open();
  limit.onAcknowledged(1000, true);
  limit.onRefused(1450);
  t.equal(limit.current, 1450);
  limit.onAcknowledged(1450, true);
  t.equal(limit.current, 1450);
  t.notOk(limit.mayGrow || create().mayGrow);
  clock.advance(DAY_MS + 1);
  t.ok(limit.mayGrow);
  limit.onAcknowledged(1450, true);
  t.equal(limit.current, 2900);

  const strict = open().limit;
  for (const expected of [500, 250, 125, 100, 100]) {
    // as one WebSocket after another finds out
    strict.onRefused(100);
    t.equal(strict.current, expected);
  }
});

t.test('a loss halves it, unless so many were accepted before and it is the first, or they are few', async (t) => {
  const { limit } = open();
  limit.onLost(16);
  t.equal(limit.current, 1000);
  limit.onLost(900);
  t.equal(limit.current, 500);
  limit.onAcknowledged(500, true);
  t.equal(limit.current, 500, 'a thousand has failed');
  limit.onLost(400);
  t.equal(limit.current, 500, 'the node may have been restarted');
  limit.onLost(400);
  t.equal(limit.current, 250, 'it happens again');
  limit.onLost(400);
  t.equal(limit.current, 250, 'that is known');
  for (let i = 0; i < 20; i++) limit.onLost(limit.current);
  t.equal(limit.current, 15, 'so many are always accepted');
});

t.test('a number in the config is a cap', async (t) => {
  const { limit } = open(40);
  t.equal(limit.current, 40);
  limit.onAcknowledged(40, true);
  t.equal(limit.current, 40);
  t.notOk(limit.mayGrow);
  limit.onRefused(30);
  t.equal(limit.current, 30);
});

t.test('a refusal for want of room is told from one of the subscription itself', async (t) => {
  const refused = (method: string, error: string) => isOverLimit(method, Buffer.from(error));
  const room = [
    [
      'accountSubscribe',
      '{"code":-32603,"message":"Internal Error: Subscription refused. Node subscription limit reached"}',
    ],
    [
      'programSubscribe',
      '{"code":-32603,"message":"Internal Error: Subscription refused. Node subscription limit reached"}',
    ],
    ['accountSubscribe', '{"code":7429,"message":"Server error: subcription method exceeded limit: accountSubscribe"}'],
    ['accountSubscribe', '{"code":-32000,"message":"no"}'],
    ['accountSubscribe', '{"code":-32602,"message":"Too many subscriptions"}'],
  ] as const;
  const itself = [
    ['accountSubscribe', '{"code":-32602,"message":"Invalid Request: Invalid pubkey provided"}'],
    ['accountSubscribe', '{"code":-32601,"message":"Method not found"}'],
    ['programSubscribe', '{"code":-32000,"message":"not available on this plan"}'],
    ['accountSubscribe', '7'],
  ] as const;
  t.strictSame(
    room.map(([method, error]) => refused(method, error)),
    room.map(() => true),
  );
  t.strictSame(
    itself.map(([method, error]) => refused(method, error)),
    itself.map(() => false),
  );
});
