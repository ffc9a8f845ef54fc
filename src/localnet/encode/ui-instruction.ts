import bs58 from 'bs58';
import {
  ASSOCIATED_TOKEN_PROGRAM,
  LOOKUP_TABLE_PROGRAM,
  MEMO_PROGRAM,
  MEMO_V1_PROGRAM,
  STAKE_PROGRAM,
  SYSTEM_PROGRAM,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
} from '../../shared/domain/well-known-addresses.ts';
import type { ParsedInfo } from '../../transactions/index.ts';
import { decodeInstruction, parsableProgramName } from '../../transactions/index.ts';
import { toUiTokenAmount } from './ui-token-amount.ts';

/** An instruction with addresses instead of account indices. */
export interface ResolvedInstruction {
  readonly programId: string;
  readonly accounts: readonly string[];
  readonly data: Uint8Array;
  readonly stackHeight: number;
}

/** Those whose instructions are parsed. A node leaves others raw that could be, and parses votes and loaders, too. */
const PARSED_PROGRAMS: ReadonlySet<string> = new Set([
  SYSTEM_PROGRAM,
  TOKEN_PROGRAM,
  TOKEN_2022_PROGRAM,
  ASSOCIATED_TOKEN_PROGRAM,
  LOOKUP_TABLE_PROGRAM,
  STAKE_PROGRAM,
  MEMO_PROGRAM,
  MEMO_V1_PROGRAM,
]);

/** Encodes an instruction for `jsonParsed`: parsed where its program is known, else with raw data. */
export function encodeParsedInstruction({ programId, accounts, data, stackHeight }: ResolvedInstruction): ParsedInfo {
  const decoded = PARSED_PROGRAMS.has(programId) ? decodeInstruction(programId, accounts, data, toUiTokenAmount) : null;
  if (decoded === null) return { programId, accounts, data: bs58.encode(data), stackHeight };
  const parsed = decoded.type === 'memo' ? decoded.info['memo'] : decoded; // a node encodes a memo as text alone
  return { program: parsableProgramName(programId), programId, parsed, stackHeight };
}
