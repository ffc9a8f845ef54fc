import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A folder and teardowns; every tap test is one. */
export interface TestScope {
  testdir(): string;
  teardown(end: () => unknown): void;
}

/** Creates a scope outside of a test, and runs its teardowns in any case. */
export async function withTestScope<T>(body: (scope: TestScope) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'slotgate-'));
  const teardowns: (() => unknown)[] = [() => rm(folder, { recursive: true })];
  try {
    return await body({ testdir: () => folder, teardown: (end) => teardowns.push(end) });
  } finally {
    for (const end of teardowns.reverse()) await end();
  }
}
