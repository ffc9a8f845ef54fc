import { readTables } from '../../shared/runtime/files/read-tables.ts';

const TABLES = readTables(new URL('data/words.tsv', import.meta.url), 'words');

/** Returns the words of a kind by what they stand for. */
export const wordsOf = (kind: 'attempts' | 'rights'): ReadonlyMap<string, string> =>
  new Map(
    TABLES.filter(({ head: [name] }) => name === kind).flatMap(({ rows }) =>
      rows.map(([key = '', words = '']) => [key, words] as const),
    ),
  );
