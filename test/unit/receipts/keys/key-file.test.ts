import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { createKeyFile, readKeyFile } from '../../../../src/receipts/keys/key-file.ts';
import { parsePrivateKey } from '../../../../src/receipts/keys/private-key-format.ts';
import { startConcurrently } from '../../../catalogue/receipts/concurrent-starts.ts';

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

t.test('of processes that start at once one creates the key, and all use the same', async (t) => {
  const dir = join(t.testdir(), 'state');
  const { creators, keys, errors } = await startConcurrently(dir, 6); // 50 of them: npm run test:receipts
  t.same([creators, keys.size, errors], [1, 1, '']);
  t.same(readdirSync(dir), ['.gitignore', 'receipt-key.pem']);
});
