import { join } from 'node:path';
import t from 'tap';
import { readVersionedKeys } from '../../src/gateway/access/api-keys/api-key-store.ts';
import {
  readFleetKeys,
  restoreFleetKeys,
  sealRecord,
  updateFleetKeys,
} from '../../src/gateway/fleet/keys/fleet-keys.ts';
import { KeyMirror } from '../../src/gateway/fleet/keys/key-mirror.ts';
import { fleetSecretOfText } from '../../src/gateway/fleet/transport/redis/fleet-secret.ts';
import { RedisConnection } from '../../src/gateway/fleet/transport/redis/redis-connection.ts';
import { DurableWrites } from '../../src/shared/runtime/durable-writes.ts';
import { systemClock } from '../../src/shared/runtime/system-clock.ts';
import { apiKeyRecord } from '../support/access/api-key-fixtures.ts';
import { waitFor } from '../support/harness.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { RedisServer } from '../support/redis-server.ts';

const secret = fleetSecretOfText('a secret that all gateways of this fleet have');

t.test('F11: only the secret of the fleet issues keys; no revoked one comes back, and none is lost', async (t) => {
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
  const revoke = (revoked: string) =>
    updateFleetKeys(place, none, (keys) => ({
      keys: keys.map((key) =>
        key.id === revoked ? { ...key, revokedAt: '2026-01-01', isRevoked: true as const } : key,
      ),
      result: undefined,
    }));
  const path = join(t.testdir(), 'fleet-keys.json');
  const logged: (number | string)[] = [];
  const clock = new ManualClock(); // it stands still, so only what is announced is mirrored
  const mirror = new KeyMirror({
    ...place,
    keysPath: path,
    clock,
    writes: new DurableWrites({ clock, onProblem: (problem) => logged.push(problem), onRecovery() {} }),
    log: {
      warn: (_, message) => logged.push(message),
      error: (fields, message) => logged.push('records' in fields ? Number(fields.records) : message),
    },
  });
  t.teardown(() => mirror.close());
  await waitFor(() => redis.isListening, 'a connection that listens');
  await issue('one');
  await issue('two');
  const untilMirrored = () =>
    waitFor(
      async () => readVersionedKeys(path).version === Number(await redis.call('GET', 'x:keys:version')),
      'the mirror',
    );
  const ids = () =>
    readVersionedKeys(path).keys.map(
      ({ id, revokedAt, isRevoked }) => `${id}${revokedAt === null ? '' : ` revoked ${isRevoked}`}`,
    );
  await untilMirrored();
  t.same(ids().sort(), ['one', 'two']);

  const valid = String(await redis.call('HGET', 'x:keys', 'one'));
  await revoke('one');
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
  await redis.call('INCR', 'x:keys:version'); // and no announcement
  clock.advance(5000);
  await untilMirrored();
  t.same(ids().sort(), ['one revoked true', 'two']);
  t.same(logged, [4]);
  t.match(mirror.problem, /^4 API keys/);
  t.match(await readFleetKeys(place), { forged: { length: 4 } });

  const stranger = { ...place, secret: fleetSecretOfText('a third secret') };
  await t.rejects(issue('six', stranger), { message: /sealed under another secret/ });
  await restoreFleetKeys(place, [readVersionedKeys(path)]);
  const restored = await readFleetKeys(place);
  t.same([restored.keys.map(({ id }) => id).sort(), restored.forged], [['one', 'two'], []]);
  await untilMirrored();

  await server.signal('SIGKILL');
  await waitFor(() => !redis.isReady, 'the end of Redis');
  await mirror.refresh();
  t.same(ids().sort(), ['one revoked true', 'two'], 'without Redis the keys stay valid');
  await server.restart();
  await waitFor(() => redis.isReady && redis.isListening, 'Redis again');
  await server.command('FLUSHALL');
  await mirror.refresh();
  t.same(ids().sort(), ['one revoked true', 'two'], 'so do those that Redis has lost');
  t.match(mirror.problem, /^Redis has lost API keys/);
  const known = readVersionedKeys(path);
  const another = updateFleetKeys(place, known, (keys) => ({ keys: [...keys, record('six')], result: undefined }));
  await t.rejects(another, { message: /keys restore/ }, 'no key is added to half of them');
  await restoreFleetKeys(place, [known]);
  await untilMirrored();
  t.same(ids().sort(), ['one revoked true', 'two']);
  t.equal(mirror.problem, undefined);

  const replica = await Promise.all(['version', 'tag'].map((name) => redis.call('GET', `x:keys:${name}`)));
  await issue('six');
  await untilMirrored();
  await redis.call('HDEL', 'x:keys', 'six'); // a replica takes over that has not received it
  await redis.call('MSET', 'x:keys:version', String(replica[0]), 'x:keys:tag', String(replica[1]));
  await revoke('two');
  clock.advance(5000); // its message may have been lost
  await waitFor(() => ids().includes('two revoked true'), 'another change of the same version');

  for (const version of ['9007199254740993', 'garbage', 'inf', 'nan', '0b1111111111111111111111111111']) {
    await redis.call('SET', 'x:keys:version', version);
    clock.advance(5000);
    await waitFor(
      () => /version is impossible/.test(mirror.problem ?? ''),
      'the problem of a version that nobody gave',
    );
    await t.rejects(issue('seven'), { message: /impossible version.* keys restore/ });
    await restoreFleetKeys(place, [readVersionedKeys(path)]);
    await untilMirrored();
    await waitFor(() => mirror.problem === undefined, 'the end of the problem');
  }
  t.notMatch(await server.contents(), 'key of two', 'F14: no key in Redis');
});
