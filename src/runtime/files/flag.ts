import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { hasCode } from './errno.ts';

/*
 * A flag beside a file says that a process is there. It is a socket that listens, so it ends with the process however
 * that ends, and every process on the machine can see it, also from within another container.
 */

/**
 * Raises a flag beside a file, and takes it down again when there is another. Returns what takes it down if there is
 * none. Whoever is there has raised his flag before he looked: so of any two one at most finds himself alone.
 */
export async function raiseAlone(path: string): Promise<(() => void) | undefined> {
  const { folder, leave } = within(dirname(path));
  const own = `${basename(path)}.${randomBytes(4).toString('hex')}.up`;
  let server: Server | undefined;
  const lower = (): void => {
    rmSync(join(dirname(path), own), { force: true });
    server?.close();
  };
  let isAlone = false;
  try {
    server = await listen(join(folder, own));
    const others = flagsIn(folder, `${basename(path)}.`).filter((name) => name !== own);
    const isSeen = (await Promise.all(others.map((name) => isUp(join(folder, name))))).includes(true);
    isAlone = !isSeen && existsSync(join(folder, own)); // one who looked as this went up may have taken it for dead
    return isAlone ? lower : undefined;
  } finally {
    if (!isAlone) lower();
    leave();
  }
}

/** The longest name of a socket that every system takes. A longer one would be cut short without a word. */
const MAX_NAME = 103;
const MAX_FLAG = 40;

/** A short name for a folder, a link if need be, until it is left. */
function within(folder: string): { readonly folder: string; leave(): void } {
  if (Buffer.byteLength(folder) <= MAX_NAME - MAX_FLAG) return { folder, leave() {} };
  const place = mkdtempSync(join(tmpdir(), 'flag-'));
  const link = join(place, 'd');
  symlinkSync(resolve(folder), link);
  return { folder: link, leave: () => rmSync(place, { recursive: true }) };
}

const flagsIn = (folder: string, prefix: string): string[] =>
  readdirSync(folder).filter((name) => name.startsWith(prefix) && /^[0-9a-f]{8}\.up$/.test(name.slice(prefix.length)));

async function listen(flag: string): Promise<Server> {
  if (Buffer.byteLength(flag) > MAX_NAME) throw new Error(`${flag} is too long for the name of a socket`);
  const server = createServer((socket) => socket.destroy()).unref();
  await new Promise<void>((resolve, reject) => {
    server.on('error', reject).listen(flag, resolve); // later faults are about one who looked, and end nobody
  });
  return server;
}

/** What refuses is what a dead process left, and is removed: as no name is used twice it can become nobody else's. */
function isUp(flag: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(flag, () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', (fault) => {
      const isDead = hasCode(fault, 'ECONNREFUSED') || hasCode(fault, 'ENOENT');
      if (isDead) rmSync(flag, { force: true });
      resolve(!isDead);
    });
  });
}
