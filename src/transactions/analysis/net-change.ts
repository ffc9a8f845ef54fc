import { type AssetAmount, negate } from './asset-amount.ts';

/** A wallet's gains and losses, both positive, with SOL first. */
export interface NetChange {
  readonly gained: readonly AssetAmount[];
  readonly lost: readonly AssetAmount[];
}

/** Splits signed amounts into gains and losses; what is zero is neither. */
export const splitBySign = (amounts: readonly AssetAmount[]): NetChange => ({
  gained: amounts.filter(({ amount }) => amount > 0n),
  lost: amounts.filter(({ amount }) => amount < 0n).map(negate),
});
