import { randomBytes } from 'node:crypto';
import {
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { hasCode } from '../domain/errno.ts';

/**
 * Makes a file that only we can read, unless its name is taken. It appears whole, on the disk and under its name, or
 * not at all: whoever comes second, or after a crash, finds one complete file. Tells whether it is the new one.
 */
export function writeNewFile(path: string, text: string | Buffer): boolean {
  const folder = dirname(path);
  makeFolder(folder);
  const draft = `${path}.${randomBytes(8).toString('hex')}.tmp`;
  fill(draft, text);
  try {
    const isOurs = linkNew(draft, path);
    dropDrafts(path);
    return isOurs;
  } finally {
    rmSync(draft, { force: true });
    sync(folder);
  }
}

/**
 * Removes what a crash left of the making of a file that is there by now. Who is about to link one of these has come
 * too late anyway, and is told so.
 */
export function dropDrafts(path: string): void {
  const folder = dirname(path);
  const prefix = `${basename(path)}.`;
  for (const name of readdirSync(folder)) {
    if (name.startsWith(prefix) && name.endsWith('.tmp')) rmSync(join(folder, name), { force: true });
  }
}

/** Each new folder is on the disk under its name before anything is put into it. */
function makeFolder(folder: string): void {
  const first = mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (first === undefined) return;
  for (let made = folder; made.length >= first.length; made = dirname(made)) sync(dirname(made));
}

/** Writes, and returns when it is on the disk. */
function fill(path: string, text: string | Buffer): void {
  const fd = openSync(path, 'wx', 0o600);
  try {
    writeFileSync(fd, text);
    fsyncSync(fd);
  } catch (thrown) {
    unlinkSync(path);
    throw thrown;
  } finally {
    closeSync(fd);
  }
}

/** A link never replaces what is there, as a rename would. */
function linkNew(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (thrown) {
    if (hasCode(thrown, 'EEXIST')) return false;
    if (hasCode(thrown, 'ENOENT')) return false; // another was faster, and has dropped our draft
    throw thrown;
  }
}

function sync(folder: string): void {
  const fd = openSync(folder, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
