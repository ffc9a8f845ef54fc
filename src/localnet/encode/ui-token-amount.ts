import { RawJson } from '../../domain/to-json.ts';
import { type AmountScale, toTokenAmount as exactAmount } from '../../solana/accounts/ui-amount.ts';

/** An amount as a node shows it, its members in the order of notifications. */
interface UiTokenAmount {
  readonly uiAmount: RawJson | null;
  readonly decimals: number;
  readonly amount: string;
  readonly uiAmountString: string;
}

/** What a node shows for a raw amount of tokens, with a double spelled as there. */
export function toUiTokenAmount(raw: bigint, scale: AmountScale): UiTokenAmount {
  const { uiAmount, decimals, amount, uiAmountString } = exactAmount(raw, scale);
  return { uiAmount: uiAmount === null ? null : toRawDouble(uiAmount), decimals, amount, uiAmountString };
}

/** A whole double ends in `.0`. */
const toRawDouble = (value: number): RawJson => new RawJson(/^\d+$/.test(`${value}`) ? `${value}.0` : `${value}`);
