import { join } from 'node:path';
import t from 'tap';
import { isApiKey } from '../../../../src/access/api-keys/api-key.ts';
import { apiKeysPath, readApiKeys } from '../../../../src/access/api-keys/api-key-store.ts';
import { appendUsage, usagePath } from '../../../../src/access/usage/usage-file.ts';
import { runSlotgate } from '../../../support/run-slotgate.ts';

/** Runs `slotgate keys …` on a temporary state folder. */
const keysIn =
  (state: string) =>
  (...args: string[]) =>
    runSlotgate(['keys', ...args, '--state', state]);

t.test('the life of a key: printed once, listed without itself, rotated, revoked', async (t) => {
  const state = t.testdir();
  const keys = keysIn(state);
  const made = await keys('create', '--tier', 'scale', '--label', 'a shop', '--per-ip', '50', '--expires', '90d');
  t.equal(made.code, 0);
  const key = made.out.trim();
  t.ok(isApiKey(key), 'the key alone is on standard output');
  t.match(made.err, `is in ${apiKeysPath(state)}; `);
  t.notMatch(made.err, 'created the state folder');
  const [record] = readApiKeys(apiKeysPath(state));
  const id = record?.id ?? '';
  t.match(record, { tier: 'scale', label: 'a shop', last4: key.slice(-4), perIpLimit: 50, revokedAt: null });
  t.ok(Math.abs(Date.parse(record?.expiresAt ?? '') - Date.now() - 90 * 86_400_000) < 60_000);

  const listed = await keys('list');
  t.match(listed.out, new RegExp(`^${id} +…${key.slice(-4)} +scale +valid .* a shop$`, 'm'));
  t.notMatch(listed.out, key);

  const next = (await keys('rotate', id, '--grace', '24h')).out.trim();
  t.ok(isApiKey(next) && next !== key);
  const [old, heir] = readApiKeys(apiKeysPath(state));
  t.match(heir, { tier: 'scale', label: 'a shop', perIpLimit: 50, expiresAt: record?.expiresAt });
  t.ok(Date.parse(old?.revokedAt ?? '') > Date.now(), 'the old one stays valid for a while');
  t.match(
    (await keys('list')).out,
    new RegExp(`^${id} .* valid .* ${old?.revokedAt} `, 'm'),
    'and the list says until when',
  );

  t.match(await keys('revoke', heir?.id ?? ''), { code: 0, out: `${heir?.id} is revoked\n` });
  t.match((await keys('list')).out, new RegExp(`^${heir?.id} .* revoked `, 'm'));
  t.match(await keys('revoke', 'other'), { code: 1, err: `no key has the id other in ${apiKeysPath(state)}` });
  t.match(await keys('revoke', heir?.id ?? ''), { code: 1, err: /is revoked already/ });
});

t.test('a state folder that is new is named, since no running gateway has it', async (t) => {
  const state = join(t.testdir(), 'elsewhere');
  const keys = keysIn(state);
  t.match(await keys('list'), { code: 0, err: `there is no ${apiKeysPath(state)}: ` });
  t.match((await keys('create', '--tier', 'build', '--label', 'x')).err, `created the state folder ${state}: `);
  t.notMatch((await keys('create', '--tier', 'build', '--label', 'x')).err, 'created the state folder');
});

t.test('usage is printed by day, key and route', async (t) => {
  const state = t.testdir();
  const row = { day: '2026-06-01', route: '/slot', counts: [3, 2, 1, 0], units: 9 };
  appendUsage(usagePath(state), [
    { ...row, key: 'a' },
    { ...row, key: 'b' },
  ]);
  appendUsage(usagePath(state), [{ ...row, key: 'a' }]);
  const keys = keysIn(state);
  t.equal(
    (await keys('usage', 'a')).out,
    'day         key  route  answered  refused  limited  failed  units\n2026-06-01  a    /slot  6         4        2        0       18\n',
  );
  t.match((await keys('usage')).out, /^2026-06-01 {2}b .* 3 .* 9$/m);
});

t.test('errors are reported and change nothing', async (t) => {
  const state = t.testdir();
  const keys = keysIn(state);
  const create = (...args: string[]) => keys('create', '--tier', 'build', '--label', 'x', ...args);
  t.match(await keys('create', '--tier', 'free', '--label', 'x'), { code: 64, err: /build, scale/ });
  t.match(await keys('create', '--tier', 'build'), { code: 64, err: /--label/ });
  t.match(await create('--expires', 'soon'), { code: 64, err: /neither a date/ });
  t.match(await create('--per-ip', '0'), { code: 64, err: /whole number/ });
  t.match(await keys('revoke', 'nobody'), { code: 1, err: /no key has the id nobody/ });
  t.match(await keys('rotate', 'nobody'), { code: 1, err: /no key has the id nobody/ });
  t.match(await keys('mint'), { code: 64, err: /keys create, keys list, keys revoke, keys rotate, keys usage/ });
  t.same(readApiKeys(apiKeysPath(state)), []);
});

t.test('a label can not write to a terminal', async (t) => {
  const keys = keysIn(t.testdir());
  await keys('create', '--tier', 'build', '--label', '\u001b[2Jgone');
  t.match((await keys('list')).out, /\?\[2Jgone/);
});
