import { readTables } from '../../shared/runtime/files/read-tables.ts';

const TABLES = readTables(new URL('data/words.tsv', import.meta.url), 'words');

/** Returns the words of a kind by what they stand for. */
export const wordsOf = (
  kind: 'attempts' | 'changes' | 'hidden' | 'nfts' | 'programs' | 'purposes' | 'rights',
): ReadonlyMap<string, string> =>
  new Map(
    TABLES.filter(({ head: [name] }) => name === kind).flatMap(({ rows }) =>
      rows.map(([key = '', words = '']) => [key, words] as const),
    ),
  );

/** Fills the places of a row of words: `{account}`. */
export const filledIn = (words: string, parts: Readonly<Record<string, string>>): string =>
  words.replace(/\{(\w+)\}/g, (_, name: string) => parts[name] ?? '');
