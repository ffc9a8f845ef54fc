import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { atExit } from './at-exit.ts';

/** Makes a folder that goes with this process. */
export function makeTemporaryFolder(): string {
  const path = mkdtempSync(join(tmpdir(), 'slotgate-bench-'));
  atExit(() => rmSync(path, { recursive: true, force: true }));
  return path;
}
