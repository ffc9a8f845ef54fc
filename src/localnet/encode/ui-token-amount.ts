import { RawJson } from '../../shared/domain/to-json.ts';
import { type AmountScale, toTokenAmount as exactAmount } from '../../transactions/index.ts';

/** JSON of an amount, its members in the order of notifications. */
interface UiTokenAmount {
  readonly uiAmount: RawJson | null;
  readonly decimals: number;
  readonly amount: string;
  readonly uiAmountString: string;
}

/** Encodes a raw amount of tokens as a node does, its double included. */
export function toUiTokenAmount(raw: bigint, scale: AmountScale): UiTokenAmount {
  const { uiAmount, decimals, amount, uiAmountString } = exactAmount(raw, scale);
  return { uiAmount: uiAmount === null ? null : toRawDouble(uiAmount), decimals, amount, uiAmountString };
}

/** Writes a whole double with `.0`. */
const toRawDouble = (value: number): RawJson => new RawJson(/^\d+$/.test(`${value}`) ? `${value}.0` : `${value}`);
