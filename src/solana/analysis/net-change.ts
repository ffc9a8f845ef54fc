import { negate, solAmount } from './swap-legs.ts';
import type { AssetAmount, WalletChanges } from './wallet-changes.ts';

/** A wallet's gains and losses, both positive, with SOL first. */
export interface NetChange {
  readonly gained: readonly AssetAmount[];
  readonly lost: readonly AssetAmount[];
}

export function netChangeOf({ sol, tokens }: Pick<WalletChanges, 'sol' | 'tokens'>): NetChange {
  const all = [solAmount(sol), ...tokens];
  return {
    gained: all.filter(({ amount }) => amount > 0n),
    lost: all.filter(({ amount }) => amount < 0n).map(negate),
  };
}
