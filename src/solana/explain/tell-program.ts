import type { Facts } from '../analysis/facts.ts';
import { programName } from '../analysis/known-programs.ts';
import { mainProgram } from '../analysis/main-program.ts';
import type { Spelling } from './wording.ts';

/** ` on Jupiter`, ` through the program 7xKX…gAsU`, or nothing for Solana's own. */
export function through(facts: Pick<Facts, 'instructions'>, preposition: string, spell: Spelling): string {
  const id = mainProgram(facts);
  if (id === null) return '';
  const name = programName(id);
  return name === null ? ` through the program ${spell(id)}` : ` ${preposition} ${name}`;
}
