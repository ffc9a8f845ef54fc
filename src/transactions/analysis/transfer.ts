import type { Instruction } from '../records/instruction.ts';

export const TRANSFER_TYPES = [
  'transfer',
  'mint',
  'burn',
  'wrap',
  'unwrap',
  'changeOwner',
  'withdrawWithheldFee',
  'depositConfidential',
  'withdrawConfidential',
  'createAccount',
  'closeAccount',
] as const;

export type TransferType = (typeof TRANSFER_TYPES)[number];

/**
 * A transfer of one asset by one instruction. `wrap` turns an account's lamports into wrapped SOL; `unwrap` pays
 * wrapped SOL out as lamports, also when its account closes; the `closeAccount` with it is the rent. `depositConfidential`
 * moves tokens from an account's balance to its hidden one, `withdrawConfidential` back.
 */
export interface Transfer {
  readonly type: TransferType;
  readonly asset: 'SOL' | 'token';
  /** Owners of the token accounts at that point; for SOL the accounts themselves. Null: nobody, or not recorded. */
  readonly fromUserAccount: string | null;
  readonly toUserAccount: string | null;
  readonly fromTokenAccount: string | null;
  readonly toTokenAccount: string | null;
  /** The mint; null for SOL, and if no record has it. */
  readonly mint: string | null;
  /** Amount that left the sender, in smallest units. */
  readonly amount: bigint;
  readonly decimals: number;
  /** Transfer fee withheld from `amount`; null if there is none. */
  readonly feeAmount: bigint | null;
  /** Of an account whose owner changes: its deposit, and what it has beyond that and what it wraps; null for all else. */
  readonly lamports: { readonly deposit: bigint; readonly rest: bigint } | null;
  readonly call: Instruction;
}
