import { generateKeyPairSync } from 'node:crypto';
import t from 'tap';
import { singleKeyRing } from '../../../../src/receipts/keys/key-history.ts';
import type { ReceiptKey } from '../../../../src/receipts/keys/key-ring.ts';
import { ReceiptKeys } from '../../../../src/receipts/keys/receipt-keys.ts';
import { signingKeyOf } from '../../../../src/receipts/signing-key.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

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
});

t.test('replaced keys sign no more but stay known; the new ones sign at once', async (t) => {
  const clock = new ManualClock();
  const [old, other] = [newKey(), newKey()];
  const keys = new ReceiptKeys([old], clock, () => {});
  t.equal(keys.replace([other]), false);
  t.equal(keys.active.kid, other.kid);
  t.match(keys.find(old.kid), { publicKey: old.publicKey, signing: null });
  t.equal(keys.replace([{ ...other, isRevoked: true }, newKey()]), true, 'a key is newly revoked');
  t.not(keys.active.kid, other.kid);
  t.not(keys.active.kid, old.kid);
  t.ok(keys.find(old.kid));
});
