import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { loadConfig } from '../../src/config/load-config.ts';
import { readRedisSettings } from '../../src/config/redis-settings.ts';
import { extractSecrets } from '../../src/config/secret-variables.ts';
import { RedisConnection } from '../../src/gateway/fleet/transport/redis/redis-connection.ts';
import { systemClock } from '../../src/shared/runtime/system-clock.ts';
import { waitFor } from '../support/harness.ts';
import { RedisServer } from '../support/redis-server.ts';

const PASSWORD = 'a-password-of-redis';

t.test('TLS with a certificate of its own, and a password by file or variable', async (t) => {
  const server = await RedisServer.startWithTls(['--requirepass', PASSWORD]);
  t.teardown(() => server.close());
  const folder = t.testdir();
  const passwordFile = join(folder, 'password');
  writeFileSync(passwordFile, `${PASSWORD}\n`);

  /** Connects with these settings; returns why that does not work, or the answer to a command. */
  const connect = async (set: readonly string[], env: Record<string, string> = {}): Promise<string> => {
    const flags = { upstream: ['http://127.0.0.1:1'], redis: server.url, set };
    const settings = readRedisSettings(loadConfig({ cwd: folder, flags, env }), extractSecrets({ ...env }));
    if (settings === undefined) throw new Error('there are no settings');
    const options = { clock: systemClock, random: Math.random, onReady: () => {} };
    const redis = await RedisConnection.open({ ...settings, ...options });
    try {
      await waitFor(() => redis.isReady || redis.problem !== 'it does not answer', 'a connection or a problem');
      return redis.isReady ? String(await redis.call('PING').catch((err: Error) => err.message)) : redis.problem;
    } finally {
      redis.close();
    }
  };
  const ca = `redis.ca=${server.certificate}`;
  t.equal(await connect([ca, `redis.passwordFile=${passwordFile}`]), 'PONG');
  t.equal(await connect([ca], { SLOTGATE_REDIS_PASSWORD: PASSWORD }), 'PONG');
  t.match(await connect([ca], { SLOTGATE_REDIS_PASSWORD: 'another' }), /WRONGPASS/);
  t.match(await connect([ca]), /NOAUTH/);
  t.match(await connect([], { SLOTGATE_REDIS_PASSWORD: PASSWORD }), /self.signed certificate/, 'nobody vouches for it');
});
