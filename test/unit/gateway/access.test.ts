import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs, {
  appendFileSync,
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { crc32 } from 'node:zlib';
import { ed25519 } from '@noble/curves/ed25519.js';
import bs58 from 'bs58';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { isStrongSignature } from '../../../src/client/verify/ed25519-signature.ts';
import { digestOfKey, generateApiKey, isApiKey } from '../../../src/gateway/access/api-keys/api-key.ts';
import {
  type ApiKeyRecord,
  formatKeyFile,
  isKeyValid,
  parseVersionedKeys,
} from '../../../src/gateway/access/api-keys/api-key-record.ts';
import { ApiKeyRegistry } from '../../../src/gateway/access/api-keys/api-key-registry.ts';
import { apiKeysPath, readApiKeys } from '../../../src/gateway/access/api-keys/api-key-store.ts';
import { Authenticator, rateLimitKeyOf } from '../../../src/gateway/access/authenticator.ts';
import { RateLimiter } from '../../../src/gateway/access/limits/rate-limiter.ts';
import type { Principal } from '../../../src/gateway/access/limits/tiers.ts';
import { CounterMember } from '../../../src/gateway/access/quota/counter-member.ts';
import type { CountAnswer, CounterListener, CountReport } from '../../../src/gateway/access/quota/counter-store.ts';
import { capOf } from '../../../src/gateway/access/quota/shared-window.ts';
import { StakeBalances } from '../../../src/gateway/access/stake/stake-balances.ts';
import {
  findStakeProofFault,
  type StakeProof,
  StakeProofVerifier,
  stakeText,
} from '../../../src/gateway/access/stake/stake-proof.ts';
import { UsageCounter } from '../../../src/gateway/access/usage/usage-counter.ts';
import { appendUsage, readUsage, usagePath } from '../../../src/gateway/access/usage/usage-file.ts';
import {
  dayOf,
  formatUsageLine,
  parseUsageLine,
  REQUEST_OUTCOMES,
  shownUsage,
  type UsageRow,
} from '../../../src/gateway/access/usage/usage-line.ts';
import { prepareCompaction, UsageTail } from '../../../src/gateway/access/usage/usage-tail.ts';
import { createUsagePage } from '../../../src/gateway/admin/usage-page.ts';
import type { Clock } from '../../../src/shared/domain/clock.ts';
import { StartError } from '../../../src/shared/domain/start-error.ts';
import { DurableWrites } from '../../../src/shared/runtime/durable-writes.ts';
import { acquirePidLock } from '../../../src/shared/runtime/files/pid-lock.ts';
import { apiKeyRecord, issueKeys, revokeKey } from '../../support/access/api-key-fixtures.ts';
import { DEFAULT_TIERS } from '../../support/access/default-tiers.ts';
import { guessKeys } from '../../support/access/key-guessing.ts';
import { QuotaMembers, SHARED_LIMIT } from '../../support/access/quota-members.ts';
import { ManualClock } from '../../support/manual-clock.ts';

t.test('api-key-store', async (t) => {
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
          return JSON.stringify(parseVersionedKeys(formatKeyFile(keys)).keys) === JSON.stringify(keys);
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
      { keys: [{ ...good, expiresAt: '2027-02-31' }] },
      { keys: [{ ...good, expiresAt: '2027-02-31T00:00:00Z' }] },
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
    const folder = t.testdir({ present: {} });
    const slotgate = fileURLToPath(new URL('../../../src/main.js', import.meta.url));
    for (const name of ['present', 'new/state']) {
      const create = `exec '${process.execPath}' '${slotgate}' keys create --tier build --label x --state '${folder}/${name}'`;
      const { status, stdout, stderr } = spawnSync('sh', ['-c', `ulimit -f 0; ${create}`], { encoding: 'utf8' });
      t.same([status, stdout], [1, '']);
      t.match(stderr, /^slotgate: .*keys\.json: E/);
    }
    t.same(readdirSync(folder, { recursive: true }), ['present']);
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
    t.equal(isKeyValid({ ...record, isRevoked: true }, 0), false, 'without grace, whatever the clock says');
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

  t.test('47: a file that cannot be read is reported once, and the keys loaded before stay valid', async (t) => {
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

  t.test('47: if the folder cannot be written the change is refused and the old file stays', async (t) => {
    const { path } = await keysOf(t, apiKeyRecord(generateApiKey()));
    const before = readFileSync(path, 'utf8');
    if (process.getuid?.() === 0) {
      await t.rejects(issueKeys('/proc/keys.json', apiKeyRecord(generateApiKey())), StartError, 'root may elsewhere');
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
});

t.test('api-key', async (t) => {
  t.test('a key is sg_live_, 30 random base62 characters and 6 of a checksum', async (t) => {
    const keys = new Set(Array.from({ length: 1000 }, generateApiKey));
    t.equal(keys.size, 1000);
    for (const key of keys) {
      if (!/^sg_live_[0-9A-Za-z]{36}$/.test(key) || !isApiKey(key)) t.fail(key);
    }
    const seen = new Set([...keys].flatMap((key) => [...key.slice(8, 38)]));
    t.equal(seen.size, 62, 'every digit comes up');
  });

  t.test('the checksum is CRC-32 in base62, as any scanner can compute it', async (t) => {
    // In Python, zlib.crc32(b'sg_live_' + b'0' * 30) is 3643862950
    t.equal(isApiKey('sg_live_0000000000000000000000000000003ybHD4'), true);
    t.equal(isApiKey('sg_live_0000000000000000000000000000003ybHD0'), false);
  });

  t.test('one wrong character, a cut or an addition makes a key invalid', async () => {
    const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_-. ';
    fc.assert(
      fc.property(fc.nat({ max: 43 }), fc.constantFrom(...alphabet), (at, character) => {
        const key = generateApiKey();
        const slipped = key.slice(0, at) + character + key.slice(at + 1);
        return isApiKey(slipped) === (slipped === key) && !isApiKey(key + character) && !isApiKey(key.slice(0, at));
      }),
    );
  });

  t.test('no other text is a key, however long', async (t) => {
    fc.assert(fc.property(fc.string({ maxLength: 60 }), (text) => !isApiKey(text)));
    for (const text of ['a', '_', '\0', '\u{10ffff}']) t.equal(isApiKey(`sg_live_${text.repeat(1_000_000)}`), false);
  });

  t.test('only the SHA-256 of a key is stored', async (t) => {
    const key = generateApiKey();
    t.equal(digestOfKey(key), createHash('sha256').update(key).digest('hex'));
  });
});

t.test('key-guessing', async (t) => {
  // Next to other work a few tries say nothing about timing: the catalogue's row tests that.
  t.test('24: guesses that are wrong in one character are never accepted', async (t) => {
    t.equal((await guessKeys(t.testdir(), 10_000)).accepted, 0);
  });
});

t.test('authenticator', async (t) => {
  const HOME = Uint8Array.of(127, 0, 0, 1).buffer;
  const ISSUED = 1_700_000_000;
  const STEP = 1000n;
  const WALLET = '1'.repeat(32);

  const ofKey = (id: string, tier: 'build' | 'scale'): Principal => ({
    id: `key ${id}`,
    key: id,
    tier: DEFAULT_TIERS[tier],
    perIpLimit: undefined,
  });
  const KEYS = new Map([
    ['good', ofKey('good', 'build')],
    ['large', ofKey('large', 'scale')],
  ]);

  /**
   * Creates an authenticator with two known keys, where every proof signed `1` is valid and a wallet has the balance that
   * the test sets.
   */
  function callersOf({ held, knowsWallets = true }: { held?: bigint; knowsWallets?: boolean } = {}) {
    const clock = new ManualClock(ISSUED * 1000);
    const rateLimiter = new RateLimiter({ free: { units: 12, windowSeconds: 10 }, trackedAddresses: 100 }, clock);
    const state = { verified: 0, isTrue: true };
    const verify = (): boolean => {
      state.verified++;
      return state.isTrue;
    };
    const stake = {
      proofs: new StakeProofVerifier('host', verify, clock),
      balances: { balanceOf: () => held ?? 0n, balanceInUse: () => held },
      step: STEP,
    };
    const keys = {
      find: (key: string) => KEYS.get(key),
      tierOf: (id: string) => (id === 'good' ? DEFAULT_TIERS.build : undefined),
    };
    const callers = new Authenticator({
      tiers: DEFAULT_TIERS,
      keys,
      rateLimiter,
      stake: knowsWallets ? stake : undefined,
    });
    const count = (headers: Readonly<Record<string, string>>) => {
      const lines = {
        getHeader: (name: string) => headers[name] ?? '',
        forEach: (visit: (name: string, value: string) => void) =>
          Object.entries(headers).forEach(([name, value]) => void visit(name, value)),
      };
      const { account, credentialsError } = callers.open(lines, HOME);
      const { principal } = account;
      return { principal, credentialsError, quota: rateLimiter.consume(HOME, 1, principal) };
    };
    return { callers, state, count };
  }

  const proof = (issued = ISSUED) => ({
    'x-stake-wallet': WALLET,
    'x-stake-issued': `${issued}`,
    'x-stake-signature': '1'.repeat(64),
  });

  t.test('a caller without credentials is its address, in the free tier', async (t) => {
    const { callers, count } = callersOf();
    const { principal, quota, credentialsError } = count({});
    t.match({ principal, credentialsError }, { principal: undefined, credentialsError: undefined });
    t.match(quota, { limit: 12, remaining: 11 });
    t.equal(callers.tierOf(principal), DEFAULT_TIERS.free);
    t.equal(rateLimitKeyOf(HOME, principal), rateLimitKeyOf(HOME, undefined));
  });

  t.test('a valid key is counted as such; an invalid one is refused and counts for the address', async (t) => {
    const { count } = callersOf();
    t.match(count({ 'x-api-key': 'good' }), { principal: { id: 'key good' }, quota: { limit: 500, remaining: 499 } });
    t.match(count({ 'x-api-key': 'bad' }), {
      credentialsError: { code: 'invalid_api_key' },
      quota: { limit: 12, remaining: 11 },
    });
    for (let i = 10; i >= 0; i--) t.match(count({ 'x-api-key': 'bad' }).quota, { allowed: true, remaining: i });
    t.match(count({ 'x-api-key': 'bad' }).quota, { allowed: false });
  });

  t.test('empty credentials are invalid, since their sender expects more than the free tier', async (t) => {
    const { count } = callersOf();
    t.match(count({ 'x-api-key': '' }), { principal: undefined, credentialsError: { code: 'invalid_api_key' } });
    t.match(count({ 'x-stake-wallet': '' }), { credentialsError: { code: 'invalid_stake_proof' } });
    const withoutTier = callersOf({ knowsWallets: false });
    t.equal(withoutTier.count({ 'x-stake-wallet': '' }).credentialsError, undefined, 'nobody reads it here');
  });

  t.test('a wallet gets the free tier once more for each step of its balance', async (t) => {
    const { callers, count } = callersOf({ held: 7n * STEP + 999n });
    const { principal, quota } = count(proof());
    t.match(quota, { limit: 800, remaining: 799 });
    t.match(callers.tierOf(principal), { priority: true, streams: 40, subscriptions: 80 });
    t.equal(rateLimitKeyOf(HOME, principal), `wallet ${WALLET}`);
  });

  t.test('a wallet below one step changes nothing', async (t) => {
    const { count } = callersOf({ held: STEP - 1n });
    t.match(count(proof()), { principal: undefined, quota: { limit: 12 }, credentialsError: undefined });
    t.match(count({ 'x-api-key': 'good', ...proof() }), { principal: { id: 'key good' }, quota: { limit: 500 } });
  });

  t.test('of a key and a wallet the one with the higher rate counts, under the identity of the key', async (t) => {
    const few = callersOf({ held: 4n * STEP });
    t.match(few.count({ 'x-api-key': 'good', ...proof() }).quota, { limit: 500 }, '50 a second each: the key’s own');
    const more = callersOf({ held: 5n * STEP });
    const { principal, quota } = more.count({ 'x-api-key': 'good', ...proof() });
    t.match({ principal, quota }, { principal: { id: 'key good', key: 'good' }, quota: { limit: 600 } });
    t.match(more.count({ 'x-api-key': 'large', ...proof() }).quota, { limit: 30_000 });
  });

  t.test('an invalid proof is refused, with a key too, and its verification counts for the address', async (t) => {
    const { count, state } = callersOf({ held: STEP });
    state.isTrue = false;
    const refused = { principal: undefined, credentialsError: { code: 'invalid_stake_proof' } };
    t.match(count(proof()), { ...refused, quota: { remaining: 6 } });
    t.match(count({ 'x-api-key': 'good', ...proof() }), { ...refused, quota: { remaining: 0 } });
  });

  t.test('a caller whose address has spent its quota causes no more verification', async (t) => {
    const { count, state } = callersOf({ held: STEP });
    count(proof());
    for (let i = 0; i < 7; i++) t.equal(count({}).quota.remaining, 6 - i, 'the verification cost five');
    t.equal(state.verified, 1);
    t.match(count(proof(ISSUED - 1)), { quota: { allowed: false, limit: 12 }, credentialsError: undefined });
    t.equal(state.verified, 1);
    t.match(count(proof()).quota, { allowed: true, limit: 200 }, 'a proof verified before is accepted');
  });

  t.test('what is wrong with a proof at first sight costs no verification', async (t) => {
    const { count, state } = callersOf({ held: STEP });
    const shown = count({ ...proof(), 'x-stake-issued': 'today' });
    t.match(shown, { quota: { remaining: 11 }, credentialsError: { code: 'invalid_stake_proof' } });
    t.equal(state.verified, 0);
  });

  t.test('without a configured mint stake headers are ignored', async (t) => {
    const { count } = callersOf({ held: STEP, knowsWallets: false });
    t.match(count({ ...proof(), 'x-stake-signature': '' }), { principal: undefined, credentialsError: undefined });
  });

  t.test('a principal has the tier that its key or its wallet has by now', async (t) => {
    const { callers } = callersOf({ held: 0n });
    const [good, gone] = [ofKey('good', 'scale'), ofKey('large', 'scale')];
    t.equal(callers.isKeyInvalid(good), false);
    t.equal(callers.currentTierOf(good), DEFAULT_TIERS.build, 'its tier was changed');
    t.equal(callers.isKeyInvalid(gone), true);
    t.equal(callers.currentTierOf(gone), undefined);
    const wallet = { ...good, id: 'wallet w', key: undefined, wallet: 'w' };
    t.equal(callers.currentTierOf(wallet), undefined, 'it holds nothing any more');
    t.equal(callers.currentTierOf({ ...good, wallet: 'w' }), DEFAULT_TIERS.build, 'the key is left');
    t.equal(callersOf().callers.currentTierOf(wallet), wallet.tier, 'its balance is not known now');
    const rich = callersOf({ held: 20n * STEP }).callers;
    t.same(rich.currentTierOf(wallet), DEFAULT_TIERS.staked(20n));
    t.same(rich.currentTierOf({ ...good, wallet: 'w' }), DEFAULT_TIERS.staked(20n), 'the wallet has the higher one');
  });
});

t.test('shared-window', async (t) => {
  const { units: LIMIT, windowSeconds } = SHARED_LIMIT;
  const WINDOW_MS = windowSeconds * 1000;
  const CALLER = Uint8Array.of(10, 0, 0, 1).buffer;

  t.test('a cap is a part of what is left, at least 2 and never more than is left', async (t) => {
    t.match([capOf(100, 0, 4), capOf(100, 60, 4), capOf(100, 60, 1)], [12.5, 5, 20]);
    t.match([capOf(100, 95, 4), capOf(100, 99, 4), capOf(100, 100, 4), capOf(100, 180, 4)], [2, 1, 0, 0]);
    t.equal(capOf(100, 0, Number.POSITIVE_INFINITY), 2);
  });

  /** A member of `members` whose store a test plays. */
  function openMember(members: number) {
    const clock = new ManualClock();
    const reports: CountReport[] = [];
    const playing = {
      answer: ({ windowMs, total, counted, spent }: CountReport): Partial<CountAnswer> | undefined | 'lost' => ({
        ...{ total: total + spent - counted, counted: spent, window: clock.now() + windowMs, endsInMs: windowMs },
      }),
      isLost: false,
      listener: undefined as CounterListener | undefined,
    };
    const store = {
      join(_: string, listener: CounterListener) {
        playing.listener = listener;
        return {
          members: () => members,
          async report(sent: readonly CountReport[]) {
            reports.push(...sent);
            const answers = sent.map(playing.answer);
            if (playing.isLost || answers.includes('lost')) throw new Error('lost');
            return answers.map((answer, i) => answer && ({ ...sent[i], ...(answer as object) } as CountAnswer));
          },
          leave: () => {},
        };
      },
    };
    const afterTurn = (work: () => void) => clock.after(0, work);
    const counters = new CounterMember({ store, member: '', clock, afterTurn });
    const limiter = new RateLimiter({ free: SHARED_LIMIT, trackedAddresses: 10 }, clock, (name, capacity) =>
      counters.createBook(name, capacity),
    );
    const arrive = async (): Promise<void> => {
      for (let i = 0; i < 20; i++) {
        await Promise.resolve();
        clock.advance(0);
      }
    };
    /** Spends until the first refusal; returns how much that was. */
    const drain = (): number => {
      for (let count = 0; ; count++) if (!limiter.consume(CALLER, 1).allowed) return count;
    };
    return { clock, reports, playing, counters, limiter, arrive, drain };
  }

  t.test('a member that joins may spend 2 until its first report is answered', async (t) => {
    const { limiter, arrive, drain } = openMember(1);
    t.equal(drain(), 2);
    t.equal(limiter.peek(CALLER).remaining, 98, 'the rest is left for later');
    await arrive();
    t.equal(drain(), 49, 'half of what is left');
  });

  t.test('a member that called the store before its first caller has its whole cap, store or not', async (t) => {
    for (const isLost of [false, true]) {
      const { playing, counters, arrive, drain } = openMember(4);
      playing.isLost = isLost;
      const joined = counters.join();
      await arrive();
      await joined;
      t.equal(drain(), isLost ? LIMIT / 4 : Math.floor(LIMIT / 8));
    }
  });

  t.test('it reports when it has used half of its cap, in one call for many requests', async (t) => {
    const { reports, limiter, arrive } = openMember(2);
    limiter.consume(CALLER, 1);
    await arrive();
    reports.length = 0;
    for (let i = 0; i < 12; i++) limiter.consume(CALLER, 1);
    await arrive();
    t.equal(reports.length, 0, '12 of 24.75');
    limiter.consume(CALLER, 1);
    limiter.consume(CALLER, 1);
    await arrive();
    t.match(reports, [{ total: 1, counted: 1, spent: 15 }]);
  });

  t.test('what is given back stays with the member, and no report takes it from the total', async (t) => {
    const { reports, limiter, arrive } = openMember(2);
    limiter.consume(CALLER, 2);
    await arrive();
    limiter.giveBack(CALLER, 2);
    t.equal(limiter.consume(CALLER, 1).remaining, 99);
    limiter.consume(CALLER, 25);
    await arrive();
    t.match(reports.at(-1), { total: 2, counted: 2, spent: 26 });
  });

  t.test('without the store: half of the last balance by all together, then an equal part of each limit', async (t) => {
    const { clock, playing, limiter, arrive, drain } = openMember(4);
    limiter.consume(CALLER, 2);
    await arrive();
    playing.answer = () => 'lost';
    let spent = 0;
    for (let i = 0; i < 5; i++) {
      spent += drain();
      await arrive();
      clock.advance(100);
    }
    t.equal(spent, Math.floor(98 / 8));
    clock.advance(WINDOW_MS);
    await arrive();
    t.equal(drain(), LIMIT / 4);
  });

  t.test('units that were counted ahead, and answered too late, are there when the request comes again', async (t) => {
    const { clock, playing, counters, limiter, arrive } = openMember(2);
    const window = clock.now() + WINDOW_MS;
    let sum = 0;
    let isLate = false;
    playing.answer = ({ windowMs, spent, prepay }) => {
      sum = Math.max(sum, spent + prepay);
      return isLate ? 'lost' : { total: sum, counted: sum, window, endsInMs: windowMs };
    };
    limiter.consume(CALLER, 1);
    await arrive();
    isLate = true;
    const first = limiter.consume(CALLER, 60).allowed;
    await arrive();
    isLate = false;
    clock.advance(50);
    await arrive();
    t.match([first, limiter.consume(CALLER, 60).allowed, counters.problem], [false, true, undefined]);
  });

  t.test('an answer counts, too, that an announcement about the same window has overtaken', async (t) => {
    const { clock, playing, counters, limiter, arrive, reports } = openMember(2);
    const window = clock.now() + WINDOW_MS;
    let [sum, own] = [30, 0];
    playing.answer = ({ id, windowMs, spent }) => {
      const ends = { windowMs, window, endsInMs: WINDOW_MS - 5 };
      sum += spent - own;
      own = spent;
      const answer = { ...ends, total: sum, counted: own };
      sum += 20;
      if (reports.length === 1) playing.listener?.onTotal({ ...ends, id, total: sum });
      return answer;
    };
    limiter.consume(CALLER, 1);
    await arrive();
    limiter.consume(CALLER, 10);
    await arrive();
    t.match([counters.problem, reports.at(-1)], [undefined, { total: 51, counted: 1, spent: 11 }]);
  });

  t.test('an announcement may include the units of a report whose answer was lost', async (t) => {
    const { clock, playing, counters, limiter, arrive, reports } = openMember(2);
    const window = clock.now() + WINDOW_MS;
    let [sum, own, isLost] = [30, 0, false];
    playing.answer = ({ spent }) => {
      sum += spent - own;
      own = spent;
      return isLost ? 'lost' : { window, endsInMs: WINDOW_MS, total: sum, counted: own };
    };
    limiter.consume(CALLER, 1);
    await arrive();
    isLost = true;
    limiter.consume(CALLER, 10);
    await arrive();
    const { id = '' } = { ...reports.at(-1) };
    playing.listener?.onTotal({ id, window, windowMs: WINDOW_MS, endsInMs: WINDOW_MS, total: sum });
    limiter.consume(CALLER, 2);
    isLost = false;
    clock.advance(50);
    await arrive();
    t.match([counters.problem, reports.at(-1)], [undefined, { total: 41, counted: 1, spent: 13 }]);
  });

  t.test('what a late report of the window before has counted in this one is known as counted', async (t) => {
    const { clock, playing, counters, limiter, arrive, reports } = openMember(2);
    const window = clock.now() + WINDOW_MS;
    let [sum, own] = [48, 48];
    playing.answer = ({ spent }) => {
      sum += Math.max(0, spent - own);
      own = Math.max(own, spent);
      return { window, endsInMs: WINDOW_MS, total: sum, counted: own };
    };
    for (const units of [1, 10, 7]) {
      limiter.consume(CALLER, units);
      await arrive();
    }
    t.match([counters.problem, reports.at(-1)], [undefined, { total: 58, counted: 58, spent: 65 }]);
  });

  t.test('an answer about the next window is no lie, however long this one lasts here', async (t) => {
    const { clock, playing, counters, limiter, arrive } = openMember(2);
    const ends = { window: clock.now() + WINDOW_MS, endsInMs: WINDOW_MS };
    playing.answer = () => ({ ...ends, total: 60, counted: 1 });
    limiter.consume(CALLER, 1);
    await arrive();
    playing.answer = () => ({ ...ends, window: ends.window + WINDOW_MS, total: 0, counted: 0 });
    limiter.consume(CALLER, 10);
    await arrive();
    t.match([counters.problem, limiter.peek(CALLER).remaining], [undefined, 30]);
  });

  t.test('an answer to the last report of the window before is none about this one', async (t) => {
    const { clock, playing, counters, limiter, arrive, reports } = openMember(2);
    const ends = { window: clock.now() + WINDOW_MS, windowMs: WINDOW_MS, endsInMs: WINDOW_MS };
    const next = { ...ends, window: ends.window + WINDOW_MS, total: 45 };
    playing.answer = () => ({ ...ends, total: 60, counted: 1 });
    limiter.consume(CALLER, 1);
    await arrive();
    playing.answer = ({ id }) => {
      playing.listener?.onTotal({ ...ends, id, total: 130 });
      clock.advance(WINDOW_MS);
      limiter.peek(CALLER); // the next has begun, with the debt of this one
      playing.listener?.onTotal({ ...next, id });
      return { ...next, counted: 0 };
    };
    limiter.consume(CALLER, 10);
    await arrive();
    t.match([counters.problem, limiter.peek(CALLER).remaining], [undefined, 55]);
    t.match(reports.at(-1), { spent: 11 });
  });

  t.test('an announcement about the window before is none about this one', async (t) => {
    const { clock, playing, limiter, arrive, reports } = openMember(2);
    const window = clock.now() + WINDOW_MS;
    limiter.consume(CALLER, 1);
    await arrive();
    clock.advance(WINDOW_MS);
    limiter.consume(CALLER, 1);
    const { id = '' } = { ...reports[0] };
    playing.listener?.onTotal({ id, window, windowMs: WINDOW_MS, endsInMs: 30, total: 90 });
    t.equal(limiter.peek(CALLER).remaining, 99);
  });

  t.test('where the store has no room each member has an equal part of the limit', async (t) => {
    const { playing, limiter, arrive, drain } = openMember(4);
    playing.answer = () => undefined;
    limiter.consume(CALLER, 1);
    await arrive();
    t.equal(1 + drain(), LIMIT / 4);
  });

  const LIES: readonly (readonly [name: string, lie: Partial<CountAnswer>])[] = [
    ['a total below 0', { total: -1 }],
    ['a total with a fraction', { total: 10.5 }],
    ['no number', { total: Number.NaN }],
    ['a total above the limit and one limit more', { total: 201 }],
    ['a total that shrinks', { total: 0 }],
    ['a window without a name', { window: 0, endsInMs: WINDOW_MS }],
    ['a window that has ended', { endsInMs: -1 }],
    ['a window that is too long', { endsInMs: WINDOW_MS + 1001 }],
    ['no end', { endsInMs: Number.NaN }],
  ];

  t.test('an impossible answer is not believed, and reported as a problem', async (t) => {
    for (const [name, lie] of LIES) {
      const { clock, playing, counters, limiter, arrive, drain } = openMember(2);
      const honest = playing.answer;
      playing.answer = (report) => ({ ...(honest(report) as CountAnswer), ...lie });
      let spent = 0;
      for (let i = 0; i < 300; i++) {
        if (limiter.consume(CALLER, 1).allowed) spent++;
        await arrive();
      }
      t.ok(spent >= 2 && spent <= LIMIT / 4, `${name}: ${spent}`);
      t.ok(counters.problem, name);
      playing.answer = honest;
      clock.advance(WINDOW_MS);
      t.equal(drain(), LIMIT / 2, 'its part of the next window');
      await arrive();
      t.equal(counters.problem, undefined, `${name}, and then the truth`);
    }
  });

  t.test('windows that end in a moment, each time, give a caller no more than one window besides', async (t) => {
    const { clock, playing, limiter, arrive } = openMember(1);
    const honest = playing.answer;
    playing.answer = (report) => ({ ...(honest(report) as CountAnswer), endsInMs: 1 });
    let spent = 0;
    for (let i = 0; i < 300; i++) {
      if (limiter.consume(CALLER, 1).allowed) spent++;
      await arrive();
      clock.advance(2);
    }
    t.ok(spent <= 1.5 * LIMIT, `${spent}`);
  });

  t.test('no answer or announcement of any numbers lets a caller have more', async () => {
    const number = fc.oneof(fc.nat(250), fc.integer(), fc.double(), fc.nat(2 * WINDOW_MS));
    const lies = fc.array(fc.record({ total: number, counted: number, window: number, endsInMs: number }), {
      minLength: 50,
      maxLength: 50,
    });
    await fc.assert(
      fc.asyncProperty(lies, async (all) => {
        const { clock, playing, limiter, arrive, reports } = openMember(2);
        const startedMs = clock.monotonic();
        let spent = 0;
        for (const lie of all) {
          playing.answer = () => lie;
          for (let i = 0; i < 20; i++) if (limiter.consume(CALLER, 1).allowed) spent++;
          await arrive();
          const id = reports.at(-1)?.id ?? '';
          playing.listener?.onTotal({ id, windowMs: WINDOW_MS, ...lie });
          clock.advance(60);
        }
        const windows = 1 + Math.ceil((clock.monotonic() - startedMs) / WINDOW_MS);
        return spent <= windows * 1.5 * LIMIT;
      }),
      { numRuns: 80, seed: 3 },
    );
  });

  t.test('a caller that is new to a member has what the others have left, however often it looks', async (t) => {
    const members = new QuotaMembers(2);
    for (const member of [0, 1]) members.consume(member);
    await members.arrive(); // both have joined
    members.clock.advance(WINDOW_MS);
    for (let i = 0; i < LIMIT; i++) {
      members.consume(0);
      await members.arrive();
    }
    for (let i = 0; i < 3; i++) {
      t.equal(members.peek(1).remaining, 0);
      t.notOk(members.consume(1).allowed);
      t.notOk(members.consume(1, 60).allowed);
      await members.arrive();
    }
  });

  t.test('a fixed number of members spends at most half of the limit, and 2 each, above it', async (t) => {
    for (const count of [2, 4, 8]) {
      const members = new QuotaMembers(count);
      for (let member = 0; member < count; member++) members.consume(member);
      await members.arrive(); // all have joined
      members.clock.advance(WINDOW_MS);
      members.delayMs = (member) => (member === 0 ? 0 : WINDOW_MS); // the others learn of nothing in time
      const drain = async (member: number): Promise<number> => {
        let spent = 0;
        for (let i = 0; i < 2 * LIMIT; i++) {
          if (members.consume(member).allowed) spent++;
          await members.arrive();
        }
        return spent;
      };
      let spent = 0;
      for (let member = 0; member < count; member++) spent += await drain(member);
      t.equal(spent, LIMIT + (count - 1) * Math.floor(LIMIT / (2 * count)), `${count} members`);
      t.ok(spent <= 1.5 * LIMIT + 2 * count);
    }
  });
});

t.test('shared-quota', async (t) => {
  const { units: LIMIT, windowSeconds } = SHARED_LIMIT;

  /** What one of N members may charge before the ledger has spoken. */
  const creditOf = (members: number): number => Math.max(2, Math.ceil(LIMIT / (2 * members)));

  t.test('a caller that only one member sees has its whole limit, and no unit more', async (t) => {
    const members = new QuotaMembers(4);
    const allowed: boolean[] = [];
    const remaining: number[] = [];
    for (let i = 0; i < 120; i++) {
      const quota = members.consume(0);
      allowed.push(quota.allowed);
      remaining.push(quota.remaining);
      await members.arrive();
    }
    t.same(allowed, [...Array(100).fill(true), ...Array(20).fill(false)]);
    t.same(
      remaining.slice(0, 100),
      Array.from({ length: 100 }, (_, i) => 99 - i),
    );
  });

  t.test('members spend one limit together, whichever a request comes to', async (t) => {
    const members = new QuotaMembers(4);
    let allowed = 0;
    for (let i = 0; i < 300; i++) {
      if (members.consume((i * 7 + (i % 5)) % 4).allowed) allowed++;
      await members.arrive();
    }
    t.equal(allowed, LIMIT);
    const left = [0, 1, 2, 3].map((member) => members.peek(member).remaining);
    t.match(left, [0, 0, 0, 0]);
    const resets = new Set([0, 1, 2, 3].map((member) => members.peek(member).reset));
    t.equal(resets.size, 1, 'all are in one window');
    members.clock.advance(windowSeconds * 1000);
    t.ok(members.consume(3).allowed);
  });

  t.test('callers read the end of a window by the clock of their member, whatever the store says', async (t) => {
    const clock = new ManualClock();
    const window = clock.now() + 3_600_000;
    const store = {
      join: () => ({
        members: () => 2,
        leave() {},
        report: async (reports: readonly CountReport[]) =>
          reports.map(({ id, windowMs, spent }) => ({
            ...{ id, windowMs, window, endsInMs: windowMs - 3000, total: spent, counted: spent },
          })),
      }),
    };
    const member = new CounterMember({ store, member: '0', clock, afterTurn: (work) => work() });
    await member.join();
    const limiter = new RateLimiter({ free: SHARED_LIMIT, trackedAddresses: 10 }, clock, member.createBook);
    const address = new ArrayBuffer(4);
    const { reset } = { ...limiter.consume(address, 90) };
    await new Promise(setImmediate);
    t.match([member.problem, reset - limiter.peek(address).reset], [undefined, 3], 'it ends three seconds earlier');
  });

  t.test('a debt is that of all members, and the next window pays it', async (t) => {
    const members = new QuotaMembers(2);
    for (const member of [0, 1]) members.consume(member);
    await members.arrive();
    members.limiterOf(0).charge(Uint8Array.of(10, 0, 0, 1).buffer, 150);
    await members.arrive();
    t.match([members.consume(0).allowed, members.consume(1).allowed], [false, false]);
    members.clock.advance(windowSeconds * 1000 + 1);
    await members.arrive();
    let allowed = 0;
    for (let i = 0; i < 200; i++) {
      if (members.consume(i % 2).allowed) allowed++;
      await members.arrive();
    }
    t.ok(Math.abs(allowed - 48) <= 1, `${allowed}: the limit less the debt of 52`);
  });

  t.test('a member that joins each window late has all of the next one as it begins', async (t) => {
    const members = new QuotaMembers(2);
    const spend = async (member: number, requests: number): Promise<number> => {
      let allowed = 0;
      for (let i = 0; i < requests; i++) {
        if (members.consume(member).allowed) allowed++;
        await members.arrive();
      }
      return allowed;
    };
    for (const [member, requests, thenMs] of [
      [0, 20, 9000],
      [1, 20, 2000],
      [0, 20, 7000],
      [1, 60, 4000],
      [0, 1, 1000],
    ] as const) {
      await spend(member, requests);
      members.clock.advance(thenMs);
    }
    t.equal(await spend(1, 40), 40);
  });

  t.test('a caller has one limit also where members see different tiers of it', async (t) => {
    const members = new QuotaMembers(4);
    const tierOf = (member: number) => ({ ...DEFAULT_TIERS.build, ...SHARED_LIMIT, units: 100 - 5 * member });
    const address = new ArrayBuffer(4);
    let spent = 0;
    for (let i = 0; i < 400; i++) {
      const principal = { id: 'wallet w', tier: tierOf(i % 4), key: undefined, perIpLimit: undefined };
      if (members.limiterOf(i % 4).consume(address, 1, principal).allowed) spent++;
      if (i % 4 === 3) await members.arrive();
    }
    t.ok(spent > 90 && spent < 158, `${spent}`);
  });

  t.test('a price above what is granted ahead is requested whole', async (t) => {
    const members = new QuotaMembers(4);
    members.consume(0);
    await members.arrive();
    const first = members.consume(0, 60).allowed;
    await members.arrive();
    t.match([first, members.consume(0, 60).allowed], [false, true]);
  });

  t.test('another member or another ledger gives no new window', async (t) => {
    const members = new QuotaMembers(2);
    const drain = async (): Promise<number> => {
      let allowed = 0;
      for (let i = 0; i < 200; i++) {
        if (members.consume(i % 2).allowed) allowed++;
        await members.arrive();
      }
      return allowed;
    };
    t.equal(await drain(), LIMIT);
    members.killLedger();
    await members.arrive();
    t.equal(await drain(), 0, 'members have reported to the store again');
    members.kill(0);
    t.ok((await drain()) <= creditOf(2), 'a new member has its credit at most');
  });

  /** One step of a schedule. */
  const stepFor = (members: number) =>
    fc.oneof(
      { weight: 12, arbitrary: fc.record({ member: fc.nat(members - 1), times: fc.integer({ min: 1, max: 60 }) }) },
      { weight: 6, arbitrary: fc.record({ pass: fc.integer({ min: 0, max: 200 }) }) },
      { weight: 2, arbitrary: fc.record({ delay: fc.integer({ min: 0, max: 400 }) }) },
      { weight: 1, arbitrary: fc.record({ kill: fc.nat(members - 1) }) },
    );

  t.test('law: whatever is requested, delayed or dies, the sum is at most the limit and each credit', async (t) => {
    const schedules = fc
      .integer({ min: 2, max: 6 })
      .chain((count) =>
        fc.tuple(fc.constant(count), fc.nat(400), fc.array(stepFor(count), { minLength: 20, maxLength: 80 })),
      );
    let most = 0;
    await fc.assert(
      fc.asyncProperty(schedules, async ([count, firstDelayMs, steps]) => {
        const members = new QuotaMembers(count);
        let delayMs = firstDelayMs;
        let random = 1;
        members.delayMs = () => {
          random = (Math.imul(random, 48271) >>> 0) % 2147483647;
          return delayMs === 0 ? 0 : random % delayMs;
        };
        const startedMs = members.clock.monotonic();
        let charged = 0;
        let credits = count;
        for (const step of steps) {
          if (members.clock.monotonic() - startedMs > windowSeconds * 1000 - 500) break; // one window
          if ('member' in step)
            for (let i = 0; i < step.times; i++) charged += members.consume(step.member).allowed ? 1 : 0;
          else if ('pass' in step) members.clock.advance(step.pass);
          else if ('delay' in step) delayMs = step.delay;
          else {
            members.kill(step.kill);
            credits++;
          }
          await members.arrive();
        }
        most = Math.max(most, charged);
        return charged <= LIMIT + credits * creditOf(count);
      }),
      { numRuns: 300, seed: 7 },
    );
    t.ok(most > LIMIT, `the most that was charged: ${most}`);
  });
});

t.test('stake-balances', async (t) => {
  const HOLD_S = 600;
  const STEP = 100n;

  const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

  /** Creates wallets whose balances the test sets, and their sampler. */
  function stakeBalancesOf({ wallets: maxWallets = 1000, dice = 0.5, holdSeconds = HOLD_S } = {}) {
    const clock = new ManualClock();
    const balances = new Map<string, bigint>();
    const state = { down: false, reads: 0 };
    const problems: unknown[] = [];
    const stakeBalances = new StakeBalances({
      readBalance: async (wallet) => {
        state.reads++;
        if (state.down) throw new Error('no node');
        return balances.get(wallet) ?? 0n;
      },
      holdSeconds,
      step: STEP,
      maxWallets,
      clock,
      random: () => dice,
      onProblem: (problem) => problems.push(problem),
    });
    /** Lets time pass while callers use these wallets each second. */
    const pass = async (seconds: number, ...used: string[]): Promise<void> => {
      for (let i = 0; i < seconds; i++) {
        for (const wallet of used) stakeBalances.balanceOf(wallet);
        clock.advance(1000);
        await settle();
      }
    };
    return { clock, balances, state, problems, stakeBalances, pass };
  }

  t.test('a wallet counts nothing until it has been sampled for the whole time', async (t) => {
    const { balances, stakeBalances, pass } = stakeBalancesOf();
    balances.set('w', 1000n);
    t.equal(stakeBalances.balanceOf('w'), 0n);
    await pass(HOLD_S, 'w');
    t.equal(stakeBalances.balanceOf('w'), 0n, 'the first sample came a moment after the first request');
    await pass(1, 'w');
    t.equal(stakeBalances.balanceOf('w'), 1000n);
  });

  t.test('the lowest balance of that time counts', async (t) => {
    const { balances, stakeBalances, pass } = stakeBalancesOf();
    balances.set('w', 1000n);
    await pass(HOLD_S + 1, 'w');
    balances.set('w', 400n);
    await pass(60, 'w');
    t.equal(stakeBalances.balanceOf('w'), 400n, 'a lower balance counts as soon as it is sampled');
    balances.set('w', 5000n);
    await pass(HOLD_S - 60, 'w');
    t.equal(stakeBalances.balanceOf('w'), 400n, 'a higher one does not');
    await pass(120, 'w');
    t.equal(stakeBalances.balanceOf('w'), 5000n);
  });

  t.test('what was sampled before a node was found to lie counts no more, and no wallet waits again', async (t) => {
    const { balances, stakeBalances, pass } = stakeBalancesOf();
    balances.set('w', 1000n);
    await pass(HOLD_S - 60, 'w');
    balances.set('w', 1n); // a lie
    await pass(60, 'w');
    balances.set('w', 1000n);
    await pass(1, 'w');
    t.equal(stakeBalances.balanceOf('w'), 1n);
    stakeBalances.clear();
    t.equal(stakeBalances.balanceOf('w'), 1n, 'until it is read again');
    await pass(1, 'w');
    t.equal(stakeBalances.balanceOf('w'), 1000n);
  });

  t.test('a sample that was read before the lie was found, and comes after it, does not count', async (t) => {
    const clock = new ManualClock();
    const answers: ((amount: bigint) => void)[] = [];
    const stakeBalances = new StakeBalances({
      readBalance: () => new Promise((resolve) => answers.push(resolve)),
      holdSeconds: HOLD_S,
      step: STEP,
      maxWallets: 10,
      clock,
      random: () => 0.5,
      onProblem: () => {},
    });
    stakeBalances.balanceOf('w');
    clock.advance(1000);
    stakeBalances.clear();
    answers.shift()?.(7n);
    await settle();
    t.equal(stakeBalances.balanceInUse('w'), undefined);
    clock.advance(1000);
    await settle();
    answers.shift()?.(1000n);
    await settle();
    t.equal(stakeBalances.balanceInUse('w'), 1000n);
  });

  t.test('a wallet counts that came behind more of them than can be read as often as is meant', async (t) => {
    const { balances, stakeBalances, pass } = stakeBalancesOf({ wallets: 2000, holdSeconds: 60 });
    const others = Array.from({ length: 900 }, (_, i) => `empty ${i}`);
    balances.set('w', 1000n);
    const all = [...others, 'w'];
    for (let i = 0; i < 400; i++) {
      const first = (i * 331) % all.length;
      await pass(1, ...all.slice(first), ...all.slice(0, first));
    }
    t.equal(stakeBalances.balanceOf('w'), 1000n);
  });

  t.test('no more wallets are sampled than can be read as often as is meant, at random times', async (t) => {
    const { stakeBalances, pass } = stakeBalancesOf({ wallets: 2000, holdSeconds: 60 });
    for (let i = 0; i < 130; i++) stakeBalances.balanceOf(`w${i}`);
    await pass(1);
    t.equal(stakeBalances.size, 120);
  });

  t.test('tokens that move from wallet to wallet count for none of them', async (t) => {
    const { balances, stakeBalances, pass } = stakeBalancesOf();
    const all = ['a', 'b', 'c'];
    for (let round = 0; round < 30; round++) {
      for (const owner of all) {
        for (const wallet of all) balances.set(wallet, wallet === owner ? 10_000n : 0n);
        await pass(60, ...all);
        const counted = all.map((wallet) => stakeBalances.balanceOf(wallet));
        t.same(counted, [0n, 0n, 0n]);
      }
    }
  });

  t.test('the result never exceeds the lowest balance of the time, and equals it while it is constant', async () => {
    const moves = fc.array(
      fc.record({ seconds: fc.integer({ min: 1, max: 900 }), balance: fc.bigInt({ min: 0n, max: 9n }) }),
      {
        minLength: 1,
        maxLength: 6,
      },
    );
    await fc.assert(
      fc.asyncProperty(moves, fc.double({ min: 0, max: 1, noNaN: true }), async (moves, dice) => {
        const { balances, stakeBalances, pass } = stakeBalancesOf({ dice });
        let longest = 0;
        for (const { seconds, balance } of moves) {
          balances.set('w', balance);
          await pass(seconds, 'w');
          const held = stakeBalances.balanceOf('w');
          // Samples are at most 45 seconds apart, so after that the newest is of this balance.
          if (seconds > 46 && held > balance) return false;
          if (seconds > HOLD_S + 92 && held !== balance) return false;
          longest = Math.max(longest, seconds);
        }
        return stakeBalances.size === 1;
      }),
      { numRuns: 15 },
    );
  });

  t.test('an unused wallet is dropped and starts again', async (t) => {
    const { balances, stakeBalances, pass, state } = stakeBalancesOf();
    balances.set('w', 1000n);
    await pass(HOLD_S + 1, 'w');
    await pass(HOLD_S + 2);
    t.equal(stakeBalances.size, 0);
    const { reads } = state;
    await pass(60);
    t.equal(state.reads, reads, 'unused wallets cause no reads');
    t.equal(stakeBalances.balanceOf('w'), 0n);
  });

  t.test('while reads fail wallets keep their balance for a while, and one problem is reported', async (t) => {
    const { balances, stakeBalances, pass, state, problems } = stakeBalancesOf();
    balances.set('w', 1000n);
    await pass(HOLD_S + 1, 'w');
    state.down = true;
    await pass(300, 'w');
    t.equal(stakeBalances.balanceOf('w'), 1000n);
    t.equal(problems.length, 1);
    await pass(HOLD_S, 'w');
    t.equal(stakeBalances.balanceOf('w'), 0n, 'but no longer than the required time');
    t.equal(stakeBalances.balanceInUse('w'), undefined, 'whoever uses it already loses nothing by that');
    state.down = false;
    await pass(60, 'w');
    t.equal(stakeBalances.balanceOf('w'), 0n, 'the time in between is unknown');
    t.equal(stakeBalances.balanceInUse('w'), 1000n);
    await pass(HOLD_S, 'w');
    t.equal(stakeBalances.balanceOf('w'), 1000n);
  });

  t.test('the number of wallets is limited; one below a step is evicted', async (t) => {
    const { balances, stakeBalances, pass } = stakeBalancesOf({ wallets: 3 });
    balances.set('rich', STEP);
    for (const wallet of ['rich', 'poor', 'poorer']) stakeBalances.balanceOf(wallet);
    t.equal(stakeBalances.balanceOf('early'), 0n);
    t.equal(stakeBalances.balanceInUse('early'), 0n, 'a wallet that is not sampled counts nothing');
    t.equal(stakeBalances.size, 3, 'a wallet without a sample stays');
    await pass(1, 'rich');
    for (let i = 0; i < 100; i++) {
      stakeBalances.balanceOf(`other ${i}`);
      await pass(1, 'rich');
    }
    t.equal(stakeBalances.size, 3);
    await pass(HOLD_S, 'rich');
    t.equal(stakeBalances.balanceOf('rich'), STEP, 'a wallet with enough stays');
  });

  t.test('callers cannot cause more reads than the limit', async (t) => {
    const { stakeBalances, pass, state } = stakeBalancesOf();
    for (let i = 0; i < 1000; i++) stakeBalances.balanceOf(`wallet ${i}`);
    await pass(10);
    t.ok(state.reads <= 11 * 40, `${state.reads} reads in ten seconds`);
  });

  t.test('a closed one reads nothing more', async (t) => {
    const { stakeBalances, pass, state } = stakeBalancesOf();
    stakeBalances.balanceOf('w');
    stakeBalances.close();
    await pass(60, 'w', 'x');
    t.equal(state.reads, 0);
  });
});

t.test('stake-proof', async (t) => {
  const HOST = 'gateway.example';
  const NOW_S = 1_700_000_000;
  const SECRET = new Uint8Array(32).fill(3);
  const WALLET = bs58.encode(ed25519.getPublicKey(SECRET));

  const sign = (text: string): string => bs58.encode(ed25519.sign(new TextEncoder().encode(text), SECRET));

  const proofAt = (issued: number | string, host = HOST): StakeProof => ({
    wallet: WALLET,
    issued: String(issued),
    signature: sign(stakeText(host, WALLET, String(issued))),
  });

  const fault = (proof: StakeProof): string | undefined =>
    findStakeProofFault(proof, HOST, NOW_S * 1000, isStrongSignature);

  t.test('the text to sign is that of the reference', async (t) => {
    t.equal(stakeText('h', 'W', '5'), 'h stake proof v1\nwallet: W\nissued: 5');
  });

  t.test('a proof is valid from two minutes before it was issued until two minutes after a day', async (t) => {
    const ages: readonly [number, string | undefined][] = [
      [-121, 'it was issued in the future'],
      [-120, undefined],
      [0, undefined],
      [86_520, undefined],
      [86_521, 'it was issued more than a day ago'],
    ];
    for (const [age, expected] of ages) t.equal(fault(proofAt(NOW_S - age)), expected, `${age} s old`);
  });

  t.test('a proof is for one host, one wallet and one time', async (t) => {
    const proof = proofAt(NOW_S);
    const other = bs58.encode(ed25519.getPublicKey(new Uint8Array(32).fill(4)));
    const unsigned = 'the wallet did not sign this text';
    t.equal(fault(proofAt(NOW_S, 'other.example')), unsigned);
    t.equal(fault({ ...proof, wallet: other }), unsigned);
    t.equal(fault({ ...proof, issued: String(NOW_S - 1) }), unsigned);
  });

  t.test('anything else is refused, with the reason', async (t) => {
    const proof = proofAt(NOW_S);
    const noTime = 'the time of issue is not in Unix seconds';
    for (const issued of ['', ' 1', '1.5', '0', '-1', '1e9', `0${NOW_S}`, `${NOW_S} `, '9'.repeat(13)])
      t.equal(fault({ ...proof, issued }), noTime, issued);
    for (const wallet of ['', '1', 'O'.repeat(44), `${WALLET}1`, '1'.repeat(10_000)])
      t.equal(fault({ ...proof, wallet }), 'the wallet is not an address');
    for (const signature of ['', WALLET, '0'.repeat(88), '1'.repeat(10_000)])
      t.equal(fault({ ...proof, signature }), 'the signature is not 64 bytes in base58');
    const identity = bs58.encode(Uint8Array.from({ length: 32 }, (_, i) => Number(i === 0)));
    const void64 = bs58.encode(Uint8Array.from({ length: 64 }, (_, i) => Number(i === 0)));
    t.equal(
      fault({ wallet: identity, issued: String(NOW_S), signature: void64 }),
      'the wallet did not sign this text',
      'a weak key, under which any signature is valid, is refused',
    );
  });

  t.test('no change of a proof passes', async () => {
    const proof = proofAt(NOW_S);
    const member = fc.constantFrom('wallet' as const, 'issued' as const, 'signature' as const);
    fc.assert(
      fc.property(member, fc.nat(), fc.constantFrom(...'123456789ABCabc0OIl \n'), (name, place, character) => {
        const at = place % proof[name].length;
        const changed = proof[name].slice(0, at) + character + proof[name].slice(at + 1);
        return changed === proof[name] || fault({ ...proof, [name]: changed }) !== undefined;
      }),
      { numRuns: 200 },
    );
  });

  t.test('a proof is verified once, and expires like any other', async (t) => {
    const clock = new ManualClock(NOW_S * 1000);
    let verified = 0;
    const proofs = new StakeProofVerifier(
      HOST,
      () => {
        verified++;
        return true;
      },
      clock,
    );
    const proof = proofAt(NOW_S);
    t.ok(proofs.mustVerify(proof));
    for (let i = 0; i < 5; i++) t.equal(proofs.findFault(proof), undefined);
    t.equal(verified, 1);
    t.notOk(proofs.mustVerify(proof));
    t.ok(proofs.mustVerify({ ...proof, issued: String(NOW_S + 1) }), 'one signature is not valid for another time');
    clock.advance(86_521_000);
    t.equal(proofs.findFault(proof), 'it was issued more than a day ago');
  });

  t.test('only the newest proofs are cached', async (t) => {
    const proofs = new StakeProofVerifier(HOST, () => true, new ManualClock(NOW_S * 1000));
    const numbered = (issued: number): StakeProof => ({ ...first, issued: String(issued) });
    const first = proofAt(NOW_S);
    for (let i = 0; i <= 10_000; i++) proofs.findFault(numbered(NOW_S - i));
    t.ok(proofs.mustVerify(first), 'the oldest is verified again');
    t.notOk(proofs.mustVerify(numbered(NOW_S - 1)));
  });
});

t.test('usage-counter', async (t) => {
  const DAY = '2026-06-01';
  const START = Date.parse(`${DAY}T12:00:00Z`);

  function usageOf(t: Test, text?: string) {
    const path = usagePath(t.testdir(text === undefined ? {} : { 'usage.log': text }));
    const clock = new ManualClock(START);
    const problems: unknown[] = [];
    const recoveries: number[] = [];
    const open = (): UsageCounter =>
      new UsageCounter({
        path,
        clock,
        writes: new DurableWrites({
          clock,
          onProblem: (problem) => problems.push(problem),
          onRecovery: () => recoveries.push(clock.now()),
        }),
      });
    return { path, clock, problems, recoveries, open, usage: open() };
  }

  const row = (counts: readonly number[], more: Partial<UsageRow> = {}): UsageRow => ({
    day: DAY,
    key: 'k',
    route: '/slot',
    counts,
    units: counts.reduce((sum, count) => sum + count, 0),
    givenBack: 0,
    ...more,
  });

  t.test('nothing is written while another gateway compacts the file, and nothing is lost', async (t) => {
    const { path, clock, usage } = usageOf(t);
    const unlock = acquirePidLock(path);
    usage.count('k', '/slot', 'answered', 1);
    clock.advance(1000);
    t.same(readUsage(path), []);
    if (typeof unlock === 'function') unlock();
    usage.count('k', '/slot', 'answered', 1);
    clock.advance(1000);
    t.same(readUsage(path), [row([2, 0, 0, 0])]);
  });

  t.test('nothing is written behind the end, also of one that was flushed before', async (t) => {
    const { path, clock, usage } = usageOf(t);
    usage.count('k', '/slot', 'answered', 1);
    usage.flush();
    usage.count('k', '/slot', 'answered', 1);
    usage.close();
    const written = readFileSync(path, 'utf8');
    t.same(readUsage(path), [row([2, 0, 0, 0])]);
    clock.advance(5000);
    t.equal(readFileSync(path, 'utf8'), written);
  });

  t.test('units that were given back are counted apart, also after midnight, and by lines of before', async (t) => {
    const { path, clock, usage } = usageOf(t);
    usage.count('k', '/slot', 'answered', 3);
    usage.giveBack('k', '/slot', 1);
    clock.advance(12 * 3_600_000);
    usage.giveBack('k', '/slot', 2);
    usage.close();
    const next = row([0, 0, 0, 0], { day: '2026-06-02', givenBack: 2 });
    t.same(readUsage(path), [row([1, 0, 0, 0], { units: 3, givenBack: 1 }), next]);
    const json = JSON.stringify([[DAY, 'k', '/slot', 0, 0, 0, 0, -5]]);
    const line = `${crc32(json).toString(16).padStart(8, '0')} ${json}`;
    t.same(parseUsageLine(line), [row([0, 0, 0, 0], { givenBack: 5 })]);
  });

  t.test('counts are in the file after a second, by day, key, route and outcome', async (t) => {
    const { path, clock, usage } = usageOf(t);
    for (const outcome of REQUEST_OUTCOMES) usage.count('k', '/slot', outcome, 1);
    usage.count('k', '/slot', 'answered', 1);
    usage.count('l', '/slot', 'answered', 1);
    usage.count('k', '/balance/:addr', 'limited', 1);
    clock.advance(999);
    t.same(readUsage(path), []);
    clock.advance(1);
    const first = [row([0, 0, 1, 0], { route: '/balance/:addr' }), row([2, 1, 1, 1]), row([1, 0, 0, 0], { key: 'l' })];
    t.same(readUsage(path), first);
    clock.advance(12 * 3_600_000);
    usage.count('k', '/slot', 'failed', 1);
    usage.close();
    t.same(readUsage(path), [...first, row([0, 0, 0, 1], { day: '2026-06-02' })]);
    t.equal(statSync(path).mode & 0o777, 0o600);
  });

  t.test('a damaged line is skipped', async () => {
    const rows = fc.array(
      fc.record({
        day: fc.constant(DAY),
        key: fc.string(),
        route: fc.string(),
        counts: fc.array(fc.nat(), { minLength: 4, maxLength: 4 }),
        units: fc.nat(),
        givenBack: fc.nat(),
      }),
    );
    fc.assert(
      fc.property(rows, fc.nat(), fc.string({ minLength: 1, maxLength: 1 }), (rows, place, character) => {
        const line = formatUsageLine(rows).slice(0, -1);
        const at = place % line.length;
        const damaged = line.slice(0, at) + character + line.slice(at + 1);
        return (
          JSON.stringify(parseUsageLine(line)) === JSON.stringify(rows) &&
          (damaged === line || parseUsageLine(damaged) === undefined)
        );
      }),
    );
  });

  t.test('46: wherever a kill cut the file off, all whole lines count and new ones follow', async (t) => {
    const whole = formatUsageLine([row([1, 0, 0, 0])]) + formatUsageLine([row([2, 0, 0, 0])]);
    const torn = formatUsageLine([row([4, 0, 0, 0])]);
    for (let length = 0; length < torn.length; length++) {
      const { path, clock, usage, problems } = usageOf(t, whole + torn.slice(0, length));
      usage.count('k', '/slot', 'answered', 1);
      clock.advance(1000);
      const isWhole = length === torn.length - 1; // but for the line end
      t.same(readUsage(path), [row([isWhole ? 8 : 4, 0, 0, 0])]);
      t.same(problems, []);
    }
  });

  t.test('the line after one that another process has left unfinished counts', (t) => {
    const { path, usage } = usageOf(t);
    usage.count('k', '/slot', 'answered', 1);
    usage.flush();
    appendFileSync(path, formatUsageLine([row([4, 0, 0, 0])]).slice(0, 20));
    usage.count('k', '/slot', 'answered', 1);
    usage.flush();
    t.same(readUsage(path), [row([2, 0, 0, 0])]);
    t.end();
  });

  t.test('what a file grows by is sent once, and again after it could not be sent', async (t) => {
    const { path, clock } = usageOf(t, '');
    const tail = new UsageTail(path);
    const sent: string[] = [];
    const send = (day: string, rows: readonly UsageRow[]): Promise<void> => {
      sent.push([day, ...rows.map(({ route, units }) => `${route} ${units}`)].join(' '));
      return sent.length === 2 ? Promise.reject(new Error('gone')) : Promise.resolve();
    };
    const next = '2026-06-02';
    appendUsage(
      path,
      ['/a', '/b', '/c'].map((route) => row([1, 0, 0, 0], { route })).concat(row([1, 0, 0, 0], { day: next })),
    );
    await tail.read();
    await t.rejects(tail.send(2, send));
    appendUsage(path, [row([1, 0, 0, 0], { route: '/a' })]);
    await tail.read();
    await tail.send(2, send);
    const rest = [`${DAY} /c 1`, `${next} /slot 1`, `${DAY} /a 2`];
    t.same(sent, [`${DAY} /a 1 /b 1`, rest[0], ...rest]);
    (await prepareCompaction(path, dayOf(clock.now())))();
    tail.forget();
    await tail.read();
    await tail.send(10, send);
    t.same(sent.slice(5).sort(), [`${DAY} /a 2 /b 1 /c 1`, `${next} /slot 1`]);
  });

  t.test('damage within the file costs only the damaged line', async (t) => {
    const { path, usage } = usageOf(
      t,
      `${formatUsageLine([row([1, 0, 0, 0])])}\0\0\0garbage\n${formatUsageLine([row([2, 0, 0, 0])])}`,
    );
    t.same(readUsage(path), [row([3, 0, 0, 0])]);
    usage.close();
  });

  t.test('a large file is rewritten with one row per sum, without old days', async (t) => {
    const lines = Array.from({ length: 30_000 }, () => formatUsageLine([row([1, 1, 1, 1])])).join('');
    const { path, clock, usage } = usageOf(t, formatUsageLine([row([9, 9, 9, 9], { day: '2026-02-01' })]) + lines);
    const untilCompact = async (): Promise<void> => {
      while (statSync(path).size > 1000) await new Promise((resolve) => setImmediate(resolve));
    };
    await untilCompact();
    t.same(readUsage(path), [row([30_000, 30_000, 30_000, 30_000])]);
    usage.count('k', '/slot', 'answered', 1);
    appendFileSync(path, lines); // as many seconds later
    clock.advance(1000);
    t.ok(statSync(path).size > 1000, 'no turn of the event loop has the work of all lines');
    usage.count('k', '/slot', 'answered', 1);
    clock.advance(1000);
    await untilCompact();
    t.same(readUsage(path), [row([60_002, 60_000, 60_000, 60_000])], 'with what was appended since it was read');
  });

  t.test('after the end no file is compacted', async (t) => {
    const lines = formatUsageLine([row([1, 1, 1, 1])]).repeat(30_000);
    for (const beforeStart of [true, false]) {
      const { path, usage } = usageOf(t, beforeStart ? lines : '');
      if (!beforeStart) appendFileSync(path, lines);
      usage.count('k', '/slot', 'answered', 1);
      usage.close();
      await prepareCompaction(path, DAY); // one that began before ends before
      t.ok(statSync(path).size > lines.length);
    }
  });

  t.test('usage is shown in order, sorted in turns of the event loop', async (t) => {
    const { path } = usageOf(t, '');
    const names = Array.from({ length: 4000 }, (_, i) => ({
      key: `k${(i * 7) % 80}`,
      route: `/${50 - Math.floor(i / 80)}`,
    }));
    appendUsage(
      path,
      ['2026-06-02', DAY].flatMap((day) => names.map((name) => row([1, 0, 0, 0], { day, ...name }))),
    );
    const { sort } = Array.prototype;
    const lengths: number[] = [];
    Array.prototype.sort = function (compare) {
      lengths.push(this.length);
      return sort.call(this, compare);
    };
    const { body } = await Promise.resolve(createUsagePage(dirname(path))(new URLSearchParams())).finally(() => {
      Array.prototype.sort = sort;
    });
    t.same(JSON.parse(body).usage, readUsage(path).map(shownUsage));
    t.ok(Math.max(...lengths) <= 80, 'no turn of the event loop sorts all rows of a day');
  });

  t.test('a file is compacted as it was read, unless another process has compacted it since', async (t) => {
    const { path, clock } = usageOf(t, formatUsageLine([row([1, 0, 0, 0])]).repeat(3));
    const compactions = await Promise.all([1, 2].map(() => prepareCompaction(path, dayOf(clock.now()))));
    appendUsage(path, [row([1, 0, 0, 0])]);
    for (const compact of compactions) compact();
    t.same(readUsage(path), [row([4, 0, 0, 0])]);
    const late = await prepareCompaction(path, dayOf(clock.now()));
    for (let i = 0; i < 2; i++) {
      (await prepareCompaction(path, dayOf(clock.now())))(); // the second one's file may have the inode of the first
      appendUsage(path, [row([0, 0, 1, 0])]);
    }
    late();
    t.same(readUsage(path), [row([4, 0, 2, 0])]);
    appendUsage(path, [row([0, 1, 0, 0], { route: `/${'x'.repeat(300_000)}` })]); // longer than what is read at a time
    appendUsage(path, [row([0, 1, 0, 0])]);
    (await prepareCompaction(path, dayOf(clock.now())))();
    t.equal(readUsage(path).length, 2);
    t.match(readUsage(path)[0], { counts: [4, 1, 2, 0] });
    const damaged = usageOf(t, `damaged\n${'x'.repeat(300_000)}`).path;
    (await prepareCompaction(damaged, dayOf(clock.now())))();
    t.equal(statSync(damaged).size, 300_000, 'a line that is not whole as yet stays');
  });

  t.test('47: while the file cannot be written counting goes on, with one problem and no loss', async (t) => {
    const { path, clock, usage, problems } = usageOf(t);
    rmSync(t.testdirName, { recursive: true });
    writeFileSync(t.testdirName, 'in the way');
    for (let second = 0; second < 5; second++) {
      usage.count('k', '/slot', 'answered', 1);
      clock.advance(1000);
    }
    t.equal(problems.length, 1);
    t.ok(usage.failures >= 5);
    rmSync(t.testdirName);
    t.testdir();
    clock.advance(1000);
    t.same(readUsage(path), [row([5, 0, 0, 0])]);
  });

  t.test('a file that can no longer be written is reported once, and its recovery once', async (t) => {
    const { path, clock, problems, recoveries, usage } = usageOf(t, '');
    const rememberedFile = `${path}.aside`;
    usage.count('k', '/slot', 'answered', 1);
    clock.advance(1000);
    renameSync(path, rememberedFile);
    mkdirSync(path); // opening it for writing fails and reading its size works, as on a disk that has become read-only
    for (let second = 0; second < 3; second++) {
      usage.count('k', '/slot', 'answered', 1);
      clock.advance(1000);
    }
    t.same([problems.length, recoveries.length], [1, 0]);
    rmSync(path, { recursive: true });
    renameSync(rememberedFile, path);
    clock.advance(1000);
    t.same([problems.length, recoveries.length], [1, 1]);
    t.same(readUsage(path), [row([4, 0, 0, 0])]);
    usage.count('k', '/slot', 'answered', 1);
    clock.advance(1000);
    t.same([problems.length, recoveries.length], [1, 1]);
  });

  t.test('47: a full disk is reported', async (t) => {
    t.throws(() => appendUsage('/dev/full', [row([1, 0, 0, 0])]), { code: 'ENOSPC' });
  });
});
