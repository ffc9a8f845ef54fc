import { readTables } from '../../shared/runtime/files/read-tables.ts';
import { asObject } from '../codec/json-fields.ts';
import type { Instruction } from '../records/instruction.ts';
import type { ParsedInfo } from '../records/instruction-layout.ts';

/** Where an instruction names an address: under the first name that it has, as a member of others. */
export type Place = readonly (readonly string[])[];

export const placeOf = (text = '-'): Place => (text === '-' ? [] : text.split('|').map((name) => name.split('.')));

export function addressAt(info: ParsedInfo, place: Place): string | null {
  for (const names of place) {
    let value: unknown = info;
    for (const name of names) value = asObject(value)[name];
    if (typeof value === 'string') return value;
  }
  return null;
}

/** The tables of effects: what instructions of Solana's own programs do to balances and rights. */
const TABLES = new Map(
  readTables(new URL('data/effects.tsv', import.meta.url), 'effects').map(({ head: [name], rows }) => [name, rows]),
);

/**
 * Returns the function that finds what a call does by one of the tables: nothing if it is not in it, several things by
 * several rows.
 */
export function effectsIn<Effect>(
  table: 'rights' | 'transfers' | 'hidden',
  read: (cells: readonly string[]) => Effect,
): (call: Instruction) => readonly Effect[] {
  const effects = new Map<string | null, Map<string, Effect[]>>(); // by program, then by type
  for (const [instruction = '', ...cells] of TABLES.get(table) ?? []) {
    const [program = '', type = ''] = instruction.split(' ');
    const ofProgram = effects.get(program) ?? new Map<string, Effect[]>();
    effects.set(program, ofProgram.set(type, [...(ofProgram.get(type) ?? []), read(cells)]));
  }
  return ({ program, parsed }) => (parsed === null ? undefined : effects.get(program)?.get(parsed.type)) ?? [];
}
