import { RawJson } from '../../domain/json.ts';

/** How a raw amount of a mint is shown: where its point stands, and what interest or a scale multiplies it with. */
export interface Scale {
  readonly decimals: number;
  /** Shows an amount of such a mint at the time of the bank it is read from. */
  readonly shown?: (amount: number) => number;
}

/** An amount as a node shows it. `uiAmount` passes through a double there too; the others are exact. */
export interface TokenAmount {
  readonly uiAmount: RawJson;
  readonly decimals: number;
  readonly amount: string;
  readonly uiAmountString: string;
}

/** What a node shows for a raw amount of tokens. */
export function tokenAmount(amount: bigint, { decimals, shown }: Scale): TokenAmount {
  const uiAmountString = shown === undefined ? exact(amount, decimals) : trim(shown(Number(amount)).toFixed(decimals));
  const uiAmount = shown === undefined ? Number(amount) / 10 ** decimals : Number(uiAmountString);
  return { uiAmount: float(uiAmount), decimals, amount: amount.toString(), uiAmountString };
}

function exact(amount: bigint, decimals: number): string {
  const digits = amount.toString().padStart(decimals + 1, '0');
  return decimals === 0 ? digits : trim(`${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`);
}

const trim = (text: string): string => (text.includes('.') ? text.replace(/\.?0+$/, '') : text);

/** A double the way a node writes it: a whole one ends in `.0`. */
const float = (value: number): RawJson => new RawJson(/^\d+$/.test(`${value}`) ? `${value}.0` : `${value}`);
