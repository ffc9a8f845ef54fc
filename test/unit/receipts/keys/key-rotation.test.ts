import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { createKeyFile } from '../../../../src/receipts/keys/key-file.ts';
import { readKeyRing } from '../../../../src/receipts/keys/key-history.ts';
import { type KeyRing, keyState, type ReceiptKey, validSuccession } from '../../../../src/receipts/keys/key-ring.ts';
import { revokeKey, rotateKey } from '../../../../src/receipts/keys/key-rotation.ts';
import { loadReceiptKeys } from '../../../../src/receipts/keys/load-keys.ts';
import { isSuccession } from '../../../../src/receipts/keys/succession.ts';

const NOW_MS = 1_718_900_000_000;
const HOUR_MS = 3_600_000;

/** Creates a folder of keys and the operations of an operator. */
function keysIn(t: Test) {
  const dir = t.testdir();
  const path = join(dir, 'receipt-key.pem');
  createKeyFile(path);
  const ring = (nowMs = NOW_MS): KeyRing => readKeyRing(path, nowMs) ?? [];
  return {
    dir,
    path,
    folder: `${path}.d`,
    ring,
    at: (n: number): ReceiptKey => nth(ring(), n),
    states(nowMs: number) {
      const keys = ring(nowMs);
      return keys.map((key) => keyState(keys, key, nowMs));
    },
    rotate: (afterMs: number, nowMs = NOW_MS) => rotateKey(path, ring(nowMs), nowMs + afterMs, nowMs),
    revoke(n: number, nowMs = NOW_MS) {
      const keys = ring(nowMs);
      return revokeKey(path, keys, nth(keys, n).kid, nowMs);
    },
    open: (nowMs = NOW_MS) => loadReceiptKeys({ stateDir: dir, production: true }, nowMs).ring,
  };
}

function nth(ring: KeyRing, n: number): ReceiptKey {
  const key = ring[n];
  if (key === undefined) throw new Error(`there is no key ${n}`);
  return key;
}

t.test('the next key exists before it signs, and takes over at its start', async (t) => {
  const { rotate, states, at, ring } = keysIn(t);
  const first = at(0);
  t.same(states(NOW_MS), ['active']);
  const next = rotate(24 * HOUR_MS);
  t.same(states(NOW_MS), ['active', 'next']);
  t.same(states(NOW_MS + 24 * HOUR_MS - 1), ['active', 'next']);
  t.same(states(NOW_MS + 24 * HOUR_MS), ['retired', 'active']);
  t.equal(at(0).publicKey, first.publicKey, 'the first is unchanged');
  t.equal(next.publicKey, at(1).publicKey);
  t.equal(next.succession?.kid, first.kid);
  t.ok(isSuccession(next.succession?.sig ?? '', first.publicKey, next.publicKey, next.notBeforeMs));
  t.equal(validSuccession(ring(), next), next.succession);
});

t.test('only one key may be pending', async (t) => {
  const { rotate, states } = keysIn(t);
  rotate(HOUR_MS);
  t.throws(() => rotate(2 * HOUR_MS), /is already pending: it signs from 2024-/);
  rotate(HOUR_MS, NOW_MS + HOUR_MS);
  t.same(states(NOW_MS + HOUR_MS), ['retired', 'active', 'next']);
  t.same(states(NOW_MS + 2 * HOUR_MS), ['retired', 'retired', 'active']);
});

t.test('a retired key stays known without its secret, which is no longer needed', async (t) => {
  const { rotate, path, folder, open, states } = keysIn(t);
  const later = NOW_MS + HOUR_MS;
  rotate(HOUR_MS);
  const [first] = open();
  rmSync(path);
  t.throws(() => open(), /the secret of the receipt key [0-9a-f]{16} is missing/);
  t.same(states(later), ['retired', 'active']);
  t.match(open(later)[0], { publicKey: first?.publicKey, signing: null });
  rmSync(join(folder, '2.pem'));
  t.throws(() => open(later), /is missing/, 'and no new one is made up for it');
});

t.test(
  'when the active key is revoked a new one signs at once, without the signature of the revoked one',
  async (t) => {
    const { rotate, revoke, states, ring, at } = keysIn(t);
    rotate(HOUR_MS);
    const successor = revoke(0);
    t.same(states(NOW_MS), ['revoked', 'retired', 'active']);
    t.same(
      states(NOW_MS + HOUR_MS),
      ['revoked', 'retired', 'active'],
      'and the pending one, signed by the revoked key, never takes over',
    );
    t.equal(successor?.succession, null);
    t.equal(validSuccession(ring(), at(1)), null, 'the succession of a revoked key is void');
    t.same(states(0), ['revoked', 'retired', 'active'], 'whatever the clock says');
  },
);

t.test('revoking another key changes nothing else, and can be repeated', async (t) => {
  const { rotate, revoke, states } = keysIn(t);
  rotate(HOUR_MS);
  t.equal(revoke(1), null);
  t.equal(revoke(1), null);
  t.same(states(NOW_MS), ['active', 'revoked']);
  t.same(states(NOW_MS + HOUR_MS), ['active', 'revoked'], 'a revoked key never takes over');
  rotate(HOUR_MS);
  t.same(states(NOW_MS + HOUR_MS), ['retired', 'revoked', 'active']);
});

t.test('an interrupted rotation is finished by the next', async (t) => {
  const { rotate, folder, states } = keysIn(t);
  mkdirSync(folder);
  createKeyFile(join(folder, '2.pem'));
  const secret = readFileSync(join(folder, '2.pem'));
  t.same(states(NOW_MS), ['active'], 'a secret without a record does not count');
  writeFileSync(join(folder, '2.json.0123456789abcdef.tmp'), '{"publ');
  rotate(HOUR_MS);
  t.same(states(NOW_MS), ['active', 'next']);
  t.same(readFileSync(join(folder, '2.pem')), secret);
  t.same(readdirSync(folder).sort(), ['1.json', '2.json', '2.pem'], 'no temporary file is left');
});

t.test('of two concurrent rotations one counts', async (t) => {
  const { rotate, path, ring, states } = keysIn(t);
  const seen = ring();
  rotate(HOUR_MS);
  t.throws(() => rotateKey(path, seen, NOW_MS + 2 * HOUR_MS, NOW_MS), /another process/);
  t.same(states(NOW_MS), ['active', 'next']);
});

t.test('inconsistent files are refused, never repaired', async (t) => {
  const spoil = (what: string, message: RegExp, harm: (keys: ReturnType<typeof keysIn>) => void) =>
    t.test(what, async (t) => {
      const keys = keysIn(t);
      keys.rotate(HOUR_MS);
      harm(keys);
      t.throws(() => keys.open(), message);
    });
  await spoil('another key in the place of the first', /holds another key than/, ({ path }) => {
    rmSync(path);
    createKeyFile(path);
  });
  await spoil('a record that is gone', /1\.json is missing/, ({ folder }) => rmSync(join(folder, '1.json')));
  await spoil('a record cut short', /2\.json is damaged/, ({ folder }) => writeFileSync(join(folder, '2.json'), '{"p'));
  await spoil('a later time than was signed', /it lacks the signature of the former key/, ({ folder }) => {
    const file = join(folder, '2.json');
    writeFileSync(file, readFileSync(file, 'utf8').replace(/"notBefore":1/, '"notBefore":2'));
  });
  await spoil('a word of a key that is not there', /lacks the signature of the former key/, ({ folder }) => {
    const file = join(folder, '2.json');
    writeFileSync(file, readFileSync(file, 'utf8').replace(/"kid":"\w+"/, '"kid":"0000000000000000"'));
  });
  await spoil('a weak key', /2\.json is damaged/, ({ folder }) =>
    writeFileSync(join(folder, '2.json'), `{"publicKey":"${'1'.repeat(32)}","notBefore":0,"succession":null}\n`),
  );
  await spoil('the next secret in the place of the first', /holds another key than/, ({ path, folder }) =>
    renameSync(join(folder, '2.pem'), path),
  );
});

t.test('when every key is revoked none signs, and a rotation creates one', async (t) => {
  const { rotate, folder, open, states } = keysIn(t);
  rotate(HOUR_MS);
  for (const n of [1, 2]) writeFileSync(join(folder, `${n}.revoked`), '');
  t.throws(() => open(), /every receipt key is revoked/);
  t.equal(rotate(HOUR_MS).notBeforeMs, 0);
  t.same(states(NOW_MS), ['revoked', 'revoked', 'active']);
});
