import { decodeBase58 } from '../codec/base58.ts';
import { PROGRAM_INSTRUCTIONS } from './program-instruction-table.ts';
import type { TransactionType } from './transaction-types.ts';

/** A call of a program, with its data in base58; null if only its decoded form is known. */
export interface ProgramCall {
  readonly programId: string;
  readonly data: string | null;
  readonly accounts: readonly string[];
}

/** What a call is by the program's table of instructions. */
export interface ProgramInstruction {
  /** The maker's name of the instruction. */
  readonly name: string;
  /** What a transaction is for that makes this call; null if the name alone doesn't tell. */
  readonly type: TransactionType | null;
  /** The accounts that matter, by role: `user`, `owner`, `vault`, `mint`. */
  readonly roles: Readonly<Record<string, string>>;
}

/** Finds what a call is; null if the program or its instruction is in no table. */
export function findProgramInstruction({ programId, data, accounts }: ProgramCall): ProgramInstruction | null {
  if (data === null || !Object.hasOwn(PROGRAM_INSTRUCTIONS, programId)) return null;
  const program = PROGRAM_INSTRUCTIONS[programId];
  const bytes = decodeBase58(data);
  if (program === undefined || bytes === undefined || bytes.length < program.discriminatorLength) return null;
  const row = program.instructions[Buffer.from(bytes.subarray(0, program.discriminatorLength)).toString('hex')];
  if (row === undefined) return null;
  const roles = Object.entries(row.roles ?? {}).flatMap(([role, position]) => {
    const account = accounts[position];
    return account === undefined ? [] : [[role, account] as const];
  });
  return { name: row.name, type: row.type, roles: Object.fromEntries(roles) };
}
