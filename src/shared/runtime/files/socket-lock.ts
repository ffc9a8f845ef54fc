import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { hasErrorCode } from './error-code.ts';
import { hostIdentity } from './host-identity.ts';

/*
 * The lock is a listening Unix socket next to the file. It ends with the process however that ends, and every process
 * on the machine can see it, also from another container. On another machine, with which the folder may be shared, it
 * looks like that of a dead process: its name says where it listens.
 */

/**
 * Acquires an exclusive lock on a file by listening on a Unix socket next to it. Returns the release function, or
 * undefined if another process holds the lock. Each process listens before it looks for others, so at most one of any
 * two finds itself alone.
 */
export async function acquireSocketLock(path: string): Promise<(() => void) | undefined> {
  const { folder, leave: releasePath } = shortPathTo(dirname(path));
  const { machine, boot } = hostIdentity();
  const ownName = `${basename(path)}.${machine}${boot}${randomBytes(4).toString('hex')}.up`;
  let server: Server | undefined;
  const release = (): void => {
    rmSync(join(dirname(path), ownName), { force: true });
    server?.close();
  };
  let isAcquired = false;
  try {
    server = await listen(join(folder, ownName));
    const otherNames = lockNamesIn(folder, `${basename(path)}.`).filter((name) => name !== ownName);
    const isContended = (await Promise.all(otherNames.map((name) => isHeld(folder, name)))).includes(true);
    isAcquired = !isContended && existsSync(join(folder, ownName)); // a process that looked while this socket was being created may have removed it as stale
    return isAcquired ? release : undefined;
  } finally {
    if (!isAcquired) release();
    releasePath();
  }
}

/** The longest socket path that every system accepts. A longer one would be truncated silently. */
const MAX_PATH_BYTES = 103;
const MAX_NAME_BYTES = 52;

/** Returns a short path to a folder, by a symbolic link if need be, until it is released. */
function shortPathTo(folder: string): { readonly folder: string; leave(): void } {
  if (Buffer.byteLength(folder) <= MAX_PATH_BYTES - MAX_NAME_BYTES) return { folder, leave() {} };
  const linkFolder = mkdtempSync(join(tmpdir(), 'lock-'));
  const link = join(linkFolder, 'd');
  symlinkSync(resolve(folder), link);
  return { folder: link, leave: () => rmSync(linkFolder, { recursive: true }) };
}

const lockNamesIn = (folder: string, prefix: string): string[] =>
  readdirSync(folder).filter(
    (name) => name.startsWith(prefix) && /^([0-9a-f]{12})?[0-9a-f]{8}\.up$/.test(name.slice(prefix.length)),
  );

async function listen(path: string): Promise<Server> {
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) throw new Error(`${path} is too long for a socket path`);
  const server = createServer((socket) => socket.destroy()).unref();
  await new Promise<void>((resolve, reject) => {
    server.on('error', reject).listen(path, resolve); // later errors concern single connections and must end nothing
  });
  return server;
}

/** Returns true if a lock has an owner. One of another machine can't be checked, and is never removed. */
function isHeld(folder: string, name: string): Promise<boolean> {
  const [, machine, boot] = /\.([0-9a-f]{6})([0-9a-f]{6})[0-9a-f]{8}\.up$/.exec(name) ?? [];
  const here = hostIdentity();
  if (machine !== undefined && machine !== here.machine && boot !== here.boot) return Promise.resolve(true);
  return isListening(join(folder, name));
}

/** A socket that refuses belongs to a dead process and is removed. No name is used twice. */
function isListening(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path, () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', (error) => {
      const isStale = hasErrorCode(error, 'ECONNREFUSED') || hasErrorCode(error, 'ENOENT');
      if (isStale) rmSync(path, { force: true });
      resolve(!isStale);
    });
  });
}
