import type { AssetAmount } from './asset-amount.ts';

interface Sum {
  readonly wallet: string;
  readonly mint: string;
  readonly decimals: number;
  amount: bigint;
}

/** Signed amounts by wallet and mint; those of a mint that was made again with other decimals stay apart. */
export class WalletSums {
  readonly #byMint = new Map<string, Map<string, Sum>>(); // by wallet, then by mint and decimals
  readonly #sums: Sum[] = [];

  add(wallet: string, { mint, amount, decimals }: AssetAmount): void {
    const ofWallet = this.#byMint.get(wallet) ?? new Map<string, Sum>();
    const key = `${mint} ${decimals}`;
    const sum = ofWallet.get(key);
    if (sum !== undefined) {
      sum.amount += amount;
      return;
    }
    const added = { wallet, mint, decimals, amount };
    this.#sums.push(added);
    this.#byMint.set(wallet, ofWallet.set(key, added));
  }

  of(wallet: string, mint: string): bigint {
    const sums = [...(this.#byMint.get(wallet)?.values() ?? [])];
    return sums.reduce((total, sum) => (sum.mint === mint ? total + sum.amount : total), 0n);
  }

  /** Returns the mints of which a wallet's sum is not zero. */
  mintsOf(wallet: string): readonly string[] {
    return [...(this.#byMint.get(wallet)?.values() ?? [])].flatMap(({ mint, amount }) => (amount === 0n ? [] : [mint]));
  }

  /** Returns the sums that are not zero, in order of appearance. */
  entries(): readonly (readonly [wallet: string, AssetAmount])[] {
    return this.#sums
      .filter(({ amount }) => amount !== 0n)
      .map(({ wallet, mint, decimals, amount }) => [wallet, { mint, decimals, amount }]);
  }
}
