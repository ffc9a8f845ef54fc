import { readFileSync } from 'node:fs';
import t from 'tap';

const PORTABLE = /^(@noble\/(curves|hashes)\/|bs58$)/;
const NODE_ONLY = /\b(?:Buffer|process|global)\b\s*[.[]|\brequire\(/;

/** Returns everything that is loaded with a module, packages included. */
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

for (const [what, module, files] of [
  ['the verifier', 'receipts/verify/verify-receipt.js', 5],
  ['the client', 'client/client.js', 25],
] as const) {
  t.test(`${what} imports nothing that a browser does not have`, async (t) => {
    const src = new URL('../../src/', import.meta.url);
    const reached = [...reachedFrom(new URL(module, src))];
    const packages = reached.filter((specifier) => !specifier.startsWith('file:'));
    const own = reached.filter((specifier) => specifier.startsWith('file:'));
    t.ok(packages.length >= 3 && own.length > files, 'the walk works');
    t.same(
      packages.filter((specifier) => !PORTABLE.test(specifier)),
      [],
    );
    t.same(
      own.filter((file) => /^(routes|routing|serving|upstream|solana|cache)\//.test(file.slice(src.href.length))),
      [],
      'of the server it imports only types',
    );
    for (const file of own) t.notMatch(readFileSync(new URL(file), 'utf8'), NODE_ONLY, file);
  });
}
