import { join } from 'node:path';
import t from 'tap';
import { readVersionedKeys } from '../../src/access/api-keys/api-key-store.ts';
import { readFleetKeys, restoreFleetKeys, sealRecord, updateFleetKeys } from '../../src/fleet/redis/fleet-keys.ts';
import { fleetSecretOfText } from '../../src/fleet/redis/fleet-secret.ts';
import { KeyMirror } from '../../src/fleet/redis/key-mirror.ts';
import { RedisConnection } from '../../src/fleet/redis/redis-connection.ts';
import { systemClock } from '../../src/runtime/system-clock.ts';
import { apiKeyRecord } from '../support/access/api-key-fixtures.ts';
import { waitFor } from '../support/harness.ts';
import { RedisServer } from '../support/redis-server.ts';

const secret = fleetSecretOfText('a secret that all gateways of this fleet have');

t.test('F11: only who has the secret of the fleet can issue a key at Redis, or bring a revoked one back', async (t) => {
  const server = await RedisServer.start();
  t.teardown(() => server.close());
  const settings = { url: server.url, password: undefined, ca: undefined, clock: systemClock, random: Math.random };
  const redis = await RedisConnection.open({ ...settings, onReady: () => {} });
  t.teardown(() => redis.close());
  await waitFor(() => redis.isReady, 'Redis');
  const place = { redis, prefix: 'x:', secret };
  const none = { version: 0, keys: [] };
  const record = (id: string) => ({ ...apiKeyRecord(`key of ${id}`), id });
  const issue = (id: string, of = place) =>
    updateFleetKeys(of, none, (keys) => ({ keys: [...keys, record(id)], result: undefined }));
  const path = join(t.testdir(), 'fleet-keys.json');
  const told: (number | string)[] = [];
  const mirror = new KeyMirror({
    ...place,
    path,
    clock: systemClock,
    onOlder: () => told.push('older'),
    onForged: (count) => told.push(count),
    onProblem: (problem) => told.push(problem),
  });
  t.teardown(() => mirror.close());
  await waitFor(() => redis.isListening, 'a connection that listens');
  await issue('one');
  await issue('two');
  const untilMirrored = () =>
    waitFor(async () => {
      await mirror.look();
      return readVersionedKeys(path).version === Number(await redis.call('GET', 'x:keys:version'));
    }, 'the mirror');
  const ids = () =>
    readVersionedKeys(path).keys.map(({ id, revokedAt }) => `${id}${revokedAt === null ? '' : ' revoked'}`);
  await untilMirrored();
  t.same(ids().sort(), ['one', 'two']);

  const valid = String(await redis.call('HGET', 'x:keys', 'one'));
  await updateFleetKeys(place, none, (keys) => ({
    keys: keys.map((key) => (key.id === 'one' ? { ...key, revokedAt: '2026-01-01' } : key)),
    result: undefined,
  }));
  await untilMirrored();
  const json = (id: string) => JSON.stringify(record(id));
  const other = fleetSecretOfText('another secret');
  for (const [name, sealed] of [
    ['three', sealRecord(other, 'three', json('three'))],
    ['four', json('four')],
    ['five', valid],
    ['two', sealRecord(other, 'two', json('two').replace('build', 'scale'))],
    ['one', valid],
  ] as const)
    await redis.call('HSET', 'x:keys', name, sealed);
  await redis.call('INCR', 'x:keys:version');
  await untilMirrored();
  t.same(ids().sort(), ['one revoked', 'two']);
  t.same(told, [4]);
  t.equal(mirror.forged, 4);
  t.match(await readFleetKeys(place), { forged: { length: 4 } });

  const stranger = { ...place, secret: fleetSecretOfText('a third secret') };
  await t.rejects(issue('six', stranger), { message: /sealed under another secret/ });
  await restoreFleetKeys(place, [readVersionedKeys(path)]);
  const restored = await readFleetKeys(place);
  t.same([restored.keys.map(({ id }) => id).sort(), restored.forged], [['one', 'two'], []]);
});
