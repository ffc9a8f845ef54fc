import { setTimeout as sleep } from 'node:timers/promises';
import { RedisConnection } from '../../src/fleet/redis/redis-connection.ts';
import { RedisQuotaLedger } from '../../src/fleet/redis/redis-quota-ledger.ts';
import { systemClock } from '../../src/runtime/system-clock.ts';
import { testLedger } from '../support/access/ledger-contract.ts';
import { waitFor } from '../support/harness.ts';
import { RedisServer } from '../support/redis-server.ts';

testLedger('on Redis', async () => {
  const server = await RedisServer.start();
  const connections: RedisConnection[] = [];
  const settings = { url: server.url, password: undefined, ca: undefined };
  return {
    windowMs: 2000,
    async join(member) {
      const redis = await RedisConnection.open({
        ...settings,
        clock: systemClock,
        random: Math.random,
        onReady: () => {},
      });
      connections.push(redis);
      await waitFor(() => redis.isReady && redis.isListening, 'Redis');
      return new RedisQuotaLedger({ redis, member, prefix: 'fleet:', members: () => connections.length });
    },
    pass: (ms) => sleep(ms),
    forget: async () => void (await server.command('FLUSHALL')),
    async close() {
      for (const connection of connections) connection.close();
      await server.close();
    },
  };
});
