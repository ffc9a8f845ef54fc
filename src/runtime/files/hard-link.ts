import { linkSync } from 'node:fs';
import { hasErrorCode } from './error-code.ts';

/** Gives a file another name: it shows there whole or not at all. False when the name is taken, which a rename would replace. */
export function hardLink(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (thrown) {
    if (hasErrorCode(thrown, 'EEXIST')) return false;
    throw thrown;
  }
}
