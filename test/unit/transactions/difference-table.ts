import { readFileSync } from 'node:fs';
import type { Test } from 'tap';

/**
 * Compares differences with a table of listed ones: `name<TAB>difference<TAB>why ours is right`, kept as text. Fails
 * for a difference that is not listed, and for a listed one that is gone or has no reason.
 */
export function expectListedDifferences(t: Test, file: string, differences: readonly string[]): void {
  const lines = readFileSync(new URL(`../../../../test/unit/transactions/differences/${file}`, import.meta.url), 'utf8')
    .trimEnd()
    .split('\n')
    .filter((line) => !line.startsWith('#'));
  for (const line of lines) t.comment(line);
  const known = lines.map((line) => line.split('\t').slice(0, 2).join('\t'));
  t.strictSame([...differences].sort(), known.sort(), `the differences are those of ${file}`);
  t.ok(
    lines.every((line) => line.split('\t')[2]),
    'each has a reason',
  );
}
