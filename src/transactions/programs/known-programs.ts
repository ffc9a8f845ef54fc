import { readTables } from '../../shared/runtime/files/read-tables.ts';
import { type ProgramRole, roleRow } from './program-roles.ts';
import type { TransactionType } from './transaction-types.ts';

export interface KnownProgram {
  /** The makers' spelling: `Jupiter`. */
  readonly name: string;
  /** Helius' name, if it has one: `JUPITER`. */
  readonly source: string;
  readonly role: ProgramRole;
}

/** Programs that a transaction may name, by id. Every other program is named by its address: nothing is guessed. */
export const KNOWN_PROGRAMS: ReadonlyMap<string, KnownProgram> = new Map(
  readTables(new URL('data/programs.tsv', import.meta.url), 'role').flatMap(({ head: [role], rows }) =>
    rows.map(([id = '', name = '', source = '']) => [id, { name, source, role: role as ProgramRole }] as const),
  ),
);

/** Returns a program's name, or null: `programName` of an enhanced instruction. */
export const programName = (id: string): string | null => KNOWN_PROGRAMS.get(id)?.name ?? null;

/** Returns a program's role; `other` for a program that is not in the table, and for none. */
export const programRole = (id: string | null): ProgramRole => KNOWN_PROGRAMS.get(id ?? '')?.role ?? 'other';

const idsWith = (trait: 'isTrading' | 'isIncidental'): ReadonlySet<string> =>
  new Set([...KNOWN_PROGRAMS].flatMap(([id, { role }]) => (roleRow(role)[trait] === true ? [id] : [])));
const [TRADING, INCIDENTAL] = [idsWith('isTrading'), idsWith('isIncidental')];

/** Returns whether people trade through a program. */
export const isTradingProgram = (id: string | null): boolean => TRADING.has(id ?? '');

/** Returns whether a program only serves the instructions beside it, so that a transaction is about another one. */
export const isIncidentalProgram = (id: string): boolean => INCIDENTAL.has(id);

/** Returns what a transaction is that calls a program, while its instruction is unknown; null if that may be anything. */
export const fallbackTypeOf = (id: string): TransactionType | null => roleRow(programRole(id)).fallbackType;
