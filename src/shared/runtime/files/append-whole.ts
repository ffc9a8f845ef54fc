import { appendFileSync, statSync, truncateSync } from 'node:fs';
import { ifPresent } from './error-code.ts';

/** Appends a text to a file: all of it, or none if the write fails. It survives a kill of the process, and with `flush` a crash of the machine. */
export function appendWhole(path: string, text: string, { flush = false } = {}): void {
  const size = fileSizeOf(path);
  try {
    appendFileSync(path, text, { mode: 0o600, flush });
  } catch (thrown) {
    if (fileSizeOf(path) > size) truncateSync(path, size); // a full disk writes a part
    throw thrown;
  }
}

/** 0 if there is no file. Node 24's `throwIfNoEntry` would hide a folder that is none, too. */
export const fileSizeOf = (path: string): number => ifPresent(() => statSync(path).size) ?? 0;
