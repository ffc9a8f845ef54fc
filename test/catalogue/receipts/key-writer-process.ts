import { join } from 'node:path';
import type { KeyRing } from '../../../src/gateway/receipts/keys/key-ring.ts';
import { revokeKey, rotateKey } from '../../../src/gateway/receipts/keys/key-rotation.ts';
import { createReceiptKey, keyFilePath, readReceiptKeyRing } from '../../../src/gateway/receipts/keys/load-keys.ts';

// Child process that creates, rotates and revokes keys, folder after folder, until it is killed. It prints each key
// once it knows it: a line with the folder's name and all the keys in it.
const [, , root = ''] = process.argv;
process.stdout.write('ready\n');
for (let i = 0; ; i++) {
  const source = { stateDir: join(root, `${i}`), production: false };
  const path = keyFilePath(source);
  const nowMs = Date.now();
  const report = (ring: KeyRing): KeyRing => {
    process.stdout.write(`${JSON.stringify([`${i}`, ring.map(({ publicKey }) => publicKey)])}\n`);
    return ring;
  };
  createReceiptKey(source);
  let ring = report(readReceiptKeyRing(source, nowMs) ?? []);
  for (let n = 0; n < 2; n++) ring = report([...ring, rotateKey(path, ring, nowMs, nowMs)]);
  for (const key of ring.slice(-1)) {
    const successor = revokeKey(path, ring, key.kid, nowMs);
    if (successor !== null) report([...ring, successor]);
  }
}
