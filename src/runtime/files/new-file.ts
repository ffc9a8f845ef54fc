import { readdirSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { DRAFT_ENDING, syncFolder, writeDraft } from './draft.ts';
import { hasCode } from './errno.ts';
import { link } from './link.ts';

/**
 * Makes a file that only we can read, unless its name is taken. It appears whole, on the disk and under its name, or
 * not at all: whoever comes second, or after a crash, finds one complete file. Tells whether it is the new one.
 */
export function writeNewFile(path: string, text: string | Buffer): boolean {
  const draft = writeDraft(path, text);
  try {
    const isOurs = linkNew(draft, path);
    dropDrafts(path);
    return isOurs;
  } finally {
    rmSync(draft, { force: true });
    syncFolder(dirname(path));
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
    if (name.startsWith(prefix) && name.endsWith(DRAFT_ENDING)) rmSync(join(folder, name), { force: true });
  }
}

function linkNew(draft: string, path: string): boolean {
  try {
    return link(draft, path);
  } catch (thrown) {
    if (hasCode(thrown, 'ENOENT')) return false; // another was faster, and has dropped our draft
    throw thrown;
  }
}
