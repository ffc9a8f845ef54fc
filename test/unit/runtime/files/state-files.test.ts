import { chmodSync, chownSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { hostIdentity } from '../../../../src/runtime/files/host-identity.ts';
import { acquirePidLock } from '../../../../src/runtime/files/pid-lock.ts';
import { replaceFile } from '../../../../src/runtime/files/replace-file.ts';
import { acquireSocketLock } from '../../../../src/runtime/files/socket-lock.ts';

const isRoot = process.geteuid?.() === 0;

t.test('a file that is replaced keeps its mode, and its owner too when root replaces it', async (t) => {
  const path = join(t.testdir({ file: 'old' }), 'file');
  chmodSync(path, 0o640);
  if (isRoot) chownSync(path, 1234, 2345);
  const { uid, gid } = statSync(path);
  replaceFile(path, 'new');
  const after = statSync(path);
  t.same([after.mode & 0o777, after.uid, after.gid, readFileSync(path, 'utf8')], [0o640, uid, gid, 'new']);
});

t.test('a new file is for its owner alone: that of the folder, if root makes it', async (t) => {
  const folder = t.testdir();
  if (isRoot) chownSync(folder, 1234, 2345);
  replaceFile(join(folder, 'file'), 'new');
  const { mode, uid } = statSync(join(folder, 'file'));
  t.same([mode & 0o777, uid], [0o600, statSync(folder).uid]);
});

t.test('git ignores a folder that is made, and only that', async (t) => {
  const folder = t.testdir();
  replaceFile(join(folder, 'state', 'keys', 'file'), 'new');
  t.equal(readFileSync(join(folder, 'state', '.gitignore'), 'utf8'), '*\n');
  t.same(readdirSync(folder), ['state']);
});

const NOBODY = 2 ** 22 - 1; // above the process ids that are given out first

t.test('the lock of a process that has ended is taken, and one that can not be checked is not', async (t) => {
  const path = join(t.testdir(), 'file');
  const { machine, boot, processes } = hostIdentity();
  const isTaken = (owner: string): boolean => {
    writeFileSync(`${path}.lock`, owner);
    const lock = acquirePidLock(path);
    if (typeof lock === 'function') lock();
    else t.equal(lock, NOBODY);
    return typeof lock === 'function';
  };
  t.ok(isTaken(`${NOBODY} ${machine} ${boot} ${processes} 0`), 'here');
  t.ok(isTaken(`${NOBODY} ${machine} 000000 ${processes} 0`), 'before this machine was started again');
  t.notOk(isTaken(`${NOBODY} ${machine} ${boot} 000000 0`), 'in another container');
  t.notOk(isTaken(`${NOBODY} 000000 000000 ${processes} 0`), 'on another machine');
});

t.test('the socket of another machine is left in place, and counts as held', async (t) => {
  const folder = t.testdir();
  const path = join(folder, 'key');
  const { machine } = hostIdentity();
  writeFileSync(`${path}.${machine}000000abcdef01.up`, '');
  const release = await acquireSocketLock(path);
  t.equal(typeof release, 'function', 'this machine has been started again since');
  release?.();
  const foreign = `${path}.000000000000abcdef01.up`;
  writeFileSync(foreign, '');
  t.equal(await acquireSocketLock(path), undefined);
  t.ok(existsSync(foreign));
});
