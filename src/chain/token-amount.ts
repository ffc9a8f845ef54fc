/** The exact decimal text of an amount in the smallest unit: `1500000n` with 6 decimals is `1.5`. */
export function decimal(amount: bigint, decimals: number): string {
  const sign = amount < 0n ? '-' : '';
  const digits = (amount < 0n ? -amount : amount).toString().padStart(decimals + 1, '0');
  if (decimals === 0) return sign + digits;
  const fraction = digits.slice(-decimals).replace(/0+$/, '');
  return `${sign}${digits.slice(0, -decimals)}${fraction === '' ? '' : `.${fraction}`}`;
}

/** An amount of tokens as a node spells it, by the mint's decimals alone: interest and scale are not in it. */
export interface TokenAmount {
  readonly amount: string;
  readonly decimals: number;
  /** Passes through a double, as it does in a node; the texts are exact. */
  readonly uiAmount: number;
  readonly uiAmountString: string;
}

/** What a node shows for a raw amount of tokens. */
export function tokenAmount(amount: bigint, decimals: number): TokenAmount {
  const uiAmountString = decimal(amount, decimals);
  return { amount: `${amount}`, decimals, uiAmount: Number(amount) / 10 ** decimals, uiAmountString };
}
