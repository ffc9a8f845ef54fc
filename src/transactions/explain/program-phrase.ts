import { programName } from '../programs/known-programs.ts';
import type { FormatAddress } from './sentence-formats.ts';

/** Returns ` on Jupiter`, ` through the program 7xKX…gAsU`, or nothing for Solana's own programs. */
export function programPhrase(program: string | null, preposition: string, formatAddress: FormatAddress): string {
  if (program === null) return '';
  const name = programName(program);
  return name === null ? ` through ${programLabel(program, formatAddress)}` : ` ${preposition} ${name}`;
}

/** Returns `Jupiter` or `the program 7xKX…gAsU`. */
export function programLabel(program: string, formatAddress: FormatAddress): string {
  if (program === '') return 'a program';
  return programName(program) ?? `the program ${formatAddress(program)}`;
}

/** Returns `Orca`, `Orca and Meteora` or `5 exchanges`: names alone, each once. */
export function exchangeNames(exchanges: readonly string[]): string {
  const names = [...new Set(exchanges.map((id) => programName(id) ?? id))];
  return names.length > 2 ? `${names.length} exchanges` : names.join(' and ');
}
