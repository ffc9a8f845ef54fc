/** One number of a program's own: the name its source gives it, and what it means in words that end a sentence. */
interface ProgramError {
  readonly name: string;
  readonly message: string;
}

export type ErrorTable = ReadonlyMap<number, ProgramError>;

/** Numbers `rows` on from `first`, as the enums of Rust are numbered. */
export const numberedErrors = (
  first: number,
  rows: readonly (readonly [name: string, message: string])[],
): ErrorTable => new Map(rows.map(([name, message], index) => [first + index, { name, message }]));

/** Two tables as one. Their numbers must differ. */
export const mergeErrorTables = (...tables: readonly ErrorTable[]): ErrorTable =>
  new Map(tables.flatMap((table) => [...table]));
