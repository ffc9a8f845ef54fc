import { decimalText } from './decimal.ts';

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
  const uiAmountString = decimalText(amount, decimals);
  return { amount: `${amount}`, decimals, uiAmount: Number(amount) / 10 ** decimals, uiAmountString };
}
