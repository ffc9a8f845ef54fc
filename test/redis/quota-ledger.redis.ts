import { setTimeout as sleep } from 'node:timers/promises';
import { FleetSecret } from '../../src/fleet/redis/fleet-secret.ts';
import { RedisConnection } from '../../src/fleet/redis/redis-connection.ts';
import { RedisQuotaLedger } from '../../src/fleet/redis/redis-quota-ledger.ts';
import { systemClock } from '../../src/runtime/system-clock.ts';
import { testLedger } from '../support/access/ledger-contract.ts';
import { waitFor } from '../support/harness.ts';
import { RedisServer } from '../support/redis-server.ts';

const WINDOW_MS = 2000;

const UNUSED = { id: 'x', limit: 100, window: 0, ageMs: 0, used: 0, want: 0, need: 0 };

testLedger('on Redis', async () => {
  const server = await RedisServer.start();
  const connections: RedisConnection[] = [];
  const settings = { url: server.url, password: undefined, ca: undefined };
  return {
    windowMs: WINDOW_MS,
    async join(member) {
      const redis = await RedisConnection.open({
        ...settings,
        clock: systemClock,
        random: Math.random,
        onReady: () => {},
      });
      connections.push(redis);
      await waitFor(() => redis.isReady && redis.isListening, 'Redis');
      const secret = new FleetSecret(Buffer.alloc(32));
      const ledger = new RedisQuotaLedger({ clock: systemClock, onAlone: () => {}, onShared: () => {} });
      ledger.connect({ redis, member, prefix: 'fleet:', secret });
      const joined = ledger.join('0', () => {});
      return {
        ...joined,
        onLeft(hear) {
          void joined.settle([{ ...UNUSED, windowMs: WINDOW_MS }]); // a gateway hears of identities that it has asked for
          return joined.onLeft(hear);
        },
      };
    },
    pass: (ms) => sleep(ms),
    forget: async () => void (await server.command('FLUSHALL')),
    async close() {
      for (const connection of connections) connection.close();
      await server.close();
    },
  };
});
