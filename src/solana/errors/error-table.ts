/** A program's error: its name in the source, and its meaning as a sentence ending. */
interface ProgramError {
  readonly name: string;
  readonly message: string;
}

export type ErrorTable = ReadonlyMap<number, ProgramError>;

/** Numbers errors from `first` on, as Rust numbers enum variants. */
export const numberedErrors = (
  first: number,
  rows: readonly (readonly [name: string, message: string])[],
): ErrorTable => new Map(rows.map(([name, message], index) => [first + index, { name, message }]));

/** Merges tables whose numbers differ. */
export const mergeErrorTables = (...tables: readonly ErrorTable[]): ErrorTable =>
  new Map(tables.flatMap((table) => [...table]));
