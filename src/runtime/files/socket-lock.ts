import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { hasErrorCode } from './error-code.ts';

/*
 * A flag beside a file says that a process is there. It is a socket that listens, so it ends with the process however
 * that ends, and every process on the machine can see it, also from within another container.
 */

/**
 * Raises a flag beside a file, and takes it down again when there is another. Returns what takes it down if there is
 * none. Whoever is there has raised his flag before he looked: so of any two one at most finds himself alone.
 */
export async function acquireSocketLock(path: string): Promise<(() => void) | undefined> {
  const { folder, leave: releasePath } = shortPathTo(dirname(path));
  const ownName = `${basename(path)}.${randomBytes(4).toString('hex')}.up`;
  let server: Server | undefined;
  const release = (): void => {
    rmSync(join(dirname(path), ownName), { force: true });
    server?.close();
  };
  let isAcquired = false;
  try {
    server = await listen(join(folder, ownName));
    const otherNames = lockNamesIn(folder, `${basename(path)}.`).filter((name) => name !== ownName);
    const isContended = (await Promise.all(otherNames.map((name) => isListening(join(folder, name))))).includes(true);
    isAcquired = !isContended && existsSync(join(folder, ownName)); // one who looked as this went up may have taken it for dead
    return isAcquired ? release : undefined;
  } finally {
    if (!isAcquired) release();
    releasePath();
  }
}

/** The longest name of a socket that every system takes. A longer one would be cut short without a word. */
const MAX_PATH_BYTES = 103;
const MAX_NAME_BYTES = 40;

/** A short name for a folder, a link if need be, until it is left. */
function shortPathTo(folder: string): { readonly folder: string; leave(): void } {
  if (Buffer.byteLength(folder) <= MAX_PATH_BYTES - MAX_NAME_BYTES) return { folder, leave() {} };
  const linkFolder = mkdtempSync(join(tmpdir(), 'flag-'));
  const link = join(linkFolder, 'd');
  symlinkSync(resolve(folder), link);
  return { folder: link, leave: () => rmSync(linkFolder, { recursive: true }) };
}

const lockNamesIn = (folder: string, prefix: string): string[] =>
  readdirSync(folder).filter((name) => name.startsWith(prefix) && /^[0-9a-f]{8}\.up$/.test(name.slice(prefix.length)));

async function listen(path: string): Promise<Server> {
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) throw new Error(`${path} is too long for the name of a socket`);
  const server = createServer((socket) => socket.destroy()).unref();
  await new Promise<void>((resolve, reject) => {
    server.on('error', reject).listen(path, resolve); // later faults are about one who looked, and end nobody
  });
  return server;
}

/** What refuses is what a dead process left, and is removed: as no name is used twice it can become nobody else's. */
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
