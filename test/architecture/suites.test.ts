import { readdirSync, readFileSync } from 'node:fs';
import t from 'tap';

const TESTS = new URL('../../../test/', import.meta.url); // from dist/test/architecture

const namesIn = (folder: string): readonly string[] =>
  readdirSync(new URL(folder, TESTS), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts'))
    .map((file) => file.slice(0, -'.test.ts'.length));

/** Runs files of other suites again, over another engine. */
const AGAIN = 'e2e-engine-node';

t.test('each test file is in one suite, and each suite names only what exists', async (t) => {
  const files = namesIn('.').filter((file) => !file.startsWith('suites/'));
  const uses = new Map(files.map((file) => [file, 0]));
  for (const suite of namesIn('suites/')) {
    const code = readFileSync(new URL(`suites/${suite}.test.ts`, TESTS), 'utf8');
    const [, list = ''] = /runSuite\(([^)]*)\)/.exec(code) ?? [];
    for (const [, name = ''] of list.matchAll(/'([^']+)'/g)) {
      const named = files.filter((file) => file === name || file.startsWith(`${name}/`));
      t.ok(named.length > 0, `${suite} names ${name}`);
      for (const file of named)
        if (suite !== AGAIN || file === 'e2e/engines') uses.set(file, (uses.get(file) ?? 0) + 1);
    }
  }
  t.same(
    [...uses].filter(([, count]) => count !== 1),
    [],
  );
});
