import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import t from 'tap';
import { Fanout } from '../../../../src/http/stream/fanout.ts';
import { ShardQueue } from '../../../../src/http/stream/shard-queue.ts';

/** Counts the events of a loop that has some in each turn. */
const busy = () => {
  let events = 0;
  return () => events++;
};

/** Opens a fan-out with subscribers, and records the topic of each published message. */
function open(subscribers: number, polledEvents = busy()) {
  const published: { readonly topic: string; readonly message: string }[] = [];
  const queue = new ShardQueue((topic, message) => published.push({ topic, message: String(message) }), polledEvents);
  const fanout = new Fanout('json', queue);
  const shards = Array.from({ length: subscribers }, () => fanout.addSubscriber());
  return { fanout, queue, published, shards };
}

t.test('a message to two hundred subscribers is published at once', async (t) => {
  const { fanout, published, shards } = open(200);
  fanout.send('a', false);
  t.equal(published.length, new Set(shards).size);
  t.notOk(shards.some((shard) => fanout.hasPending(shard)));
});

t.test('a message to a thousand is published one shard per turn of the event loop', async (t) => {
  const { fanout, published, shards } = open(1000);
  const count = new Set(shards).size;
  t.equal(fanout.subscriberCount, 1000);
  fanout.send('a', false);
  t.equal(published.length, 1, 'the first at once');
  for (let i = 2; i <= count; i++) {
    await turn();
    t.equal(published.length, i);
  }
  t.same(new Set(published.map(({ topic }) => topic)), new Set(shards.map((shard) => fanout.topicOf(shard))));
});

t.test('while turns have no I/O event, each has twice the shards of the one before, up to four', async (t) => {
  let events = 0;
  const { fanout, published } = open(2000, () => events);
  fanout.send('a', false);
  const counts = [published.length];
  for (let i = 0; i < 4; i++) {
    if (i === 3) events++;
    await turn();
    counts.push(published.length);
  }
  t.same(counts, [1, 3, 7, 11, 12]);
});

t.test(
  'many topics together have no more shards in a turn than one, and one with few subscribers waits for none',
  async (t) => {
    const { fanout, queue, published } = open(1000, () => 0);
    const others = ['a', 'b', 'c'].map((topic) => new Fanout(topic, queue));
    for (const other of others) for (let i = 0; i < 1000; i++) other.addSubscriber();
    const small = new Fanout('small', queue);
    small.addSubscriber();
    for (const each of [fanout, ...others, small]) each.send('x', false);
    t.same(
      published.map(({ topic }) => topic),
      ['json/0', 'small/0'],
    );
    const shares = [];
    for (let before = published.length; published.length < 33; before = published.length) {
      await turn();
      shares.push(published.length - before);
    }
    t.same(shares, [2, 4, 4, 4, 4, 4, 4, 4, 1]);
  },
);

t.test('no shard has more than 128 subscribers, and a free place is filled again', async (t) => {
  const { fanout, shards } = open(300);
  const members = (shard: number) => shards.filter((other) => other === shard).length;
  t.ok(shards.every((shard) => members(shard) <= 128));
  fanout.removeSubscriber(0);
  t.equal(fanout.addSubscriber(), 0);
});

t.test('each shard gets every message, in order, however they overlap', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 2000 }),
      fc.array(fc.nat(3), { maxLength: 10 }),
      async (size, pauses) => {
        const { fanout, published, shards } = open(size);
        const messages: string[] = [];
        for (const pause of pauses) {
          messages.push(`message ${messages.length}`);
          fanout.send(messages.at(-1) ?? '', false);
          for (let i = 0; i < pause; i++) await turn();
        }
        for (let i = 0; i < 200; i++) await turn();
        return [...new Set(shards)].every((shard) => {
          const got = published.filter(({ topic }) => topic === fanout.topicOf(shard)).map(({ message }) => message);
          return got.join() === messages.join() && !fanout.hasPending(shard);
        });
      },
    ),
    { numRuns: 30 },
  );
});

t.test('a subscriber that joins between two turns can see whether a message is pending', async (t) => {
  const { fanout, shards } = open(2000);
  const last = Math.max(...shards);
  fanout.send('a', false);
  t.equal(fanout.hasPending(last), true);
  t.equal(fanout.hasPending(0), false);
  for (let shard = 0; shard < last; shard++) await turn();
  t.equal(fanout.hasPending(last), false);
});

t.test('without subscribers nothing is published', async (t) => {
  const { fanout, published } = open(1);
  fanout.removeSubscriber(0);
  fanout.send('a', false);
  t.same(published, []);
});
