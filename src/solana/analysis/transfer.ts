export type TransferType =
  | 'transfer'
  | 'mint'
  | 'burn'
  | 'wrap'
  | 'unwrap'
  | 'changeOwner'
  | 'withdrawWithheldFee'
  | 'createAccount'
  | 'closeAccount';

/**
 * One asset that moved, by one instruction. `wrap` turns lamports that an account holds into wrapped SOL; `unwrap` pays
 * wrapped SOL out as lamports when its account closes; the `closeAccount` beside it is the rest, the rent.
 */
export interface Transfer {
  readonly type: TransferType;
  readonly asset: 'SOL' | 'token';
  /** The owners of the token accounts, as they were at that moment; for SOL the accounts themselves. Null: nobody, or not recorded. */
  readonly fromUserAccount: string | null;
  readonly toUserAccount: string | null;
  readonly fromTokenAccount: string | null;
  readonly toTokenAccount: string | null;
  /** Null for SOL, and where no record tells it. */
  readonly mint: string | null;
  /** The token program; null for SOL. */
  readonly programId: string | null;
  /** What left the sender, in the smallest unit. */
  readonly amount: bigint;
  readonly decimals: number;
  /** What the token's own transfer fee kept back of `amount`; null where there is none. */
  readonly feeAmount: bigint | null;
  readonly instructionIdx: number;
  /** Null for an instruction of the transaction's own. */
  readonly innerInstructionIdx: number | null;
}
