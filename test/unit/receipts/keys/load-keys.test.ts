import { execFileSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import bs58 from 'bs58';
import t from 'tap';
import { StartError } from '../../../../src/domain/start-error.ts';
import type { KeySource } from '../../../../src/receipts/keys/key-source.ts';
import { loadReceiptKeys } from '../../../../src/receipts/keys/load-keys.ts';
import { NOW_MS } from '../../../support/receipts/sealed-answers.ts';
import { testVectors } from '../../../support/receipts/test-vectors.ts';

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
  t.match(refusal(dir, { production: true }), /slotgate receipt key create --state \/.*RECEIPT_KEY_FILE/);
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

t.test('a state folder that can not be read or created stops the start', async (t) => {
  const dir = t.testdir({ file: 'not a folder', nowhere: t.fixture('symlink', 'absent/folder') });
  t.match(refusal(join(dir, 'file', 'state')), /^78 the receipt key can't be used: ENOTDIR/);
  t.match(refusal(join(dir, 'nowhere')), /^78 can't create the receipt key .*nowhere.*: E/);
});

t.test('a key of another kind is refused', async (t) => {
  const dir = t.testdir();
  const pem = generateKeyPairSync('x25519').privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
  t.match(refusal(dir, { file: keyFile(dir, 0o600, pem) }), /x25519/);
});
