import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { createKeyFile, readKeyFile } from '../../src/receipt/key-file.ts';
import { parseKey } from '../../src/receipt/key-format.ts';

t.test('a key file appears once, whole and private, and is never replaced', async (t) => {
  const dir = join(t.testdir(), 'deep', 'state');
  const path = join(dir, 'key.pem');
  t.equal(readKeyFile(path), undefined);
  t.equal(createKeyFile(path), true);
  const text = readKeyFile(path);
  parseKey(text ?? '');
  t.equal(createKeyFile(path), false);
  t.equal(readKeyFile(path), text);
  t.equal(statSync(path).mode & 0o777, 0o600);
  t.equal(statSync(dir).mode & 0o777, 0o700);
  t.same(readdirSync(dir), ['key.pem'], 'no draft is left');
});

t.test('of fifty processes that start at once one makes the key, and all come to the same', async (t) => {
  const dir = join(t.testdir(), 'state');
  const starter = fileURLToPath(new URL('./key-starter.js', import.meta.url));
  const children = Array.from({ length: 50 }, () => spawn(process.execPath, [starter, dir], { env: {} }));
  const said = children.map((child) => text(child.stdout));
  const errors = children.map((child) => text(child.stderr));
  await Promise.all(children.map((child) => once(child.stdout, 'data')));
  for (const child of children) child.stdin.write('go');
  const starts = (await Promise.all(said)).map((out) => JSON.parse(out.split('\n')[1] ?? ''));
  t.equal(starts.filter(({ created }) => created).length, 1, 'one maker');
  t.equal(new Set(starts.map(({ publicKey }) => publicKey)).size, 1, 'one key');
  t.same((await Promise.all(errors)).join(''), '');
  t.same(readdirSync(dir), ['receipt-key.pem']);
});
