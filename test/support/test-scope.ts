import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Where something is tried: a folder, and what is done at the end. Every test is one. */
export interface TestScope {
  testdir(): string;
  teardown(end: () => unknown): void;
}

/** Makes a place for who is no test, and clears it away whatever happens there. */
export async function withTestScope<T>(body: (place: TestScope) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'slotgate-'));
  const teardowns: (() => unknown)[] = [() => rm(folder, { recursive: true })];
  try {
    return await body({ testdir: () => folder, teardown: (end) => teardowns.push(end) });
  } finally {
    for (const end of teardowns.reverse()) await end();
  }
}
