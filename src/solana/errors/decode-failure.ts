import {
  ASSOCIATED_TOKEN_PROGRAM,
  STAKE_PROGRAM,
  SYSTEM_PROGRAM,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
  VOTE_PROGRAM,
} from '../../domain/well-known-addresses.ts';
import type { ErrorTable } from './error-table.ts';
import {
  JUPITER_ERRORS,
  METEORA_DLMM_ERRORS,
  PUMP_ERRORS,
  PUMP_SWAP_ERRORS,
  RAYDIUM_AMM_ERRORS,
  RAYDIUM_CLMM_ERRORS,
  RAYDIUM_CPMM_ERRORS,
  SLIPPAGE_MESSAGE,
  WHIRLPOOL_ERRORS,
} from './exchange-errors.ts';
import { type LoggedFailure, parseFailureLogs } from './failure-logs.ts';
import { STAKE_ERRORS, SYSTEM_ERRORS, VOTE_ERRORS } from './native-program-errors.ts';
import { instructionErrorMessage, transactionErrorMessage } from './runtime-errors.ts';
import { ASSOCIATED_TOKEN_ERRORS, TOKEN_2022_ERRORS, TOKEN_ERRORS } from './token-program-errors.ts';

const ERROR_TABLES: ReadonlyMap<string, ErrorTable> = new Map([
  [SYSTEM_PROGRAM, SYSTEM_ERRORS],
  [STAKE_PROGRAM, STAKE_ERRORS],
  [VOTE_PROGRAM, VOTE_ERRORS],
  [TOKEN_PROGRAM, TOKEN_ERRORS],
  [TOKEN_2022_PROGRAM, TOKEN_2022_ERRORS],
  [ASSOCIATED_TOKEN_PROGRAM, ASSOCIATED_TOKEN_ERRORS],
  ['JUP6LkbZbjS1jKKwapdHNy74zcZ3tLUZoi5QNyVTaV4', JUPITER_ERRORS],
  ['675kPX9MHTjS2zt1qfr1NYHuzeLXfQM9H24wFSUt1Mp8', RAYDIUM_AMM_ERRORS],
  ['CAMMCzo5YL8w4VFF8KVHrK22GGUsp5VTaW7grrKgrWqK', RAYDIUM_CLMM_ERRORS],
  ['CPMMoo8L3F4NbTegBCKVNunggL7H1ZpdTHKxQB5qKP1C', RAYDIUM_CPMM_ERRORS],
  ['whirLbMiicVdio4qvUfM5KAg6Ct8VwpYzGff3uctyCc', WHIRLPOOL_ERRORS],
  ['LBUZKhRxPF3XUpBCjp4YzTKgLccjZhTSDM9YuVaPwxo', METEORA_DLMM_ERRORS],
  ['6EF8rrecthR5Dkzon8Nwu78hRvfCKubJ14M5uBEwF6P', PUMP_ERRORS],
  ['pAMMBay6oceH9fJKBRHGP5D4bD4sWpmSwMn52FMfXEA', PUMP_SWAP_ERRORS],
]);

/** `transactionError` of the enhanced view. */
export interface TransactionFailure {
  /** The top-level instruction that failed; null when the transaction as a whole did. */
  readonly instructionIndex: number | null;
  /** The program that failed, which may be one that the instruction called; null with `instructionIndex`. */
  readonly programId: string | null;
  /** The program's own number, or Solana's name of the error. */
  readonly code: number | string | null;
  /** The error's name in its program's source; null if nobody published it. */
  readonly name: string | null;
  /** The reason, as a sentence ending. */
  readonly message: string;
}

export interface FailedTransaction {
  /** The node's `meta.err`. */
  readonly err: unknown;
  readonly logs: readonly string[] | null;
  /** Program of each top-level instruction, and whether it called others. */
  readonly instructions: readonly { readonly programId: string; readonly hasInnerCalls: boolean }[];
}

/** Decodes why a transaction failed: from its program's error table, from Anchor's message, or from the program's logs. */
export function decodeFailure({ err, logs, instructions }: FailedTransaction): TransactionFailure {
  const [kind, detail] = enumVariant(err);
  if (kind !== 'InstructionError' || !Array.isArray(detail)) {
    const transactionLevel = { instructionIndex: null, programId: null, code: kind, name: kind };
    return {
      ...transactionLevel,
      message: kind === null ? 'of an error that the node did not name' : transactionErrorMessage(kind),
    };
  }
  const [index, error] = detail as readonly unknown[]; // its members are checked below
  const instructionIndex = typeof index === 'number' ? index : null;
  const instruction = instructions[instructionIndex ?? -1];
  const logged = parseFailureLogs(logs ?? []);
  const programId = logged?.programId ?? instruction?.programId ?? null;
  // Without a log line, the error of a program that called others may be theirs: its number is ambiguous.
  const table = logged !== null || instruction?.hasInnerCalls === false ? ERROR_TABLES.get(programId ?? '') : undefined;
  const [name, value] = enumVariant(error);
  const decoded =
    name === 'Custom' ? decodeCustomError(asErrorCode(value), table, logged) : decodeNamedError(name, logged);
  return { instructionIndex, programId, ...decoded };
}

type DecodedError = Pick<TransactionFailure, 'code' | 'name' | 'message'>;

function decodeCustomError(
  code: number | null,
  table: ErrorTable | undefined,
  logged: LoggedFailure | null,
): DecodedError {
  const known = code === null ? undefined : table?.get(code);
  const anchor = logged?.anchor?.code === code ? logged?.anchor : null;
  const text = known?.message ?? plainMessage(anchor?.name, anchor?.message) ?? plainMessage(null, logged?.loggedError);
  const name = known?.name ?? anchor?.name ?? null;
  return { code, name, message: text ?? `the program gave its own error number ${code ?? '(unknown)'}` };
}

function decodeNamedError(name: string | null, logged: LoggedFailure | null): DecodedError {
  if (name === null) return { code: null, name: null, message: 'the program reported an unknown error' };
  const isOutOfComputeUnits = name === 'ProgramFailedToComplete' && /exceeded CUs meter/.test(logged?.reason ?? '');
  return {
    code: name,
    name,
    message: instructionErrorMessage(isOutOfComputeUnits ? 'ComputationalBudgetExceeded' : name),
  };
}

/** Returns a program's message in plain words: programs word a failed slippage check differently. */
function plainMessage(name: string | null | undefined, text: string | null | undefined): string | null {
  const slippage = /slippage\w*(exceed|error|fail)|exceed\w*slippage|exceeds desired slippage/i;
  if (slippage.test(name ?? '') || slippage.test(text ?? '')) return SLIPPAGE_MESSAGE;
  return text === '' ? null : (text ?? null);
}

/** Splits a Rust enum in JSON: `"Name"`, or `{"Name": detail}`. */
function enumVariant(value: unknown): readonly [name: string | null, detail: unknown] {
  if (typeof value === 'string') return [value, undefined];
  if (typeof value !== 'object' || value === null) return [null, undefined];
  return Object.entries(value)[0] ?? [null, undefined];
}

const asErrorCode = (value: unknown): number | null => (typeof value === 'number' ? value : null);
