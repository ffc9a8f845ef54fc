import { readdirSync } from 'node:fs';
import t from 'tap';

type Hook = () => unknown;

const TESTS = new URL('../', import.meta.url);

/**
 * Runs test files one after another in this process, since starting a process and loading the gateway takes longer than
 * most files do. Hooks that a file registers at its top level run for that file only. A name is a file in `dist/test`
 * without `.test.js`, or a folder with all that is in it.
 */
export async function runSuite(...names: readonly string[]): Promise<void> {
  const { test, teardown, beforeEach, afterEach } = t;
  for (const file of names.flatMap(filesOf)) {
    const results: Promise<unknown>[] = [];
    const teardowns: Hook[] = [];
    let isRunning = true;
    const whileRunning =
      (hook: (t: any) => unknown) =>
      (t: any): unknown =>
        isRunning ? hook(t) : undefined;
    Object.assign(t, {
      test: (title: string, ...rest: any[]) => {
        const result = (test as any).call(t, `${file}: ${title}`, ...rest);
        results.push(result);
        return result;
      },
      teardown: (hook: Hook) => teardowns.unshift(hook),
      beforeEach: (hook: (t: any) => unknown) => beforeEach.call(t, whileRunning(hook)),
      afterEach: (hook: (t: any) => unknown) => afterEach.call(t, whileRunning(hook)),
    });
    const report = (thrown: unknown): unknown => t.fail(`${file}: ${Object(thrown).stack ?? thrown}`);
    await import(new URL(`${file}.test.js`, TESTS).href).catch(report);
    if (results.length === 0) t.fail(`${file}: it has no test`);
    await Promise.allSettled(results); // tap reports those that fail
    for (const hook of teardowns) await Promise.resolve().then(hook).catch(report);
    isRunning = false;
  }
  Object.assign(t, { test, teardown, beforeEach, afterEach });
}

/** Lists the test files that a name stands for. */
function filesOf(name: string): readonly string[] {
  return readdirSync(TESTS, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.js'))
    .map((file) => file.slice(0, -'.test.js'.length))
    .filter((file) => file === name || file.startsWith(`${name}/`))
    .sort();
}
