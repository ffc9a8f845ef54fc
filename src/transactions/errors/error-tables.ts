import { readTables } from '../../shared/runtime/files/read-tables.ts';

/** An error: its name in the source of its program, and its meaning as a sentence ending. */
export interface KnownError {
  readonly name: string | null;
  readonly message: string;
  /** The account that the message is about: its place among the call's accounts, and what it is. */
  readonly about: { readonly place: number; readonly what: string } | undefined;
  /** The last slot at which its number is known to be this one: another version of the program may number others. */
  readonly lastSlot: number;
}

/** The errors of a program by number, and by name, which each version of a program has. */
export interface ErrorTable {
  readonly byNumber: ReadonlyMap<string, KnownError>;
  readonly byName: ReadonlyMap<string, KnownError>;
}

/**
 * Errors by program; under `transaction` and `instruction` those of the runtime, under `anchor` those of the framework. A
 * program may have several tables, and a table several programs.
 */
const TABLES = new Map<string, { byNumber: Map<string, KnownError>; byName: Map<string, KnownError> }>();
for (const { head, rows } of readTables(new URL('data/errors.tsv', import.meta.url), 'program')) {
  const [programs = '', until = ''] = head;
  const lastSlot = Number(/^until (\d+)$/.exec(until)?.[1] ?? Number.POSITIVE_INFINITY);
  for (const program of programs.split(' ')) {
    const table = TABLES.get(program) ?? { byNumber: new Map(), byName: new Map() };
    for (const [code = '', name = '', message = '', account = ''] of rows) {
      const [place, what] = account.split('=');
      const about = what === undefined ? undefined : { place: Number(place), what };
      const error = { name: name === '-' ? null : name, message, about, lastSlot };
      table.byNumber.set(code, error);
      table.byName.set(name, error);
    }
    TABLES.set(program, table);
  }
}

export const errorTableOf = (program: string | null): ErrorTable | undefined => TABLES.get(program ?? '');

/** Finds an error by its number at a slot. */
export function numberedError(table: ErrorTable | undefined, code: number | null, slot: number | null) {
  const error = table?.byNumber.get(`${code}`);
  return error !== undefined && (slot ?? Number.POSITIVE_INFINITY) <= error.lastSlot ? error : undefined;
}
