import type { Test } from 'tap';
import { readTable } from '../../support/read-table.ts';

/**
 * Compares differences with a table of listed ones: `name<TAB>difference<TAB>why ours is right`, kept as text. Fails
 * for a difference that is not listed, and for a listed one that is gone or has no reason.
 */
export function expectListedDifferences(t: Test, file: string, differences: readonly string[]): void {
  const rows = readTable(`unit/transactions/differences/${file}`);
  for (const row of rows) t.comment(row.join('\t'));
  const known = rows.map((row) => row.slice(0, 2).join('\t'));
  t.strictSame([...differences].sort(), known.sort(), `the differences are those of ${file}`);
  t.ok(
    rows.every(([, , reason]) => reason),
    'each has a reason',
  );
}
