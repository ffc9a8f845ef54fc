import { readFileSync } from 'node:fs';

/**
 * Reads a table by its path in test/: a row a line, with tabs between its cells. Lines with # are comments. Throws for an
 * empty table or cell, and unless `isRagged` for a row with another number of cells than the first.
 */
export function readTable(path: string, isRagged = false): readonly string[][] {
  const rows = readFileSync(new URL(`../../../test/${path}`, import.meta.url), 'utf8') // from dist/test/support
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => line.split('\t'));
  const wrong = rows.find((row) => row.includes('') || (!isRagged && row.length !== rows[0]?.length));
  if (rows.length === 0 || wrong !== undefined) throw new Error(`${path} has no rows, or a wrong one: ${wrong}`);
  return rows;
}
