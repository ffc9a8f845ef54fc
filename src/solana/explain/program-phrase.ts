import { findMainProgram } from '../analysis/main-program.ts';
import type { ParsedTransaction } from '../analysis/parsed-transaction.ts';
import { programName } from '../programs/known-programs.ts';
import type { FormatAddress } from './sentence-formats.ts';

/** Returns ` on Jupiter`, ` through the program 7xKX…gAsU`, or nothing for Solana's own programs. */
export function programPhrase(
  parsed: Pick<ParsedTransaction, 'instructions'>,
  preposition: string,
  formatAddress: FormatAddress,
): string {
  const id = findMainProgram(parsed);
  if (id === null) return '';
  const name = programName(id);
  return name === null ? ` through the program ${formatAddress(id)}` : ` ${preposition} ${name}`;
}
