import { execFileSync } from 'node:child_process';
import { createHash, generateKeyPairSync } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import bs58 from 'bs58';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { formatReceipt, parseReceipt } from '../../../src/client/verify/receipt.ts';
import { formatSignedBody, receiptTextIn } from '../../../src/client/verify/signed-body.ts';
import { formatStatement, treeHeadText } from '../../../src/client/verify/statement.ts';
import { isSuccession, parseSuccession, successionText } from '../../../src/client/verify/succession.ts';
import { verifyReceipt } from '../../../src/client/verify/verify-receipt.ts';
import { rootOfPath } from '../../../src/client/verify/verify-signature.ts';
import { deriveFleetSecret } from '../../../src/gateway/fleet/transport/redis/fleet-secret.ts';
import { digestOf } from '../../../src/gateway/receipts/digest.ts';
import { type Conflict, EquivocationGuard, LEFT_OUT_SLOTS } from '../../../src/gateway/receipts/equivocation-guard.ts';
import { createKeyFile, readKeyFile } from '../../../src/gateway/receipts/keys/key-file.ts';
import { readKeyRing, singleKeyRing } from '../../../src/gateway/receipts/keys/key-history.ts';
import {
  type KeyRing,
  keyState,
  type ReceiptKey,
  validSuccession,
} from '../../../src/gateway/receipts/keys/key-ring.ts';
import { revokeKey, rotateKey, signSuccession } from '../../../src/gateway/receipts/keys/key-rotation.ts';
import type { KeySource } from '../../../src/gateway/receipts/keys/key-source.ts';
import { createReceiptKey, loadReceiptKeys } from '../../../src/gateway/receipts/keys/load-keys.ts';
import { parsePrivateKey } from '../../../src/gateway/receipts/keys/private-key-format.ts';
import { ReceiptKeys } from '../../../src/gateway/receipts/keys/receipt-keys.ts';
import { holdSigningLock } from '../../../src/gateway/receipts/keys/signing-lock.ts';
import { buildMerkleTree, inclusionPath, leafHash, merkleRoot } from '../../../src/gateway/receipts/merkle-tree.ts';
import { signBatch } from '../../../src/gateway/receipts/sign-batch.ts';
import { Signer } from '../../../src/gateway/receipts/signer.ts';
import { kidOf, publicBytesOf, signingKeyOf } from '../../../src/gateway/receipts/signing-key.ts';
import { canonicalRequest } from '../../../src/shared/domain/canonical-request.ts';
import { COMMITMENTS } from '../../../src/shared/domain/commitment.ts';
import { StartError } from '../../../src/shared/domain/start-error.ts';
import { acquireSocketLock } from '../../../src/shared/runtime/files/socket-lock.ts';
import { waitFor } from '../../support/harness.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { CLUSTER, NOW_MS, newSigner, sealAnswers } from '../../support/receipts/sealed-answers.ts';
import {
  allVectors,
  batchVectors,
  singleVector,
  type TestVector,
  testVectors,
} from '../../support/receipts/test-vectors.ts';

t.test('equivocation-guard', async (t) => {
  const claimed = {
    request: 'GET /api/v1/balance/x?commitment=finalized',
    slot: 1001,
    commitment: 'finalized',
    claim: 'exact',
    digest: 'one',
  } as const;

  function guardAt(tip: number) {
    const conflicts: Conflict[] = [];
    const guard = new EquivocationGuard((conflict) => conflicts.push(conflict), undefined, 500);
    guard.becomeSoleSigner(true);
    guard.advance(tip);
    return { guard, conflicts };
  }

  t.test('the same result may be claimed exact any number of times', async (t) => {
    const { guard } = guardAt(1000);
    t.equal(guard.grantClaim(claimed), 'exact');
    t.equal(guard.grantClaim(claimed), 'exact');
    t.equal(guard.conflicts, 0);
  });

  t.test('a second result for the same request and slot is only observed, counted and reported', async (t) => {
    const { guard, conflicts } = guardAt(1000);
    guard.grantClaim(claimed);
    t.equal(guard.grantClaim({ ...claimed, digest: 'two' }), 'observed');
    t.equal(guard.grantClaim(claimed), 'exact', 'the first stays exact');
    t.equal(guard.conflicts, 1);
    t.same(conflicts, [{ request: claimed.request, slot: 1001, signed: 'one', refused: 'two' }]);
  });

  t.test('a request that names its slot is remembered for as long as that is kept', async (t) => {
    const { guard } = guardAt(1000);
    const past = { ...claimed, request: `${claimed.request}&slot=1001`, isPast: true };
    t.equal(guard.grantClaim(past), 'exact');
    guard.grantClaim(claimed);
    guard.advance(1500);
    t.equal(guard.entries, 1, 'the other is forgotten');
    t.same([guard.grantClaim(past), guard.grantClaim({ ...past, digest: 'two' })], ['exact', 'observed']);
    t.same([guard.grantClaim(claimed), guard.grantClaim({ ...past, slot: 1000 })], ['observed', 'observed']);
    guard.advance(1501);
    t.same([guard.entries, guard.grantClaim(past)], [0, 'observed']);
  });

  t.test('another request or another slot is no conflict', async (t) => {
    const { guard } = guardAt(1000);
    guard.grantClaim(claimed);
    t.equal(guard.grantClaim({ ...claimed, digest: 'two', slot: 1002 }), 'exact');
    t.equal(guard.grantClaim({ ...claimed, digest: 'two', request: 'GET /api/v1/block/1' }), 'exact');
    t.equal(guard.conflicts, 0);
  });

  t.test('nothing below finalized is exact, and a request for observed gets observed', async (t) => {
    const { guard } = guardAt(1000);
    t.equal(guard.grantClaim({ ...claimed, commitment: 'confirmed' }), 'observed');
    t.equal(guard.grantClaim({ ...claimed, commitment: 'processed' }), 'observed');
    t.equal(guard.grantClaim({ ...claimed, claim: 'observed' }), 'observed');
    t.equal(guard.entries, 0);
  });

  t.test('before the first finalized slot nothing is exact', async (t) => {
    const guard = new EquivocationGuard(() => {});
    guard.becomeSoleSigner(true);
    t.equal(guard.grantClaim(claimed), 'observed');
    guard.advance(1000);
    t.equal(guard.grantClaim(claimed), 'exact');
  });

  t.test('nothing is exact while another process may sign, nor what was finalized by then', async (t) => {
    const guard = new EquivocationGuard(() => {});
    guard.advance(999);
    guard.advance(1000);
    t.equal(guard.grantClaim(claimed), 'observed');
    t.equal(guard.entries, 0);
    guard.becomeSoleSigner(true);
    t.equal(guard.grantClaim(claimed), 'observed', 'the other process may have seen a newer slot');
    guard.advance(1001);
    t.equal(guard.grantClaim(claimed), 'observed');
    t.equal(guard.grantClaim({ ...claimed, slot: 1002 }), 'exact');
  });

  t.test('an earlier process may have signed for the first tip and all below it', async (t) => {
    const { guard } = guardAt(1000);
    t.equal(guard.grantClaim({ ...claimed, slot: 1000 }), 'observed');
    t.equal(guard.grantClaim({ ...claimed, slot: 999 }), 'observed');
    guard.advance(1100);
    t.equal(guard.grantClaim({ ...claimed, slot: 1001 + 64 }), 'exact', 'a later tip does not raise the floor');
  });

  t.test('no slot that an earlier process may have signed ahead of its tip is exact again', async (t) => {
    const before = guardAt(1000 + 64).guard; // its nodes were ahead of the one that the next process reads
    const next = new EquivocationGuard(() => {});
    next.becomeSoleSigner(false);
    next.advance(1000);
    const slots = Array.from({ length: 200 }, (_, i) => 1000 + i);
    const grantedBy = (guard: EquivocationGuard, digest: string) =>
      slots.filter((slot) => guard.grantClaim({ ...claimed, slot, digest }) === 'exact');
    const signed = grantedBy(before, 'one');
    t.equal(signed.at(-1), 1000 + 127);
    const granted: number[] = [];
    for (const tip of [1000, 1064, 1127]) {
      next.advance(tip);
      granted.push(...grantedBy(next, 'two'));
    }
    t.same([granted[0], signed.filter((slot) => granted.includes(slot))], [1000 + LEFT_OUT_SLOTS + 1, []]);
  });

  t.test('a forgotten slot is never exact again', async (t) => {
    const { guard, conflicts } = guardAt(1000);
    guard.grantClaim(claimed);
    guard.advance(claimed.slot + 63);
    t.equal(guard.grantClaim({ ...claimed, digest: 'two' }), 'observed', 'still known');
    t.equal(conflicts.length, 1);
    guard.advance(claimed.slot + 64);
    t.equal(guard.entries, 0);
    t.equal(guard.grantClaim(claimed), 'observed');
    t.equal(conflicts.length, 1);
  });

  t.test('a lower tip drops nothing, and a slot far ahead of the tip is not exact', async (t) => {
    const { guard } = guardAt(1000);
    guard.advance(1040);
    guard.grantClaim({ ...claimed, slot: 1040 });
    guard.advance(900);
    t.equal(guard.entries, 1);
    t.equal(guard.grantClaim({ ...claimed, slot: 1041 }), 'exact', 'an answer may be slightly ahead of its tip');
    t.equal(guard.grantClaim({ ...claimed, slot: 11_040 }), 'observed');
  });

  t.test('its memory is bounded: when it is full new requests are observed, those that go on are exact', async (t) => {
    let times = 0;
    const guard = new EquivocationGuard(
      () => {},
      () => times++,
    );
    guard.becomeSoleSigner(true);
    guard.advance(1000);
    const claim = (n: number, slot = 1001) =>
      guard.grantClaim({ ...claimed, slot, request: `GET /api/v1/balance/${n}` });
    for (let n = 0; n < 75_001; n++) claim(n);
    t.equal(guard.entries, 75_000);
    t.same([claim(75_000), claim(75_001), times], ['observed', 'observed', 1], 'reported once');
    for (let n = 0; n < 25_001; n++) claim(n, 1002);
    t.equal(guard.entries, 100_000);
    t.same([claim(24_999, 1002), claim(25_000, 1002), claim(0)], ['exact', 'observed', 'exact']);
    guard.advance(1065);
    guard.advance(1066);
    t.equal(guard.grantClaim({ ...claimed, slot: 1066 }), 'exact');
    t.equal(guard.entries, 1);
  });

  t.test('a digest that is carried on is granted for all slots of its range, another one for none', async (t) => {
    const { guard, conflicts } = guardAt(1000);
    t.equal(guard.grantClaim({ ...claimed, until: 1010 }), 'exact');
    t.equal(guard.grantClaim({ ...claimed, slot: 1005, until: 1020 }), 'exact', 'the range grows');
    t.equal(guard.entries, 1);
    t.equal(guard.grantClaim({ ...claimed, slot: 1015, digest: 'two' }), 'observed');
    t.equal(guard.grantClaim({ ...claimed, slot: 1021, digest: 'two' }), 'exact', 'it begins where the other ends');
    t.equal(guard.grantClaim({ ...claimed, until: 1021 }), 'observed', 'the first goes on no more');
    t.equal(guard.grantClaim({ ...claimed, slot: 1020 }), 'exact');
    t.same(conflicts, [
      { request: claimed.request, slot: 1015, signed: 'one', refused: 'two' },
      { request: claimed.request, slot: 1021, signed: 'two', refused: 'one' },
    ]);
  });

  t.test('a range goes on for longer than the guard remembers a slot', async (t) => {
    const { guard } = guardAt(1000);
    const claims = Array.from({ length: 300 }, (_, i) => {
      guard.advance(1000 + i);
      return guard.grantClaim({ ...claimed, until: 1001 + i });
    });
    t.same([...new Set(claims)], ['exact']);
    t.equal(guard.entries, 1);
    t.equal(guard.grantClaim({ ...claimed, slot: 1270, digest: 'two' }), 'observed');
    guard.advance(1400);
    t.equal(guard.entries, 0);
    t.equal(guard.grantClaim({ ...claimed, until: 1401 }), 'observed', 'what is forgotten does not go on');
  });

  const steps = fc.array(
    fc.record({
      tip: fc.integer({ min: 0, max: 12 }),
      request: fc.constantFrom('a', 'b'),
      digest: fc.constantFrom('one', 'two', 'three'),
      slot: fc.integer({ min: -70, max: 70 }),
      length: fc.integer({ min: 0, max: 40 }),
    }),
    { maxLength: 80 },
  );

  t.test('F3: a request and slot is granted for one digest only, in any order of grants and marks', async (t) => {
    let granted = 0;
    const property = fc.property(steps, (sequence) => {
      const { guard } = guardAt(1000);
      const signed = new Map<string, string>();
      let tip = 1000;
      for (const { tip: advanced, request, digest, slot, length } of sequence) {
        tip += advanced;
        guard.advance(tip);
        const range = { slot: tip + slot, until: tip + slot + length };
        if (guard.grantClaim({ ...claimed, ...range, request, digest }) !== 'exact') continue;
        granted++;
        for (let each = range.slot; each <= range.until; each++) {
          const place = `${request} ${each}`;
          if ((signed.get(place) ?? digest) !== digest) return false;
          signed.set(place, digest);
        }
      }
      return true;
    });
    fc.assert(property, { numRuns: 600, seed: 19 });
    t.ok(granted > 1000, `${granted} were granted`);
  });

  t.test('with ranges of one slot it grants what one process alone may sign', async (t) => {
    let granted = 0;
    const property = fc.property(steps, (sequence) => {
      const { guard } = guardAt(1000);
      const signed = new Map<string, string>();
      let tip = 1000;
      for (const { tip: advanced, request, digest, slot: distance } of sequence) {
        tip += advanced;
        guard.advance(tip);
        const slot = tip + distance;
        const first = signed.get(`${request} ${slot}`) ?? digest;
        const mayBe = slot > 1000 && Math.abs(distance) < 64 && first === digest;
        if (mayBe) signed.set(`${request} ${slot}`, digest);
        if (mayBe) granted++;
        if ((guard.grantClaim({ ...claimed, slot, request, digest }) === 'exact') !== mayBe) return false;
      }
      return true;
    });
    fc.assert(property, { numRuns: 600, seed: 19 });
    t.ok(granted > 1000, `${granted} were granted`);
  });

  t.test('where other gateways sign too, only slots of its own range are exact', async (t) => {
    const { guard } = guardAt(1000);
    guard.confineTo(1001, 1003);
    const claimAt = (slot: number) => guard.grantClaim({ ...claimed, slot });
    t.same([1001, 1002, 1003, 1004].map(claimAt), ['observed', 'exact', 'exact', 'observed']);
    t.equal(guard.receiptMode, 'exact');
    guard.confineTo(0, 0);
    t.equal(claimAt(1002), 'observed', 'a range that was lost');
    t.equal(guard.receiptMode, 'observed', 'as operators see');
    guard.confineTo(1001, 1010);
    t.equal(guard.grantClaim({ ...claimed, slot: 1002, digest: 'two' }), 'observed', 'what was signed is still known');
  });

  t.test('a range that goes on claims no slot that another gateway may have signed for', async (t) => {
    const { guard } = guardAt(1000);
    guard.confineTo(1000, 1010);
    t.equal(guard.grantClaim({ ...claimed, slot: 1001, until: 1011 }), 'observed', 'beyond its own');
    t.equal(guard.grantClaim({ ...claimed, slot: 1001, until: 1005 }), 'exact');
    guard.confineTo(1010, 1020);
    t.equal(guard.grantClaim({ ...claimed, slot: 1001, until: 1015 }), 'observed', 'it leads again, after another');
    t.equal(guard.grantClaim({ ...claimed, slot: 1011, until: 1015 }), 'exact');
    t.equal(guard.grantClaim({ ...claimed, slot: 1011, until: 1020 }), 'exact', 'the range goes on');
  });
});

t.test('key-file', async (t) => {
  t.test('a key file appears once, whole and private, and is never replaced', async (t) => {
    const dir = join(t.testdir(), 'deep', 'state');
    const path = join(dir, 'key.pem');
    t.equal(readKeyFile(path), undefined);
    t.equal(createKeyFile(path), true);
    const text = readKeyFile(path);
    parsePrivateKey(text ?? '');
    t.equal(createKeyFile(path), false);
    t.equal(readKeyFile(path), text);
    t.equal(statSync(path).mode & 0o777, 0o600);
    t.equal(statSync(dir).mode & 0o777, 0o700);
    t.same(readdirSync(dir), ['key.pem'], 'no temporary file is left');
  });
});

t.test('key-rotation', async (t) => {
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
    const digest = (nowMs: number): string =>
      deriveFleetSecret({ ring: open(nowMs), path })('message', '').toString('hex');
    const before = digest(NOW_MS);
    rotate(HOUR_MS);
    t.same([digest(NOW_MS), digest(later)], [before, before], 'but for that of a fleet, which stays the same');
    const [first] = open();
    rmSync(path);
    t.throws(() => digest(later), { exitCode: 78, message: /^the secret of a fleet .*receipt-key.pem is missing/ });
    t.throws(() => open(), /the secret of the receipt key [0-9a-f]{16} is missing/);
    t.same(states(later), ['retired', 'active']);
    t.match(open(later)[0], { publicKey: first?.publicKey, signing: null });
    rmSync(join(folder, '2.pem'));
    t.throws(() => open(later), /is missing/, 'and no new one is made up for it');
  });

  t.test('when the active key is revoked a new one signs immediately, unsigned by the revoked one', async (t) => {
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
  });

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

  t.test('a key whose secret was removed after its retirement is not created again', async (t) => {
    const { dir, path, rotate, ring } = keysIn(t);
    rotate(HOUR_MS);
    const before = ring(NOW_MS + 2 * HOUR_MS);
    rmSync(path);
    t.equal(createReceiptKey({ stateDir: dir, production: false }), false);
    t.notOk(existsSync(path));
    t.same(ring(NOW_MS + 2 * HOUR_MS), before);
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
    await spoil('a record cut short', /2\.json is damaged/, ({ folder }) =>
      writeFileSync(join(folder, '2.json'), '{"p'),
    );
    await spoil('a record longer than one can be', /2\.json is over 4096 bytes/, ({ folder }) =>
      writeFileSync(join(folder, '2.json'), ' '.repeat(4097)),
    );
    if (existsSync('/usr/bin/mkfifo'))
      await spoil('a pipe in the place of a record', /2\.json is not a regular file/, ({ folder }) => {
        rmSync(join(folder, '2.json'));
        execFileSync('/usr/bin/mkfifo', [join(folder, '2.json')]);
      });
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
});

t.test('load-keys', async (t) => {
  const open = (stateDir: string, source: Partial<KeySource> = {}) =>
    loadReceiptKeys({ stateDir, production: false, ...source }, NOW_MS);
  const publicKeyOf = (stateDir: string, source: Partial<KeySource> = {}) => open(stateDir, source).ring[0]?.publicKey;

  /** Returns the exit code and message of a failed start. */
  function refusal(stateDir: string, source: Partial<KeySource> = {}): string {
    try {
      open(stateDir, source);
      return 'accepted';
    } catch (thrown) {
      return thrown instanceof StartError ? `${thrown.exitCode} ${thrown.message}` : `not for the caller: ${thrown}`;
    }
  }

  /** Writes a file with the key of the vectors. */
  function keyFile(dir: string, mode = 0o600, text = testVectors.seed): string {
    const file = join(dir, 'key');
    writeFileSync(file, text);
    chmodSync(file, mode);
    return file;
  }

  t.test('the first start creates a key, every later one loads it', async (t) => {
    const dir = join(t.testdir(), 'deep', 'state');
    const first = open(dir);
    const path = join(dir, 'receipt-key.pem');
    t.match(first, { path, created: true, warning: null });
    const second = open(dir);
    t.match(second, { path, created: false });
    t.equal(second.ring[0]?.publicKey, first.ring[0]?.publicKey);
    t.equal(publicKeyOf(dir, { production: true }), first.ring[0]?.publicKey, 'in production too');
  });

  t.test('temporary files of a crash are removed at the next start', async (t) => {
    const dir = t.testdir();
    open(dir);
    const draft = join(dir, 'receipt-key.pem.0123456789abcdef.tmp');
    linkSync(join(dir, 'receipt-key.pem'), draft);
    open(dir);
    t.same(readdirSync(dir), ['receipt-key.pem']);
  });

  t.test('in production no key is created', async (t) => {
    const dir = t.testdir();
    t.match(refusal(dir, { production: true }), /slotgate receipt key create --data-dir \/.*RECEIPT_KEY_FILE/);
    t.same(readdirSync(dir), []);
  });

  t.test('a configured key is used, whatever the state folder contains', async (t) => {
    const dir = t.testdir();
    t.equal(publicKeyOf(dir, { file: keyFile(dir) }), testVectors.publicKey);
    t.equal(publicKeyOf(dir, { inline: testVectors.seed, production: true }), testVectors.publicKey);
    t.same(readdirSync(dir), ['key']);
  });

  t.test('a configured key that is missing or invalid is never replaced by another', async (t) => {
    const dir = t.testdir();
    open(dir);
    t.match(refusal(dir, { file: keyFile(dir), inline: testVectors.seed }), /both set/);
    t.match(refusal(dir, { file: join(dir, 'absent') }), /no file/);
    t.match(refusal(dir, { inline: '' }), /RECEIPT_KEY can't be used: not a key/);
    t.match(refusal(dir, { inline: 'EPHEMERAL' }), /RECEIPT_KEY can't be used: not a key/);
    t.match(refusal(dir, { file: keyFile(dir, 0o600, '') }), /not a key/);
  });

  t.test('an ephemeral key is created on request, with a warning', async (t) => {
    const dir = t.testdir();
    t.match(open(dir, { inline: 'ephemeral', production: true }), { path: null, created: false, warning: /ephemeral/ });
    t.not(publicKeyOf(dir, { inline: 'ephemeral' }), publicKeyOf(dir, { inline: 'ephemeral' }));
    t.same(readdirSync(dir), []);
  });

  t.test('a wallet is accepted with a warning', async (t) => {
    const dir = join(t.testdir(), '.config', 'solana');
    mkdirSync(dir, { recursive: true });
    const raw = bs58.decode(testVectors.publicKey);
    const wallet = join(dir, 'id.json');
    writeFileSync(wallet, JSON.stringify([...Buffer.from(testVectors.seed, 'hex'), ...raw]), { mode: 0o600 });
    t.match(open(dir, { file: wallet }).warning, /wallet/);
  });

  t.test('a file that is not regular and private is refused, and the message says why', async (t) => {
    const dir = t.testdir();
    for (const mode of [0o640, 0o604, 0o620, 0o777])
      t.match(refusal(dir, { file: keyFile(dir, mode) }), new RegExp(`mode ${mode.toString(8)}.*chmod 600`));
    const link = join(dir, 'link');
    symlinkSync(keyFile(dir), link);
    t.match(refusal(dir, { file: link }), /symbolic link/);
    t.match(refusal(dir, { file: dir }), /not a regular file/);
    t.match(refusal(dir, { file: keyFile(dir, 0o600, testVectors.seed.padEnd(4097)) }), /over 4096 bytes/);
    t.equal(publicKeyOf(dir, { file: keyFile(dir, 0o600, testVectors.seed.padEnd(4096)) }), testVectors.publicKey);
    t.equal(publicKeyOf(dir, { file: keyFile(dir, 0o400) }), testVectors.publicKey);
  });

  t.test('a pipe is refused without waiting for its writer', { skip: !existsSync('/usr/bin/mkfifo') }, async (t) => {
    const dir = t.testdir();
    const pipe = join(dir, 'pipe');
    execFileSync('/usr/bin/mkfifo', ['-m', '600', pipe]);
    t.match(refusal(dir, { file: pipe }), /not a regular file/);
  });

  t.test('a damaged key in the state folder stops the start and stays as it is', async (t) => {
    const dir = t.testdir();
    open(dir);
    const path = join(dir, 'receipt-key.pem');
    const torn = readFileSync(path).subarray(0, 60);
    writeFileSync(path, torn);
    t.match(refusal(dir), /receipt-key\.pem: the PEM holds no private key/);
    t.same(readFileSync(path), torn);
  });

  t.test('a state folder that cannot be read or created stops the start', async (t) => {
    const dir = t.testdir({ file: 'not a folder', nowhere: t.fixture('symlink', 'absent/folder') });
    t.match(refusal(join(dir, 'file', 'state')), /^78 the receipt key can't be used: ENOTDIR/);
    t.match(refusal(join(dir, 'nowhere')), /^78 can't create the receipt key .*nowhere.*: E/);
  });

  t.test('a key of another kind is refused', async (t) => {
    const dir = t.testdir();
    const pem = generateKeyPairSync('x25519').privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
    t.match(refusal(dir, { file: keyFile(dir, 0o600, pem) }), /x25519/);
  });
});

t.test('private-key-format', async (t) => {
  const seed = Buffer.from(testVectors.seed, 'hex');
  const pair = Buffer.concat([seed, bs58.decode(testVectors.publicKey)]);
  const foreign = Buffer.concat([seed, publicBytesOf(generateKeyPairSync('ed25519').privateKey)]);
  const json = (bytes: Uint8Array): string => JSON.stringify([...bytes]);
  const pem = (key: { export(options: { format: 'pem'; type: 'pkcs8' }): string | Buffer }): string =>
    key.export({ format: 'pem', type: 'pkcs8' }).toString();

  t.test('a key is parsed in each of its formats', async (t) => {
    for (const [form, text] of Object.entries({
      'PKCS#8 PEM': pem(parsePrivateKey(testVectors.seed)),
      'Solana keypair': json(pair),
      'Solana keypair, spaced': ` ${JSON.stringify([...pair], null, 2)}\n`,
      hex: testVectors.seed,
      'upper-case hex with a line end': `${testVectors.seed.toUpperCase()}\r\n`,
      'base58 seed': bs58.encode(seed),
      'base58 pair': bs58.encode(pair),
    }))
      t.equal(bs58.encode(publicBytesOf(parsePrivateKey(text))), testVectors.publicKey, form);
  });

  t.test('a foreign public half is refused, since signing under it reveals the seed', async (t) => {
    t.throws(() => parsePrivateKey(json(foreign)), /public half/);
    t.throws(() => parsePrivateKey(bs58.encode(foreign)), /public half/);
  });

  t.test('anything else is refused, and the message never contains it', async (t) => {
    const locked = generateKeyPairSync('ed25519', {
      publicKeyEncoding: { format: 'pem', type: 'spki' },
      privateKeyEncoding: { format: 'pem', type: 'pkcs8', cipher: 'aes-256-cbc', passphrase: 'x' },
    });
    for (const [text, reason] of [
      ['', /expected PKCS#8 PEM/],
      ['hunter2hunter2', /expected PKCS#8 PEM/],
      [testVectors.seed.slice(2), /expected PKCS#8 PEM/],
      [`${testVectors.seed}00`, /expected PKCS#8 PEM/],
      [bs58.encode(seed.subarray(1)), /expected PKCS#8 PEM/],
      [bs58.encode(Buffer.concat([pair, seed])), /expected PKCS#8 PEM/],
      [json(seed), /expected PKCS#8 PEM/],
      [json(pair).replace(/\d+/, '256'), /expected PKCS#8 PEM/],
      [json(pair).replace(/\d+/, '1.5'), /expected PKCS#8 PEM/],
      [json(pair).replace(/\d+/, '"1"'), /expected PKCS#8 PEM/],
      [json(pair).slice(0, -1), /expected PKCS#8 PEM/],
      ['-----BEGIN PRIVATE KEY-----\nhunter2hunter2\n-----END PRIVATE KEY-----', /no private key/],
      [locked.publicKey, /no private key/],
      [locked.privateKey, /passphrase/],
      [pem(generateKeyPairSync('x25519').privateKey), /type x25519, not ed25519/],
      [pem(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey), /type ec, not ed25519/],
    ] as const) {
      t.throws(() => parsePrivateKey(text), reason);
      try {
        parsePrivateKey(text);
      } catch (thrown) {
        if (text !== '')
          t.notOk(String(thrown).includes(text.slice(0, 12)) && !text.startsWith('-----'), 'no secret in it');
      }
    }
  });
});

t.test('receipt-keys', async (t) => {
  function newKey(more: Partial<ReceiptKey> = {}): ReceiptKey {
    const [key] = singleKeyRing(signingKeyOf(generateKeyPairSync('ed25519').privateKey));
    if (key === undefined) throw new Error('a ring is never empty');
    return { ...key, ...more };
  }

  t.test('the next key signs from its start on, and onChange is called once', async (t) => {
    const clock = new ManualClock();
    const first = newKey();
    const next = newKey({ notBeforeMs: clock.now() + 1000 });
    const changes: string[] = [];
    const keys = new ReceiptKeys([first, next], clock, ({ kid }) => changes.push(kid));
    t.equal(keys.active.kid, first.kid);
    clock.advance(999);
    t.equal(keys.active.kid, first.kid);
    clock.advance(1);
    t.equal(keys.active.kid, next.kid);
    t.equal(keys.active.kid, next.kid);
    t.same(changes, [next.kid]);
    clock.advance(-1000);
    t.equal(keys.active.kid, next.kid, 'a clock set back does not reactivate an old key');
    t.equal(keys.find(first.kid), first);
    clock.advance(-4001);
    t.equal(keys.active.kid, first.kid, 'unless it was wrong: clients by the right time do not trust it');
    clock.advance(5001);
    t.equal(keys.active.kid, next.kid);
  });

  t.test('the next key signs before its time where only its secret was read, by a clock that was ahead', async (t) => {
    const clock = new ManualClock();
    const next = newKey({ notBeforeMs: clock.now() + 10_000 });
    const keys = new ReceiptKeys([{ ...newKey(), signing: null }, next], clock, () => {});
    t.equal(keys.active.kid, next.kid);
  });

  t.test('replaced keys sign no more but stay known; the new ones sign immediately', async (t) => {
    const clock = new ManualClock();
    const [old, other] = [newKey(), newKey()];
    const keys = new ReceiptKeys([old], clock, () => {});
    keys.replace([other]);
    t.notOk(keys.hasRevoked);
    t.equal(keys.active.kid, other.kid);
    t.match(keys.find(old.kid), { publicKey: old.publicKey, signing: null });
    keys.replace([{ ...other, isRevoked: true }, newKey()]);
    t.ok(keys.hasRevoked);
    t.not(keys.active.kid, other.kid);
    t.not(keys.active.kid, old.kid);
    t.ok(keys.find(old.kid));
  });
});

t.test('signing-lock', async (t) => {
  /** Creates processes that want to sign with one key, and records which of them may. */
  function signersOf(t: Test) {
    const path = join(t.testdir(), 'key');
    const clock = new ManualClock();
    const alone = new Set<string>();
    const first = new Map<string, boolean>();
    const waiting = new Map<string, unknown>();
    const claim = async (name: string, random = 0, created = false): Promise<() => void> => {
      const letGo = await holdSigningLock({
        keys: { path, isEphemeral: false, created },
        guard: {
          becomeSoleSigner(isFirst) {
            alone.add(name);
            first.set(name, isFirst);
          },
        },
        clock,
        random: () => random,
        onExactWithheld: (_, fault) => waiting.set(name, fault),
        onExactGranted: () => {},
      });
      t.teardown(letGo);
      return () => {
        alone.delete(name);
        letGo();
      };
    };
    return { path, clock, alone, first, waiting, claim };
  }

  t.test('of two signers with one key the second waits until the first has ended', async (t) => {
    const { path, clock, alone, first, waiting, claim } = signersOf(t);
    const end = await claim('first', 0, true);
    t.same([...alone], ['first']);
    await claim('second', 0, true);
    t.same([...waiting], [['second', undefined]]);
    clock.advance(2000);
    t.same([...alone], ['first'], 'for any length of time');
    end();
    await waitFor(() => {
      clock.advance(2000);
      return alone.has('second');
    }, 'the second');
    t.equal(waiting.size, 1, 'and it was notified once');
    t.same(Object.fromEntries(first), { first: true, second: false }, 'another may have signed before');
    t.equal(readdirSync(dirname(path)).length, 1, 'one socket is left');
  });

  t.test('the lock of another key does not matter', async (t) => {
    const { path, alone, claim } = signersOf(t);
    const lower = await acquireSocketLock(`${path}.other`); // its name begins with the same letters
    await claim('first');
    t.same([...alone], ['first']);
    t.ok(lower);
    lower?.();
  });

  t.test('the socket of a dead process blocks nobody and is removed', async (t) => {
    const { path, alone, claim } = signersOf(t);
    const lower = await acquireSocketLock(path);
    const [flag = ''] = readdirSync(dirname(path));
    linkSync(join(dirname(path), flag), `${path}.00000000.up`);
    lower?.();
    t.ok(existsSync(`${path}.00000000.up`), 'the name still exists, but nobody listens');
    await claim('first');
    t.same([...alone], ['first']);
    t.notOk(existsSync(`${path}.00000000.up`));
  });

  t.test('a process that ended while it waited gets no lock', async (t) => {
    const { clock, alone, claim } = signersOf(t);
    const endFirst = await claim('first');
    const endSecond = await claim('second');
    endSecond();
    endFirst();
    clock.advance(10_000);
    await claim('third');
    t.same([...alone], ['third']);
  });

  t.test('of concurrent attempts at most one gets the lock, and one of them eventually does', async (t) => {
    const { clock, alone, claim } = signersOf(t);
    const names = Array.from({ length: 12 }, (_, n) => `${n}`);
    await Promise.all(names.map((name, n) => claim(name, n / names.length)));
    t.ok(alone.size <= 1, `${alone.size} at first`);
    await waitFor(() => {
      clock.advance(50);
      return alone.size > 0;
    }, 'one of them');
    t.equal(alone.size, 1);
  });

  t.test('in any order of acquiring and releasing two never have the lock', async (t) => {
    const path = join(t.testdir(), 'key');
    let alone = 0;
    const worker = async (pace: number): Promise<void> => {
      for (let n = 0; n < 20; n++) {
        for (let turn = 0; turn < (n * pace) % 7; turn++) await setImmediate();
        const lower = await acquireSocketLock(path);
        if (lower === undefined) continue;
        t.equal(++alone, 1);
        await setImmediate();
        alone--;
        lower();
      }
    };
    await Promise.all([1, 2, 3].map(worker));
    t.same(readdirSync(dirname(path)), []);
    const last = await acquireSocketLock(path);
    t.ok(last);
    last?.();
  });

  t.test('a folder may be nested as deeply as it likes', async (t) => {
    const folder = join(t.testdir(), ...Array(9).fill('x'.repeat(100)));
    mkdirSync(folder, { recursive: true });
    const lower = await acquireSocketLock(join(folder, 'key'));
    t.equal(readdirSync(folder).length, 1);
    t.equal(await acquireSocketLock(join(folder, 'key')), undefined);
    lower?.();
    t.same(readdirSync(folder), []);
  });

  t.test('where no socket can be created nobody gets the lock, and the error is reported', async (t) => {
    const folder = t.testdir();
    const faults: unknown[] = [];
    for (const path of [join(folder, 'x'.repeat(110)), join(folder, 'no-folder', 'key')]) {
      const clock = new ManualClock();
      const guard = { becomeSoleSigner: () => t.fail('not alone') };
      const onExactWithheld = (_: string, fault: unknown) => faults.push(fault);
      const keys = { path, isEphemeral: false, created: false };
      t.teardown(
        await holdSigningLock({ keys, guard, clock, random: () => 0, onExactWithheld, onExactGranted: () => {} }),
      );
    }
    t.match(faults, [/too long/, { code: 'EACCES' }]);
  });
});

t.test('succession', async (t) => {
  const { text, newPublicKey, sig } = testVectors.succession;
  const notBeforeMs = 1_719_000_000_000;
  const old = signingKeyOf(parsePrivateKey(testVectors.seed));

  t.test('the published succession is written and signed bit for bit', async (t) => {
    t.equal(successionText(testVectors.publicKey, newPublicKey, notBeforeMs), text);
    t.same(signSuccession(old, newPublicKey, notBeforeMs), { kid: testVectors.kid, sig });
    t.equal(kidOf(bs58.decode(newPublicKey)), '39f713d0a644253f');
  });

  t.test('it is signed by one key, for one key, from one time on', async (t) => {
    t.ok(isSuccession(sig, testVectors.publicKey, newPublicKey, notBeforeMs));
    t.notOk(isSuccession(sig, newPublicKey, testVectors.publicKey, notBeforeMs));
    t.notOk(isSuccession(sig, testVectors.publicKey, testVectors.publicKey, notBeforeMs));
    t.notOk(isSuccession(sig, newPublicKey, newPublicKey, notBeforeMs));
    t.notOk(isSuccession(sig, testVectors.publicKey, newPublicKey, notBeforeMs + 1));
    t.notOk(isSuccession(sig.replace('b', 'c'), testVectors.publicKey, newPublicKey, notBeforeMs));
  });

  t.test('its header is parsed as it is written, and nothing else is', async (t) => {
    const header = `${testVectors.kid};${notBeforeMs};${sig}`;
    t.same(parseSuccession(header), { kid: testVectors.kid, notBeforeMs, sig });
    for (const text of [
      '',
      header.toUpperCase(),
      header.slice(1),
      ` ${header}`,
      header.replace(';', ';0'),
      `${header}0`,
    ])
      t.equal(parseSuccession(text), undefined, text);
  });
});

t.test('merkle-tree', async (t) => {
  const sha256 = (...parts: (string | Buffer)[]): Buffer =>
    parts.reduce((hash, part) => hash.update(part), createHash('sha256')).digest();

  /** RFC 9162 2.1.1, word for word: split at the largest power of two below n. */
  function mth(leaves: readonly string[]): Buffer {
    if (leaves.length === 1) return sha256('\0', leaves[0] ?? '');
    let k = 1;
    while (k * 2 < leaves.length) k *= 2;
    return sha256('\x01', mth(leaves.slice(0, k)), mth(leaves.slice(k)));
  }

  const leaves = Array.from({ length: 130 }, (_, i) => `leaf ${i}\n`);
  const trees = leaves.map((_, i) => buildMerkleTree(leaves.slice(0, i + 1).map(leafHash)));
  const hex = (bytes: Uint8Array | undefined): string | undefined => bytes && Buffer.from(bytes).toString('hex');

  t.test('the root is the one RFC 9162 defines, for 1 to 130 leaves', async (t) => {
    for (const [i, tree] of trees.entries()) t.equal(merkleRoot(tree), hex(mth(leaves.slice(0, i + 1))));
  });

  t.test('every path leads its own leaf to the root, and no other leaf or index', async (t) => {
    const wrong: string[] = [];
    for (const size of [1, 2, 3, 5, 8, 13, 21, 33, 64, 65]) {
      const tree = trees[size - 1] ?? [];
      for (let index = 0; index < size; index++) {
        const path = inclusionPath(tree, index);
        const leads = (leaf: number, place: number): boolean =>
          hex(rootOfPath(leaves[leaf] ?? '', place, size, path)) === merkleRoot(tree);
        if (!leads(index, index)) wrong.push(`${index} of ${size}`);
        if (leads((index + 1) % 130, index)) wrong.push(`leaf ${index + 1} in place of ${index} of ${size}`);
        if (size > 1 && leads(index, (index + 1) % size)) wrong.push(`${index} moved on, of ${size}`);
      }
    }
    t.same(wrong, []);
  });

  t.test('a path that is too short or too long leads nowhere', async (t) => {
    const path = inclusionPath(trees[63] ?? [], 5);
    t.equal(rootOfPath(leaves[5] ?? '', 5, 64, path.slice(1)), undefined);
    t.equal(rootOfPath(leaves[5] ?? '', 5, 64, [...path, '0'.repeat(64)]), undefined);
    t.equal(rootOfPath('alone', 0, 1, ['0'.repeat(64)]), undefined);
  });

  t.test('a node cannot pass for a leaf', async (t) => {
    const [left, right] = [leafHash('a'), leafHash('b')];
    const root = merkleRoot(buildMerkleTree([left, right]));
    t.not(leafHash(Buffer.from(left + right, 'hex').toString('latin1')), root);
    t.not(leafHash(Buffer.from(`01${left}${right}`, 'hex').toString('latin1')), root);
  });
});

t.test('published-vectors', async (t) => {
  const secret = parsePrivateKey(testVectors.seed);
  const resultOf = (vector: TestVector): string => Buffer.from(vector.resultHex, 'hex').toString();
  const receiptTextOf = ({ body }: TestVector): string => receiptTextIn(body);

  function receiptOf(vector: TestVector) {
    const receipt = parseReceipt(receiptTextOf(vector));
    if (receipt === undefined) throw new Error(`${vector.name} does not parse`);
    return receipt;
  }

  for (const vector of allVectors) {
    t.test(`vector ${vector.name}: every part of it is written bit for bit`, async (t) => {
      const receipt = receiptOf(vector);
      t.equal(canonicalRequest('GET', vector.target), vector.canonicalRequest);
      t.equal(digestOf(Buffer.from(vector.resultHex, 'hex')), vector.digest);
      t.equal(formatStatement(testVectors.publicKey, receipt), vector.statement);
      t.equal(leafHash(vector.statement), vector.leafHash);
      t.equal(treeHeadText(receipt.size, vector.root), vector.head);
      t.equal(formatReceipt(receipt, receipt), receiptTextOf(vector));
    });

    t.test(`vector ${vector.name}: the verifier accepts it and gives back the signed text`, async (t) => {
      const { cluster, nonce, target } = vector;
      const expected = { publicKeys: [testVectors.publicKey], cluster, nonce, request: `GET ${target}` };
      for (const body of [vector.body, Buffer.from(vector.body)]) {
        t.equal(verifyReceipt(body, expected).result, resultOf(vector));
      }
    });
  }

  t.test('the key has its published id', async (t) => {
    const { publicKey, kid } = signingKeyOf(secret);
    t.equal(publicKey, testVectors.publicKey);
    t.equal(kid, testVectors.kid);
  });

  t.test('the signer reproduces the single body', async (t) => {
    const { request, slot, commitment, digest, nonce, issuedAt, cluster } = receiptOf(singleVector);
    const guard = new EquivocationGuard(() => t.fail('no conflict'));
    guard.becomeSoleSigner(true);
    guard.advance(slot - 1);
    const signer = new Signer({ active: signingKeyOf(secret) }, { genesisHash: cluster }, guard);
    const [receipt] = signer.seal([{ request, slot, commitment, claim: 'exact', digest, nonce }], issuedAt);
    t.equal(formatSignedBody(resultOf(singleVector), slot, receipt ?? ''), singleVector.body);
  });

  t.test('over several operators nothing is exact for which too few vouch', async (t) => {
    const { request, slot, digest, issuedAt, cluster } = receiptOf(singleVector);
    const keys = { active: signingKeyOf(secret) };
    for (const [agreed, expected] of [
      [undefined, { v: 2, agreed: '1/2', claim: 'observed/1' }],
      ['1/3', { v: 2, agreed: '1/3', claim: 'observed/1' }],
      ['2/3', { v: 2, agreed: '2/3', claim: 'exact/1' }],
    ] as const) {
      const guard = new EquivocationGuard(() => t.fail('no conflict'));
      guard.becomeSoleSigner(true);
      guard.advance(slot - 1);
      const signer = new Signer(keys, { genesisHash: cluster }, guard, 2);
      const item = { request, slot, commitment: 'finalized', claim: 'exact', digest, nonce: null, agreed } as const;
      t.match(parseReceipt(signer.seal([item], issuedAt)[0] ?? ''), expected);
    }
  });

  t.test('one signature reproduces the three bodies of the batch', async (t) => {
    const receipts = signBatch(batchVectors.map(receiptOf), signingKeyOf(secret));
    t.same(receipts, batchVectors.map(receiptTextOf));
    t.equal(merkleRoot(buildMerkleTree(batchVectors.map(({ leafHash }) => leafHash))), batchVectors[0]?.root);
  });
});

t.test('signer', async (t) => {
  const answer = {
    request: 'GET /api/v1/slot',
    slot: 7,
    commitment: 'processed',
    claim: 'observed',
    nonce: null,
    result: '7',
  } as const;

  t.test('every sealed answer verifies, in any batch', async (t) => {
    const nonce = fc.option(fc.stringMatching(/^[\w-]{16,64}$/));
    const answers = fc.array(
      fc.record({
        request: fc
          .webQueryParameters()
          .map((q) => `GET /api/v1/search?q=${encodeURIComponent(q).replace(/[!'()*]/g, '')}`),
        slot: fc.oneof(fc.nat({ max: 63 }), fc.maxSafeNat()),
        commitment: fc.constantFrom(...COMMITMENTS),
        claim: fc.constantFrom('exact' as const, 'observed' as const),
        nonce,
        result: fc.json({ stringUnit: 'binary' }),
      }),
      { minLength: 1, maxLength: 64 },
    );
    const signer = newSigner();
    const trusted = { publicKeys: [signer.publicKey], cluster: CLUSTER, time: { nowMs: NOW_MS, maxAgeMs: 0 } };
    fc.assert(
      fc.property(answers, fc.nat(), (answers, pick) => {
        const bodies = sealAnswers(signer, answers);
        const index = pick % answers.length;
        const { request = '', nonce = null, result, slot } = answers[index] ?? {};
        const verified = verifyReceipt(bodies[index] ?? '', { ...trusted, request, nonce });
        return verified.result === result && verified.slot === slot && verified.receipt.size === answers.length;
      }),
      { numRuns: 40 },
    );
    t.pass();
  });

  t.test('an empty batch is not signed', async (t) => {
    t.same(newSigner().seal([], NOW_MS), []);
  });

  t.test('time never goes back from one receipt to the next, unless the clock was set back far', async (t) => {
    const steps: number[] = [];
    const signer = newSigner();
    signer.onStepBack((leadMs) => steps.push(leadMs));
    const at = (nowMs: number) => JSON.parse(sealAnswers(signer, [answer], nowMs)[0] ?? '').receipt.issuedAt;
    t.equal(at(NOW_MS), NOW_MS);
    t.equal(at(NOW_MS - 5000), NOW_MS);
    t.same(signer.problems(NOW_MS - 5000), ['receipts are dated 5 s ahead of the clock']);
    t.same([steps, signer.problems(NOW_MS)], [[], []]);
    t.equal(at(NOW_MS + 86_400_000), NOW_MS + 86_400_000);
    t.equal(at(NOW_MS + 1), NOW_MS + 1, 'no verifier would accept a receipt of tomorrow');
    t.same([steps, signer.problems(NOW_MS + 1)], [[86_399_999], []]);
  });

  t.test('two different results never have the same exact claim', async (t) => {
    const signer = newSigner();
    const exact = { ...answer, commitment: 'finalized', claim: 'exact' } as const;
    const claims = sealAnswers(signer, [exact, { ...exact, result: '8' }, exact]).map(
      (body) => JSON.parse(body).receipt.claim,
    );
    t.same(claims, ['exact/1', 'observed/1', 'exact/1']);
  });

  t.test('a result whose form has changed is signed under the next number, which verifiers accept', async (t) => {
    const signer = newSigner();
    const [body = ''] = sealAnswers(signer, [{ ...answer, claimNumber: 2 }]);
    const { request } = answer;
    const expected = {
      publicKeys: [signer.publicKey],
      cluster: CLUSTER,
      request,
      nonce: null,
      time: { nowMs: NOW_MS },
    };
    t.equal(verifyReceipt(body, expected).receipt.claim, 'observed/2');
    t.throws(() => verifyReceipt(body.replace('observed/2', 'observed/1'), expected), { code: 'signature' });
  });
});
