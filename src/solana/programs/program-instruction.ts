import { decodeBase58, maxBase58Length } from '../codec/base58.ts';
import type { InstructionRole } from './instruction-roles.ts';
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
  /** The maker's name of the instruction, as in the program's source: `place_limit_order`. */
  readonly name: string;
  /** What a transaction is for that makes this call; null if it moves nothing of meaning, or its name doesn't tell. */
  readonly type: TransactionType | null;
  /** The accounts that matter, by role. */
  readonly roles: Readonly<Partial<Record<InstructionRole, string>>>;
}

interface InstructionRow extends Pick<ProgramInstruction, 'name' | 'type'> {
  readonly positions: readonly (readonly [role: InstructionRole, position: number])[];
}

interface InstructionTable {
  /** Bytes at the start of the data that tell the instruction: 8 for Anchor, 1 for most others; one program has two. */
  readonly discriminatorLengths: readonly number[];
  readonly byDiscriminator: ReadonlyMap<string, InstructionRow>;
}

/** An event that an Anchor program writes by calling itself. https://www.anchor-lang.com/docs/features/events */
const EVENT: ProgramInstruction = { name: 'emit_event', type: null, roles: {} };
const EVENT_DISCRIMINATOR = 'e445a52e51cb9a1d';
const ANCHOR_LENGTH = 8;

/** Longest data that is read, as long as most transactions may be: base58 takes long to decode. */
const MAX_DATA_LENGTH = maxBase58Length(1232);

/** The tables' texts by program; one text may be that of several programs. */
const texts = new Map(
  Object.entries(PROGRAM_INSTRUCTIONS).flatMap(([ids, text]) => ids.split(' ').map((id) => [id, text] as const)),
);
/** Tables that were needed: most threads see few programs. */
const tables = new Map<string, InstructionTable>();

/** Finds what a call is; null if the program or its instruction is in no table. */
export function findProgramInstruction({ programId, data, accounts }: ProgramCall): ProgramInstruction | null {
  const table = tableOf(programId);
  if (table === null || data === null || data.length > MAX_DATA_LENGTH) return null;
  const hex = Buffer.from(decodeBase58(data)?.subarray(0, ANCHOR_LENGTH) ?? []).toString('hex');
  const row = table.discriminatorLengths
    .map((length) => table.byDiscriminator.get(hex.slice(0, 2 * length)))
    .find((found) => found !== undefined);
  if (row === undefined) return hex === EVENT_DISCRIMINATOR ? EVENT : null;
  const roles: Partial<Record<InstructionRole, string>> = {};
  for (const [role, position] of row.positions) {
    const account = accounts[position];
    if (account !== undefined && account !== programId) roles[role] = account; // the program itself stands for no account
  }
  return { name: row.name, type: row.type, roles };
}

function tableOf(programId: string): InstructionTable | null {
  const known = tables.get(programId);
  if (known !== undefined) return known;
  const text = texts.get(programId);
  if (text === undefined) return null;
  const rows = text.trim().split('\n').map(readRow);
  const discriminatorLengths = [...new Set(rows.map(([discriminator]) => discriminator.length / 2))];
  const table = { discriminatorLengths, byDiscriminator: new Map(rows) };
  tables.set(programId, table);
  return table;
}

/** Reads a line of a table: `06 cancel_all_orders CANCEL_ORDER owner=3`. */
function readRow(line: string): [discriminator: string, InstructionRow] {
  const [discriminator = '', name = '', type = '-', ...roles] = line.split(' ');
  const positions = roles.map((entry) => {
    const [role, position] = entry.split('=');
    return [role as InstructionRole, Number(position)] as const;
  });
  return [discriminator, { name, type: type === '-' ? null : (type as TransactionType), positions }];
}
