import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { reasonOf } from '../../domain/reason-of.ts';
import { StartError } from '../../domain/start-error.ts';

export interface FolderFault {
  readonly reason: string;
  readonly fix: string;
}

/** Says why a state folder can't be used, created or, if it `isWritten`, written, and what helps; undefined if it can. */
export function findFolderFault(folder: string, isWritten: boolean): FolderFault | undefined {
  const existing = nearestExisting(folder);
  try {
    if (!statSync(existing).isDirectory())
      return { reason: `${existing} is no folder`, fix: 'choose another by --data-dir' };
    if (isWritten) accessSync(existing, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (thrown) {
    const reason = reasonOf(thrown);
    return { reason, fix: 'let this user write it, or choose another by --data-dir' };
  }
  return undefined;
}

/** Throws a StartError if a state folder can't be used or, if it `isWritten`, written. */
export function requireFolder(folder: string, isWritten: boolean): void {
  const fault = findFolderFault(folder, isWritten);
  if (fault !== undefined) throw new StartError(78, `the state folder can't be used: ${fault.reason}; ${fault.fix}`);
}

/** Returns a folder, or the one above it in which it would be created. */
export function nearestExisting(folder: string): string {
  let existing = folder;
  while (!existsSync(existing) && dirname(existing) !== existing) existing = dirname(existing);
  return existing;
}
