import type { ProgramRole } from './program-roles.ts';

export interface KnownProgram {
  /** The makers' spelling: `Jupiter`. */
  readonly name: string;
  /** Helius' name, if it has one: `JUPITER`. */
  readonly source: string;
  readonly role: ProgramRole;
}

export type ProgramRow = readonly [id: string, name: string, source: string];

/** Programs by their role. */
export type ProgramsByRole = Readonly<Partial<Record<ProgramRole, readonly ProgramRow[]>>>;
