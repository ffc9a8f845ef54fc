import { readTable } from './read-table.ts';

/** Symbols that imitate a known token or the mark that pages give one. */
export const HOSTILE_NAMES: readonly string[] = readTable('support/hostile-names.txt').map(([, name = '']) =>
  JSON.parse(name),
);
