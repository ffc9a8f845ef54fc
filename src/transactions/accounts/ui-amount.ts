import { formatRoundedDouble, formatUnits } from '../codec/format-decimal.ts';
import { extensionState } from './token-extensions.ts';
import type { Mint } from './token-program-accounts.ts';

/** The formatting of one mint's amounts at one point in time. */
export interface AmountScale {
  readonly decimals: number;
  /** Applies interest or a multiplier to an amount; without it only the decimal point moves. */
  readonly toUiAmount?: (amount: bigint) => number;
}

/** An amount of tokens as a node returns it. `amount` is exact, the others are for display. */
export interface TokenAmount {
  readonly amount: string;
  readonly decimals: number;
  /** Null where a node's arithmetic overflows: from 20 decimals on, or at infinity. */
  readonly uiAmount: number | null;
  readonly uiAmountString: string;
}

/**
 * Formats an amount of smallest units of a mint.
 * https://github.com/anza-xyz/agave/blob/master/account-decoder/src/parse_token.rs (`token_amount_to_ui_amount_v3`)
 */
export function toTokenAmount(amount: bigint, { decimals, toUiAmount }: AmountScale): TokenAmount {
  const uiAmountString =
    toUiAmount === undefined ? formatUnits(amount, decimals) : formatRoundedDouble(toUiAmount(amount), decimals);
  return {
    amount: amount.toString(),
    decimals,
    uiAmount: toUiAmount === undefined ? unscaledUiAmount(amount, decimals) : finiteOrNull(Number(uiAmountString)),
    uiAmountString,
  };
}

/** The highest power of ten that a u64 holds. */
const MAX_U64_DECIMALS = 19;

const unscaledUiAmount = (amount: bigint, decimals: number): number | null =>
  decimals > MAX_U64_DECIMALS ? null : Number(amount) / 10 ** decimals;

const finiteOrNull = (value: number): number | null => (Number.isFinite(value) ? value : null);

const SECONDS_PER_YEAR = 60 * 60 * 24 * 365.24;
const BASIS_POINTS_PER_ONE = 10_000;

/** Returns whether this mint's UI amounts change with the cluster's clock while its data stays the same. */
export const dependsOnClock = ({ extensions }: Mint): boolean =>
  extensions.some(({ extension }) => extension === 'interestBearingConfig' || extension === 'scaledUiAmountConfig');

/**
 * Returns the formatting of a mint's amounts when the cluster's Clock is at `unixTimestamp` (seconds). Interest takes
 * precedence over a multiplier, as in a node. The formulas, in doubles and in this order, are the token program's:
 * https://github.com/solana-program/token-2022/tree/main/interface/src/extension (`interest_bearing_mint`, `scaled_ui_amount`)
 */
export function amountScaleOf({ decimals, extensions }: Mint, unixTimestamp: bigint): AmountScale {
  const one = 10 ** decimals;
  const interest = extensionState(extensions, 'interestBearingConfig');
  if (interest !== undefined) {
    const { initializationTimestamp, preUpdateAverageRate, lastUpdateTimestamp, currentRate } = interest;
    const scale =
      (compoundGrowth(preUpdateAverageRate, lastUpdateTimestamp - initializationTimestamp) *
        compoundGrowth(currentRate, unixTimestamp - lastUpdateTimestamp)) /
      one;
    return { decimals, toUiAmount: (amount) => Number(amount) * scale };
  }
  const scaling = extensionState(extensions, 'scaledUiAmountConfig');
  if (scaling !== undefined) {
    const { multiplier, newMultiplier, newMultiplierEffectiveTimestamp } = scaling;
    const factor = parseMultiplier(unixTimestamp >= newMultiplierEffectiveTimestamp ? newMultiplier : multiplier);
    return { decimals, toUiAmount: (amount) => Math.trunc(Number(amount) * factor) / one };
  }
  return { decimals };
}

/** Returns the factor of continuous compounding over a span of seconds. */
const compoundGrowth = (basisPoints: number, seconds: bigint): number =>
  Math.exp(Number(BigInt(basisPoints) * seconds) / SECONDS_PER_YEAR / BASIS_POINTS_PER_ONE);

const parseMultiplier = (multiplier: string): number => Number(multiplier.replace('inf', 'Infinity'));
