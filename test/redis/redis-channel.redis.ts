import t from 'tap';
import type { Event } from '../../src/gateway/fleet/events.ts';
import { fleetSecretOfText } from '../../src/gateway/fleet/transport/redis/fleet-secret.ts';
import { channelNames, RedisChannel } from '../../src/gateway/fleet/transport/redis/redis-channel.ts';
import { RedisConnection } from '../../src/gateway/fleet/transport/redis/redis-connection.ts';
import { systemClock } from '../../src/shared/runtime/system-clock.ts';
import { waitFor } from '../support/harness.ts';
import { RedisServer } from '../support/redis-server.ts';

const SECRET = fleetSecretOfText(Buffer.alloc(32, 1));
const PREFIX = 'slotgate:{channel}:';

const event = (key: string): Event => ({ type: 'answer-ended', key });
const textOf = (received: Event): string => (received.type === 'answer-ended' ? received.key : received.type);

/** Opens the channel of a gateway, and notes what it receives. */
async function open(t: { teardown(close: () => void): void }, { url }: RedisServer, member: string) {
  const received: string[] = [];
  const settings = { url, password: undefined, ca: undefined, clock: systemClock, random: Math.random };
  const redis = await RedisConnection.open({ ...settings, onReady() {}, onDeaf: () => channel.lose('deaf') });
  const shared = { redis, member, prefix: PREFIX, clock: systemClock, random: Math.random, secret: SECRET };
  const channel: RedisChannel = new RedisChannel(shared);
  channel.subscribe({
    snapshot: () => [event('all')],
    onJoined: (snapshot) => received.push(`joined ${snapshot.map(textOf).join()}`),
    onEvent: (each) => received.push(textOf(each)),
    onLost: () => received.push('lost'),
  });
  t.teardown(() => {
    channel.close();
    redis.close();
  });
  await waitFor(() => redis.isReady && redis.isListening, 'Redis');
  return { channel, redis, received };
}

t.test('events arrive over a real Redis, through its stop and its death, and none of a stranger', async (t) => {
  const server = await RedisServer.start();
  t.teardown(() => server.close());
  const leader = await open(t, server, 'leader');
  const follower = await open(t, server, 'follower');
  const { received } = follower;
  leader.channel.lead(1);
  await waitFor(() => received.length > 0, 'the snapshot');
  for (let i = 0; i < 3; i++) leader.channel.publish(event(`${i}`));
  const long = 'x'.repeat(3 << 20);
  leader.channel.publish(event(long));
  follower.channel.publish(event('read'));
  await waitFor(() => received.length === 5 && leader.received.length === 1, 'all events');
  t.same(received, ['joined all', '0', '1', '2', long]);
  t.same(leader.received, ['read']);

  for (const channel of Object.values(channelNames(PREFIX)))
    await follower.redis.publish(channel, Buffer.from('a stranger, who knows no secret, writes this'));
  await waitFor(
    () => follower.channel.stats.rejected.mac === 1 && leader.channel.stats.rejected.mac === 2,
    'the rejection',
  );
  t.equal(received.length, 5);

  for (const fault of ['stop', 'kill'] as const) {
    received.length = 0;
    await server.signal(fault === 'stop' ? 'SIGSTOP' : 'SIGKILL');
    await waitFor(() => received.includes('lost'), 'the loss');
    if (fault === 'stop') await server.signal('SIGCONT');
    else await server.restart();
    await waitFor(() => received.includes('joined all'), 'another snapshot');
    leader.channel.publish(event(fault));
    await waitFor(() => received.includes(fault), 'the next event');
    t.same(received, ['lost', 'joined all', fault]);
  }
});
