import { CORE_PROGRAMS } from './core-programs.ts';
import type { KnownProgram, ProgramsByRole } from './known-program.ts';
import { type ProgramRole, roleRow } from './program-roles.ts';
import { SERVICE_PROGRAMS } from './service-programs.ts';
import { TRADING_PROGRAMS } from './trading-programs.ts';
import type { TransactionType } from './transaction-types.ts';

const entriesOf = (programs: ProgramsByRole): [string, KnownProgram][] =>
  Object.entries(programs).flatMap(([role, rows]) =>
    rows.map(([id, name, source]): [string, KnownProgram] => [id, { name, source, role: role as ProgramRole }]),
  );

/**
 * Programs that a transaction may name, by id. Two public sources name each of them, or one and a recorded transaction
 * that fits. Every other program is named by its address: nothing is guessed.
 */
export const KNOWN_PROGRAMS: ReadonlyMap<string, KnownProgram> = new Map(
  [CORE_PROGRAMS, TRADING_PROGRAMS, SERVICE_PROGRAMS].flatMap(entriesOf),
);

/** Returns a program's name, or null: `programName` of an enhanced instruction. */
export const programName = (id: string): string | null => KNOWN_PROGRAMS.get(id)?.name ?? null;

/** Returns a program's role; `other` for a program that is not in the table. */
export const programRole = (id: string): ProgramRole => KNOWN_PROGRAMS.get(id)?.role ?? 'other';

/** Returns whether people trade through a program. */
export const isTradingProgram = (id: string): boolean => roleRow(programRole(id)).isTrading === true;

/** Returns whether a program only serves the instructions beside it, so that a transaction is about another one. */
export const isIncidentalProgram = (id: string): boolean => roleRow(programRole(id)).isIncidental === true;

/** Returns what a transaction is that calls a program, while its instruction is unknown; null if that may be anything. */
export const fallbackTypeOf = (id: string): TransactionType | null => roleRow(programRole(id)).fallbackType;
