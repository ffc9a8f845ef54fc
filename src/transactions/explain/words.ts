import { readTables } from '../../shared/runtime/files/read-tables.ts';

/** The rows of each kind of words. */
const TABLES = new Map(
  readTables(new URL('data/words.tsv', import.meta.url), 'words').map(({ head: [kind], rows }) => [kind, rows]),
);

/** Returns the words of a kind by what they stand for. */
export const wordsOf = (
  kind: 'attempts' | 'changes' | 'hidden' | 'nfts' | 'programs' | 'purposes' | 'rights',
): ReadonlyMap<string, string> => new Map(TABLES.get(kind)?.map(([key = '', words = '']) => [key, words]));

/** Fills the places of a row of words: `{account}`. */
export const filledIn = (words: string, parts: Readonly<Record<string, string>>): string =>
  words.replace(/\{(\w+)\}/g, (_, name: string) => parts[name] ?? '');
