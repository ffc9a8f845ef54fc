import t from 'tap';
import type { FeedFrame } from '../../src/fleet/redis/feed.ts';
import { FleetSecret } from '../../src/fleet/redis/fleet-secret.ts';
import { RedisConnection } from '../../src/fleet/redis/redis-connection.ts';
import { RedisFeed } from '../../src/fleet/redis/redis-feed.ts';
import { systemClock } from '../../src/runtime/system-clock.ts';
import { waitFor } from '../support/harness.ts';
import { RedisServer } from '../support/redis-server.ts';

const SECRET = new FleetSecret(Buffer.alloc(32, 1));
const PREFIX = 'slotgate:{feed}:';

const frame = (text: string): FeedFrame => ({ type: 40, payload: Buffer.from(text) });

/** Opens the feed of a gateway, and notes what it hears. */
async function open(t: { teardown(close: () => void): void }, { url }: RedisServer, member: string) {
  const heard: string[] = [];
  const settings = { url, password: undefined, ca: undefined, clock: systemClock, random: Math.random };
  const redis = await RedisConnection.open({ ...settings, onReady() {}, onDeaf: () => feed.lose('deaf') });
  const shared = { redis, member, prefix: PREFIX, clock: systemClock, random: Math.random, secret: SECRET };
  const feed: RedisFeed = new RedisFeed({ ...shared, snapshot: () => [frame('all')] });
  feed.follow({
    joined: (snapshot) => heard.push(`joined ${snapshot.map(({ payload }) => payload).join()}`),
    frame: ({ payload }) => heard.push(`${payload}`),
    lost: () => heard.push('lost'),
  });
  t.teardown(() => {
    feed.close();
    redis.close();
  });
  await waitFor(() => redis.isReady && redis.isListening, 'Redis');
  return { feed, redis, heard };
}

t.test('frames arrive over a real Redis, through its stop and its death, and none of a stranger', async (t) => {
  const server = await RedisServer.start();
  t.teardown(() => server.close());
  const leader = await open(t, server, 'leader');
  const follower = await open(t, server, 'follower');
  const { heard } = follower;
  const told: string[] = [];
  leader.feed.onTold((member, { payload }) => told.push(`${member} ${payload}`));
  leader.feed.lead(1);
  await waitFor(() => heard.length > 0, 'the snapshot');
  for (let i = 0; i < 3; i++) leader.feed.publish([frame(`${i}`)]);
  const long = 'x'.repeat(3 << 20);
  leader.feed.publish([frame(long)]);
  follower.feed.tell(frame('read'));
  await waitFor(() => heard.length === 5 && told.length === 1, 'all frames');
  t.same(heard, ['joined all', '0', '1', '2', long]);
  t.same(told, ['follower read']);

  for (const channel of ['feed', 'up', 'to:follower'])
    await follower.redis.publish(PREFIX + channel, Buffer.from('a stranger, who knows no secret, writes this'));
  await waitFor(() => follower.feed.stats.rejected.mac === 2 && leader.feed.stats.rejected.mac === 2, 'the rejection');
  t.equal(heard.length, 5);

  for (const fault of ['stop', 'kill'] as const) {
    heard.length = 0;
    await server.signal(fault === 'stop' ? 'SIGSTOP' : 'SIGKILL');
    await waitFor(() => heard.includes('lost'), 'the loss');
    if (fault === 'stop') await server.signal('SIGCONT');
    else await server.restart();
    await waitFor(() => heard.includes('joined all'), 'another snapshot');
    leader.feed.publish([frame(fault)]);
    await waitFor(() => heard.includes(fault), 'the next frame');
    t.same(heard, ['lost', 'joined all', fault]);
  }
});
