import type { AssetAmount } from './asset-amount.ts';

/** Signed amounts by wallet and mint. */
export class WalletSums {
  readonly #byKey = new Map<string, readonly [wallet: string, AssetAmount]>();

  add(wallet: string, { mint, amount, decimals }: AssetAmount): void {
    const key = `${wallet} ${mint}`;
    const sum = (this.#byKey.get(key)?.[1].amount ?? 0n) + amount;
    this.#byKey.set(key, [wallet, { mint, decimals, amount: sum }]);
  }

  of(wallet: string, mint: string): bigint {
    return this.#byKey.get(`${wallet} ${mint}`)?.[1].amount ?? 0n;
  }

  /** Returns the sums that are not zero, in order of appearance. */
  entries(): readonly (readonly [wallet: string, AssetAmount])[] {
    return [...this.#byKey.values()].filter(([, { amount }]) => amount !== 0n);
  }
}
