import { WRAPPED_SOL } from '../../shared/domain/known-mints.ts';

/** A signed amount of an asset; for SOL in either form `mint` is wrapped SOL's. */
export interface AssetAmount {
  readonly mint: string;
  /** In the smallest unit. */
  readonly amount: bigint;
  readonly decimals: number;
}

export const solAmount = (amount: bigint): AssetAmount => ({ mint: WRAPPED_SOL, amount, decimals: 9 });
export const negate = ({ mint, amount, decimals }: AssetAmount): AssetAmount => ({ mint, amount: -amount, decimals });
