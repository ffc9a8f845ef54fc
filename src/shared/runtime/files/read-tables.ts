import { readFileSync } from 'node:fs';

export interface Table {
  /** The cells of its first line, behind the word that begins a table. */
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** Reads a file of tables: lines of cells between tabs. Each table begins with the same word; `#` begins a comment. */
export const readTables = (file: URL, word: string): readonly Table[] =>
  readFileSync(file, 'utf8')
    .replace(/^#.*\n/gm, '')
    .split(new RegExp(`^${word}\t`, 'm'))
    .slice(1)
    .map((text) => {
      const [head = [], ...rows] = text
        .trimEnd()
        .split('\n')
        .map((line) => line.split('\t'));
      return { head, rows };
    });
