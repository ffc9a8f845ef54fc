import { readFileSync } from 'node:fs';

/** Reads a table by its path in test/: a row a line, with tabs between its cells. Lines with # are comments. */
export const readTable = (path: string): readonly string[][] =>
  readFileSync(new URL(`../../../test/${path}`, import.meta.url), 'utf8') // from dist/test/support
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => line.split('\t'));
