import { readFileSync } from 'node:fs';
import t from 'tap';

const PORTABLE = /^(@noble\/(curves|hashes)\/|bs58$)/;

/** Everything that is loaded with a module, packages included. */
function reachedFrom(file: URL, seen = new Set<string>()): Set<string> {
  if (seen.has(file.href)) return seen;
  seen.add(file.href);
  const code = readFileSync(file, 'utf8');
  for (const [, specifier = ''] of code.matchAll(/(?:\bfrom |^import |\bimport\()'([^']+)'/gm)) {
    if (specifier.startsWith('.')) reachedFrom(new URL(specifier, file), seen);
    else seen.add(specifier);
  }
  return seen;
}

t.test('the verifier reaches nothing that a browser does not have', async (t) => {
  const reached = reachedFrom(new URL('../../src/receipt/verify.js', import.meta.url));
  const packages = [...reached].filter((specifier) => !specifier.startsWith('file:'));
  t.ok(packages.length >= 3 && reached.size > packages.length + 5, 'the walk works');
  t.same(
    packages.filter((specifier) => !PORTABLE.test(specifier)),
    [],
  );
  for (const file of reached) {
    if (file.startsWith('file:'))
      t.notMatch(readFileSync(new URL(file), 'utf8'), /\b(?:Buffer|process|require)\b/, file);
  }
});
