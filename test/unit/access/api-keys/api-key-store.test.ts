import { spawnSync } from 'node:child_process';
import fs, { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { digestOfKey, generateApiKey } from '../../../../src/access/api-keys/api-key.ts';
import {
  type ApiKeyRecord,
  formatKeyFile,
  isKeyValid,
  parseKeyFile,
} from '../../../../src/access/api-keys/api-key-record.ts';
import { ApiKeyRegistry } from '../../../../src/access/api-keys/api-key-registry.ts';
import { apiKeysPath, readApiKeys } from '../../../../src/access/api-keys/api-key-store.ts';
import type { Clock } from '../../../../src/domain/clock.ts';
import { StartError } from '../../../../src/domain/start-error.ts';
import { apiKeyRecord, issueKeys, revokeKey } from '../../../support/access/api-key-fixtures.ts';
import { DEFAULT_TIERS } from '../../../support/access/default-tiers.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

async function keysOf(t: Test, ...records: ApiKeyRecord[]) {
  const path = apiKeysPath(t.testdir());
  if (records.length > 0) await issueKeys(path, ...records);
  const clock = new ManualClock(Date.parse('2026-06-01T00:00:00Z'));
  let armed = 0;
  const watched: Clock = {
    now: () => clock.now(),
    monotonic: () => clock.monotonic(),
    after(ms, work) {
      armed++;
      return clock.after(ms, work);
    },
  };
  const problems: string[] = [];
  const keys = new ApiKeyRegistry({
    path,
    tiers: DEFAULT_TIERS,
    clock: watched,
    onProblem: ({ message }) => problems.push(message),
    onRecovery: () => problems.push('recovered'),
  });
  t.teardown(() => keys.close());
  /** Lets the registry check the file, and waits until that is done. */
  const reload = async (): Promise<void> => {
    const before = armed;
    clock.advance(500);
    while (armed === before) await new Promise((resolve) => setImmediate(resolve));
  };
  await reload();
  return { path, clock, keys, problems, reload };
}

t.test('the file is its owner’s alone, holds digests only, and reads back as it was', async (t) => {
  const key = generateApiKey();
  const { path } = await keysOf(
    t,
    apiKeyRecord(key, { perIpLimit: 5 }),
    apiKeyRecord(generateApiKey(), { tier: 'scale' }),
  );
  t.equal(statSync(path).mode & 0o777, 0o600);
  t.notMatch(readFileSync(path, 'utf8'), key);
  t.match(readApiKeys(path), [{ sha256: digestOfKey(key), tier: 'build', perIpLimit: 5 }, { tier: 'scale' }]);
  t.same(readdirSync(t.testdirName), ['keys.json'], 'no lock and no temporary file remains');
});

t.test('any set of keys survives writing and reading', async () => {
  const time = fc
    .date({ min: new Date(0), max: new Date('9999-01-01'), noInvalidDate: true })
    .map((date) => date.toISOString());
  const record: fc.Arbitrary<ApiKeyRecord> = fc.record({
    id: fc.string({ unit: fc.constantFrom(...'abcXYZ019_-'), minLength: 1, maxLength: 32 }),
    sha256: fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: 64, maxLength: 64 }),
    last4: fc.string({ maxLength: 4 }),
    tier: fc.constantFrom('build' as const, 'scale' as const),
    label: fc.string(),
    createdAt: time,
    expiresAt: fc.option(time),
    revokedAt: fc.option(time),
  });
  const distinct = fc.uniqueArray(record, { selector: ({ id }) => id, maxLength: 5 });
  fc.assert(
    fc.property(distinct, (keys) => {
      if (new Set(keys.map(({ sha256 }) => sha256)).size === keys.length)
        return JSON.stringify(parseKeyFile(formatKeyFile(keys))) === JSON.stringify(keys);
      return true;
    }),
  );
});

t.test('an invalid file stops the start, and the message quotes nothing of it', async (t) => {
  const good = apiKeyRecord(generateApiKey());
  const wrong: readonly unknown[] = [
    [],
    null,
    { keys: {} },
    { keys: [null] },
    { keys: [{ ...good, id: '' }] },
    { keys: [{ ...good, sha256: 'sg_live_secret' }] },
    { keys: [{ ...good, tier: 'free' }] },
    { keys: [{ ...good, createdAt: 'soon' }] },
    { keys: [{ ...good, expiresAt: undefined }] },
    { keys: [{ ...good, revokedAt: 1 }] },
    { keys: [{ ...good, label: null }] },
    { keys: [{ ...good, perIpLimit: 0 }] },
    { keys: [good, good] },
    { keys: [good, { ...good, id: 'other' }] },
  ];
  for (const text of ['', '{"keys":[{"id":"sg_live_secret', ...wrong.map((value) => JSON.stringify(value))]) {
    const path = apiKeysPath(t.testdir({ 'keys.json': text }));
    const open = (): unknown =>
      new ApiKeyRegistry({
        path,
        tiers: DEFAULT_TIERS,
        clock: new ManualClock(),
        onProblem: () => {},
        onRecovery: () => {},
      });
    t.throws(open, StartError, text);
    try {
      open();
    } catch (thrown) {
      t.notMatch(String(thrown), 'secret');
      t.match(String(thrown), 'keys.json');
    }
    await t.rejects(issueKeys(path, apiKeyRecord(generateApiKey())), StartError, 'nor is it written over');
    t.equal(readFileSync(path, 'utf8'), text);
  }
});

t.test('a command that finds the disk full leaves nothing behind', async (t) => {
  const state = t.testdir();
  const slotgate = fileURLToPath(new URL('../../../../src/main.js', import.meta.url));
  const create = `exec '${process.execPath}' '${slotgate}' keys create --tier build --label x --state '${state}'`;
  const env = { ...process.env, NODE_OPTIONS: '' };
  const { status, stdout, stderr } = spawnSync('sh', ['-c', `ulimit -f 0; ${create}`], { env, encoding: 'utf8' });
  t.equal(status, 1);
  t.equal(stdout, '');
  t.match(stderr, /^slotgate: .*keys\.json: E/);
  t.same(readdirSync(state), []);
});

t.test('a key has the tier of its record; an expired, revoked or unknown one is invalid', async (t) => {
  const key = generateApiKey();
  const until = generateApiKey();
  const { keys, clock } = await keysOf(
    t,
    apiKeyRecord(key, { id: 'one', tier: 'scale', perIpLimit: 7 }),
    apiKeyRecord(until, { expiresAt: '2026-06-01T01:00:00Z' }),
    apiKeyRecord(generateApiKey(), { revokedAt: '2026-05-01T00:00:00Z' }),
  );
  t.same(keys.find(key), { id: 'key one', key: 'one', tier: DEFAULT_TIERS.scale, perIpLimit: 7 });
  t.equal(keys.find(generateApiKey()), undefined);
  t.equal(keys.find(''), undefined);
  t.match(keys.find(until), { tier: DEFAULT_TIERS.build });
  clock.advance(3_600_000);
  t.equal(keys.find(until), undefined);
  t.equal(keys.size, 3);
});

t.test('a key is revoked from a given time on', async (t) => {
  const record = apiKeyRecord(generateApiKey(), { revokedAt: '2026-06-01T00:00:01Z' });
  t.equal(isKeyValid(record, Date.parse('2026-06-01T00:00:00.999Z')), true);
  t.equal(isKeyValid(record, Date.parse('2026-06-01T00:00:01Z')), false);
});

t.test('a change of the file applies within a second, without a restart', async (t) => {
  const { path, keys, reload } = await keysOf(t);
  const key = generateApiKey();
  t.equal(keys.find(key), undefined);
  await issueKeys(path, apiKeyRecord(key));
  await reload();
  t.match(keys.find(key), { key: key.slice(-8) });
  await revokeKey(path, key.slice(-8));
  await reload();
  t.equal(keys.find(key), undefined);
});

t.test('47: a file that can not be read is reported once, and the keys loaded before stay valid', async (t) => {
  const key = generateApiKey();
  const { path, keys, reload, problems } = await keysOf(t, apiKeyRecord(key));
  writeFileSync(path, '{"keys":[');
  for (let i = 0; i < 3; i++) await reload();
  t.match(keys.find(key), { key: key.slice(-8) });
  t.same(problems.length, 1);
  writeFileSync(path, formatKeyFile([]));
  await reload();
  t.equal(keys.find(key), undefined);
});

t.test('a revocation counts although the first read after it failed', async (t) => {
  const key = generateApiKey();
  const { path, keys, reload, problems } = await keysOf(t, apiKeyRecord(key));
  await revokeKey(path, key.slice(-8));
  const { readFileSync: read } = fs;
  const withoutDescriptors = (): never => {
    throw Object.assign(new Error('EMFILE: too many open files'), { code: 'EMFILE' });
  };
  fs.readFileSync = withoutDescriptors;
  syncBuiltinESMExports();
  t.teardown(() => {
    fs.readFileSync = read;
    syncBuiltinESMExports();
  });
  await reload();
  t.match(keys.problem, 'EMFILE');
  t.match(keys.find(key), { key: key.slice(-8) });
  fs.readFileSync = read;
  syncBuiltinESMExports();
  await reload();
  t.same([keys.problem, keys.find(key)], [undefined, undefined]);
  t.match(problems, [/EMFILE/, 'recovered']);
});

t.test('47: if the folder can not be written the change is refused and the old file stays', async (t) => {
  const { path } = await keysOf(t, apiKeyRecord(generateApiKey()));
  const before = readFileSync(path, 'utf8');
  if (process.getuid?.() === 0) {
    await t.rejects(
      issueKeys('/proc/keys.json', apiKeyRecord(generateApiKey())),
      StartError,
      'root may write anywhere else',
    );
  } else {
    chmodSync(t.testdirName, 0o500);
    t.teardown(() => chmodSync(t.testdirName, 0o700));
    await t.rejects(issueKeys(path, apiKeyRecord(generateApiKey())), StartError);
  }
  t.equal(readFileSync(path, 'utf8'), before);
});

t.test('48: no concurrent change of the file is lost', async (t) => {
  const path = apiKeysPath(t.testdir());
  await Promise.all(Array.from({ length: 20 }, () => issueKeys(path, apiKeyRecord(generateApiKey()))));
  t.equal(readApiKeys(path).length, 20);
});

t.test('the lock of a dead process is removed; that of a living one is waited for', async (t) => {
  const path = apiKeysPath(t.testdir({ 'keys.json.lock': '999999999 of the dead' }));
  await issueKeys(path, apiKeyRecord(generateApiKey()));
  t.equal(readApiKeys(path).length, 1);
});
