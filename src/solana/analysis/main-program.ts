import { everyInstruction, type Facts } from './facts.ts';
import { isMarket, KNOWN_PROGRAMS, type KnownProgram, programRole } from './known-programs.ts';

/**
 * The program that a transaction is about; null when it only used Solana's own. A known one that was called by a
 * program without a name is preferred to it: a trader's private program says less than the exchange that it trades on.
 */
export function mainProgram(facts: Pick<Facts, 'instructions'>): string | null {
  const about = (id: string): boolean => !['core', 'helper'].includes(programRole(id));
  const called = facts.instructions.map(({ programId }) => programId).filter(about);
  const inner = everyInstruction(facts)
    .map(({ programId }) => programId)
    .filter(about);
  const known = (ids: readonly string[]): string | undefined =>
    ids.find((id) => programRole(id) === 'orders') ?? ids.find(isMarket) ?? ids.find((id) => KNOWN_PROGRAMS.has(id));
  return known(called) ?? known(inner) ?? called[0] ?? null;
}

/** `source` of the enhanced view: Helius' name of the main program, or of Solana's own; else the program's id. */
export function sourceOf(facts: Pick<Facts, 'instructions'>): string {
  const id = mainProgram(facts) ?? facts.instructions.map(({ programId }) => programId).sort(byImportance)[0];
  return id === undefined ? 'UNKNOWN' : (KNOWN_PROGRAMS.get(id)?.source ?? id);
}

/** Solana's own programs, from the one that says most of what a transaction is about. */
const IMPORTANCE: readonly KnownProgram['source'][] = [
  'STAKE_PROGRAM',
  'VOTE_PROGRAM',
  'BPF_UPGRADEABLE_LOADER',
  'LOADER_V4',
  'BPF_LOADER',
  'ADDRESS_LOOKUP_TABLE_PROGRAM',
  'SPL_TOKEN',
  'SYSTEM_PROGRAM',
  'ASSOCIATED_TOKEN_PROGRAM',
  'MEMO_PROGRAM',
];

function byImportance(a: string, b: string): number {
  const rank = (id: string): number => {
    const at = IMPORTANCE.indexOf(KNOWN_PROGRAMS.get(id)?.source ?? '');
    return at < 0 ? IMPORTANCE.length : at;
  };
  return rank(a) - rank(b);
}
