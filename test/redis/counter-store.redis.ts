import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { CounterMember } from '../../src/gateway/access/quota/counter-member.ts';
import { RedisStore } from '../../src/gateway/fleet/counters/redis-store.ts';
import { fleetSecretOfText } from '../../src/gateway/fleet/transport/redis/fleet-secret.ts';
import { RedisConnection } from '../../src/gateway/fleet/transport/redis/redis-connection.ts';
import { systemClock } from '../../src/shared/runtime/system-clock.ts';
import { testStore } from '../support/access/store-contract.ts';
import { waitFor } from '../support/harness.ts';
import { RedisServer } from '../support/redis-server.ts';

const WINDOW_MS = 2000;
const secret = fleetSecretOfText('a secret that all gateways of this fleet have');

/** Connects a gateway to Redis. */
async function openGateway(server: RedisServer, member: string) {
  const settings = { url: server.url, password: undefined, ca: undefined, clock: systemClock, random: Math.random };
  const redis = await RedisConnection.open({ ...settings, onReady: () => {} });
  await waitFor(() => redis.isReady && redis.isListening, 'Redis');
  const heartbeat = () => redis.call('HSET', 'x:members', member, `${Date.now()} {}`).catch(() => {});
  await heartbeat();
  const store = new RedisStore({ clock: systemClock, onStandalone: () => {}, onShared: () => {} });
  store.connect({ redis, member, prefix: 'x:', secret });
  const timer = setInterval(heartbeat, 300);
  const close = (): void => {
    clearInterval(timer);
    store.close();
    redis.close();
  };
  return { redis, store, close, end: () => clearInterval(timer) };
}

testStore('on Redis', async () => {
  const server = await RedisServer.start();
  const gateways: Awaited<ReturnType<typeof openGateway>>[] = [];
  return {
    windowMs: WINDOW_MS,
    async join(member, listener) {
      const gateway = await openGateway(server, member);
      gateways.push(gateway);
      return gateway.store.join('0', listener);
    },
    pass: (ms) => sleep(ms),
    forget: async () => void (await server.command('FLUSHALL')),
    async close() {
      for (const { close } of gateways) close();
      await server.close();
    },
  };
});

const CALLER = 'caller of two gateways';
const LIMIT = 3;

t.test('F6: a caller has as many streams over all gateways as it may have at one', async (t) => {
  const server = await RedisServer.start();
  t.teardown(() => server.close());
  const openMember = async (name: string) => {
    const gateway = await openGateway(server, name);
    t.teardown(gateway.close);
    const { store } = gateway;
    const counters = new CounterMember({ store, member: '0', clock: systemClock, afterTurn: setImmediate });
    t.teardown(() => counters.close());
    const { streams } = counters;
    let count = 0;
    const set = (next: number): void => {
      count = next;
      streams.set(CALLER, count, LIMIT);
    };
    streams.onExcess = (_, excess) => set(count - excess);
    return { ...gateway, set, count: () => count, elsewhere: () => streams.elsewhere(CALLER) };
  };
  const [a, b] = [await openMember('a'), await openMember('b')];
  a.set(2);
  await waitFor(() => server.contents().then((text) => text.includes('x:count:')), 'what a has');
  b.set(2);
  await waitFor(() => b.count() === 1 && b.elsewhere() === 2 && a.elsewhere() === 1, 'the newest at b to end');
  t.equal(a.count(), 2, 'those that were there before stay');
  a.set(1);
  await waitFor(() => b.elsewhere() === 1, 'what a has given back');
  t.notMatch(await server.contents(), CALLER, 'F14: Redis gets no name of a caller');

  a.set(2);
  b.set(2);
  await waitFor(() => a.count() + b.count() === LIMIT && b.elsewhere() > 0, 'one limit again');
  await server.signal('SIGSTOP');
  b.set(b.count() + 1);
  await waitFor(() => b.elsewhere() === 0, 'each gateway alone');
  await server.signal('SIGCONT');
  await waitFor(() => b.elsewhere() > 0, 'what others have');

  a.end();
  await waitFor(() => b.elsewhere() === 0, 'what an ended gateway had to be subtracted');
});
