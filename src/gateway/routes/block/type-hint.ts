import {
  MEMO_PROGRAM,
  MEMO_V1_PROGRAM,
  STAKE_PROGRAM,
  SYSTEM_PROGRAM,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
  TOKEN_PROGRAM_IDS,
  VOTE_PROGRAM,
} from '../../../shared/domain/well-known-addresses.ts';
import {
  fallbackTypeOf,
  isIncidentalProgram,
  isTradingProgram,
  type TransactionType,
} from '../../../transactions/index.ts';

export interface CalledPrograms {
  /** The programs of its own instructions, in their order. */
  readonly outer: readonly string[];
  /** All programs, those that were called by others included. */
  readonly all: readonly string[];
}

/** What transactions mostly are that call only Solana's own programs; the first of these that was called counts. */
const TYPES_OF_CORE_PROGRAMS: readonly (readonly [program: string, type: TransactionType])[] = [
  [VOTE_PROGRAM, 'VOTE'],
  [STAKE_PROGRAM, 'STAKE'],
  [TOKEN_PROGRAM, 'TRANSFER'],
  [TOKEN_2022_PROGRAM, 'TRANSFER'],
  [SYSTEM_PROGRAM, 'TRANSFER'],
  [MEMO_PROGRAM, 'MEMO'],
  [MEMO_V1_PROGRAM, 'MEMO'],
];

/** Its instructions and balances may show another type: this is what its programs are mostly called for. */
export function guessType({ outer, all }: CalledPrograms): TransactionType {
  const subjects = outer.filter((program) => !isIncidentalProgram(program));
  const movesTokens = TOKEN_PROGRAM_IDS.some((mover) => all.includes(mover));
  for (const program of subjects) {
    const fallback = fallbackTypeOf(program);
    const isTraded = isTradingProgram(program) && (fallback === null || (fallback === 'QUOTE_UPDATE' && movesTokens));
    if (isTraded) return 'SWAP';
    if (fallback !== null) return fallback;
  }
  if (subjects.length > 0) return movesTokens && all.some(isTradingProgram) ? 'SWAP' : 'UNKNOWN';
  const oracle = outer.map(fallbackTypeOf).find((type) => type !== null);
  if (oracle !== undefined) return oracle;
  return TYPES_OF_CORE_PROGRAMS.find(([program]) => outer.includes(program))?.[1] ?? 'UNKNOWN';
}
