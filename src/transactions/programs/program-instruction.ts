import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { readTables } from '../../shared/runtime/files/read-tables.ts';
import { decodeBase58, maxBase58Length } from '../codec/base58.ts';
import { asString, type JsonObject } from '../codec/json-fields.ts';
import type { InstructionRole } from './instruction-roles.ts';
import { type ProgramCall, valuesReader } from './named-values.ts';
import type { TransactionType } from './transaction-types.ts';

/** What a call is by the program's table of instructions. */
export interface ProgramInstruction {
  /** The maker's name of the instruction, as in the program's source: `place_limit_order`. */
  readonly name: string;
  /** What a transaction is for that makes this call; null if it moves nothing of meaning, or its name doesn't show it. */
  readonly type: TransactionType | null;
  /** The accounts that matter, by role. */
  readonly roles: Readonly<Partial<Record<InstructionRole, string>>>;
  /**
   * What else its data names, as far as a table says where: the price of a listing or a bid as `amount` and
   * `currencyMint` (a sale names the most or least that its maker accepts, which is none), or the signs of the changes of
   * `collateral` and `debt`.
   */
  readonly values: JsonObject;
}

interface InstructionRow extends Pick<ProgramInstruction, 'name' | 'type'> {
  readonly valuesIn: (call: ProgramCall) => JsonObject;
  readonly positions: readonly (readonly [role: InstructionRole, position: number])[];
}

interface InstructionTable {
  /** Bytes at the start of the data that select the instruction, most first: 8 for Anchor, 1 for most others; some have two. */
  readonly discriminatorLengths: readonly number[];
  readonly byDiscriminator: ReadonlyMap<string, InstructionRow>;
}

/** An event that an Anchor program writes by calling itself. https://www.anchor-lang.com/docs/features/events */
const EVENT: ProgramInstruction = { name: 'emit_event', type: null, roles: {}, values: {} };
const EVENT_DISCRIMINATOR = 'e445a52e51cb9a1d';
const ANCHOR_LENGTH = 8;

/**
 * An instruction of each Anchor program: it has 41 bytes, of which the first eight begin so in base58, then the number of its
 * variant. https://github.com/coral-xyz/anchor/blob/v0.31.1/lang/src/idl.rs
 */
const [, IDL_AUTHORITY] = readRow(['set_idl_authority', '', '-', 'user=1 account=0', '-:8 -:1 holder:key']);
const IDL_CALL = /^3HTppgqq4k.{46}$/;
const setsIdlAuthority = ({ data }: ProgramCall): boolean =>
  data !== null && IDL_CALL.test(data) && decodeBase58(data)?.[ANCHOR_LENGTH] === 4;

/** Longest data that is read, as long as most transactions may be: base58 is slow to decode. */
const MAX_DATA_LENGTH = maxBase58Length(1232);

/** Files with a table for some programs each: `program<TAB>ids<TAB>URL<TAB>date`, then a row for each instruction. */
const FOLDER = new URL('data/instructions/', import.meta.url);

/** The rows of instructions by program. Several programs may have the same rows. */
const rowsOf = new Map(
  readdirSync(FOLDER)
    .flatMap((file) => readTables(new URL(file, FOLDER), 'program'))
    .flatMap(({ head: [ids = ''], rows }) => ids.split(' ').map((id) => [id, rows] as const)),
);
/** Tables that were needed: most threads see few programs. */
const tables = new Map<string, InstructionTable>();

/** Finds what a call is; null if the program or its instruction is in no table. */
export function findProgramInstruction(call: ProgramCall): ProgramInstruction | null {
  const { programId, data } = call;
  if (setsIdlAuthority(call)) return readCall(IDL_AUTHORITY, call);
  const table = tableOf(programId);
  if (table === null) return null;
  const hex = discriminatorOf(data);
  const row = table.discriminatorLengths
    .map((length) => table.byDiscriminator.get(hex.slice(0, 2 * length)))
    .find((found) => found !== undefined);
  if (row === undefined) return hex === EVENT_DISCRIMINATOR ? EVENT : null;
  return readCall(row, call);
}

function readCall(row: InstructionRow, call: ProgramCall): ProgramInstruction {
  const { programId, accounts } = call;
  const roles: Partial<Record<InstructionRole, string>> = {};
  for (const [role, position] of row.positions) {
    const account = accounts[position];
    if (account !== undefined && account !== programId) roles[role] = account; // the program itself stands for no account
  }
  const values = row.valuesIn(call);
  const holder = asString(values['holder']);
  if (holder !== null) roles.holder = holder;
  return { name: row.name, type: row.type, roles, values };
}

/** Programs with an instruction that gives somebody a right. */
const givers = new Set([...rowsOf].flatMap(([id, rows]) => (rows.some(isGiving) ? [id] : [])));

function isGiving([, , , roles = '', fields = '']: readonly string[]): boolean {
  return /holder[=:]/.test(`${roles} ${fields}`);
}

/** Returns whether a program is known to have an instruction that gives somebody a right, as Anchor's for IDLs does. */
export const mayGiveRights = (call: ProgramCall): boolean => givers.has(call.programId) || setsIdlAuthority(call);

/** Returns the first eight bytes of a call's data in hex; empty where the data is unknown or too long. */
export function discriminatorOf(data: string | null): string {
  if (data === null || data.length > MAX_DATA_LENGTH) return '';
  return Buffer.from(decodeBase58(data)?.subarray(0, ANCHOR_LENGTH) ?? []).toString('hex');
}

/** Returns how many tables have each name of an instruction whose discriminator Anchor makes from it. */
export function namesInTables(): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const rows of new Set(rowsOf.values()))
    for (const [name = '', discriminator] of rows)
      if (discriminator === '-') counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

function tableOf(programId: string): InstructionTable | null {
  const known = tables.get(programId);
  if (known !== undefined) return known;
  const rows = rowsOf.get(programId)?.map(readRow);
  if (rows === undefined) return null;
  const discriminatorLengths = [...new Set(rows.map(([discriminator]) => discriminator.length / 2))].toSorted(
    (a, b) => b - a,
  );
  const table = { discriminatorLengths, byDiscriminator: new Map(rows) };
  tables.set(programId, table);
  return table;
}

/**
 * Reads `name<TAB>discriminator<TAB>type<TAB>roles`, such as `cancel_all_orders<TAB>06<TAB>CANCEL_ORDER<TAB>owner=3`, then
 * the fields of its data up to what it names and the most accounts with which it does. The discriminator `-` is the one that
 * Anchor makes from the name, the type `-` is none.
 */
function readRow(cells: readonly string[]): [discriminator: string, InstructionRow] {
  const [name = '', discriminator = '-', type = '-', roles = '', fields, mostAccounts] = cells;
  const valuesIn = fields === undefined ? () => ({}) : valuesReader(fields, mostAccounts);
  const positions = [...roles.matchAll(/(\w+)=(\d+)/g)].map(
    ([, role, position]) => [role as InstructionRole, Number(position)] as const,
  );
  return [
    discriminator === '-' ? anchorDiscriminator(name) : discriminator,
    { name, type: type === '-' ? null : (type as TransactionType), positions, valuesIn },
  ];
}

/** https://www.anchor-lang.com/docs/basics/idl#discriminators */
export const anchorDiscriminator = (name: string): string =>
  createHash('sha256')
    .update(`global:${name}`)
    .digest('hex')
    .slice(0, 2 * ANCHOR_LENGTH);
