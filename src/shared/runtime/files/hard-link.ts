import { linkSync } from 'node:fs';
import { hasErrorCode } from './error-code.ts';

/**
 * Gives a file a second name, which appears with the whole content or not at all. Returns false if the name is in use,
 * which a rename would replace.
 */
export function hardLink(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (thrown) {
    if (hasErrorCode(thrown, 'EEXIST')) return false;
    throw thrown;
  }
}
