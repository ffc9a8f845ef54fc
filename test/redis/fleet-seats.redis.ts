import t from 'tap';
import { SeatLedger } from '../../src/access/quota/seat-ledger.ts';
import { SharedSeats } from '../../src/access/quota/shared-seats.ts';
import { FleetSeats } from '../../src/fleet/redis/fleet-seats.ts';
import { fleetSecretOfText } from '../../src/fleet/redis/fleet-secret.ts';
import { RedisConnection } from '../../src/fleet/redis/redis-connection.ts';
import { systemClock } from '../../src/runtime/system-clock.ts';
import { waitFor } from '../support/harness.ts';
import { RedisServer } from '../support/redis-server.ts';

const CALLER = 'caller of two gateways';
const LIMIT = 3;
const secret = fleetSecretOfText('a secret that all gateways of this fleet have');

t.test('F6: a caller has as many connections over all gateways as it may have at one', async (t) => {
  const server = await RedisServer.start();
  t.teardown(() => server.close());
  const settings = { url: server.url, password: undefined, ca: undefined, clock: systemClock, random: Math.random };

  /** Opens a gateway that one caller connects to. */
  const openGateway = async (member: string) => {
    const redis = await RedisConnection.open({ ...settings, onReady: () => {} });
    t.teardown(() => redis.close());
    await waitFor(() => redis.isReady && redis.isListening, 'Redis');
    const ledger = new SeatLedger();
    const fleetSeats = new FleetSeats({ clock: systemClock, ledger });
    t.teardown(() => fleetSeats.close());
    const shared: SharedSeats = new SharedSeats({ hold: (held) => own.hold(held), afterTurn: setImmediate });
    const own = ledger.join((others) => shared.hear(others));
    let count = 0;
    shared.onExcess = (_, excess) => set(count - excess);
    const set = (next: number): void => {
      count = next;
      shared.set(CALLER, count, LIMIT);
    };
    const live = () => redis.call('HSET', 'x:members', member, `${Date.now()} {}`);
    await live();
    fleetSeats.connect({ redis, member, prefix: 'x:', secret });
    return { redis, fleetSeats, live, set, count: () => count, elsewhere: () => shared.elsewhere(CALLER) };
  };
  const [a, b] = [await openGateway('a'), await openGateway('b')];
  const living = setInterval(() => void Promise.all([a.live(), b.live()]).catch(() => {}), 500);
  t.teardown(() => clearInterval(living));
  a.set(2);
  await waitFor(() => server.contents().then((text) => text.includes('x:seats:')), 'what a has');
  b.set(2);
  await waitFor(() => b.count() === 1 && b.elsewhere() === 2 && a.elsewhere() === 1, 'the newest at b to end');
  t.equal(a.count(), 2, 'those that were there before stay');
  a.set(1);
  await waitFor(() => b.elsewhere() === 1, 'what a has given back');
  t.notMatch(await server.contents(), CALLER, 'F14: Redis gets no name of a caller');

  clearInterval(living);
  await a.redis.call('HDEL', 'x:members', 'a');
  await b.live();
  const alive = setInterval(() => void b.live().catch(() => {}), 500);
  t.teardown(() => clearInterval(alive));
  await waitFor(() => b.elsewhere() === 0, 'what a had to be subtracted');

  await a.live();
  b.set(2);
  a.set(2);
  await waitFor(() => a.count() + b.count() === LIMIT && b.elsewhere() > 0, 'one limit again');
  await server.signal('SIGSTOP');
  b.set(b.count() + 1);
  await waitFor(() => b.elsewhere() === 0, 'each gateway alone');
  await server.signal('SIGCONT');
  await waitFor(() => a.elsewhere() + b.elsewhere() > 0, 'what others have');
});
