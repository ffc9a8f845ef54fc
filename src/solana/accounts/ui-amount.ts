import { decimalText, roundedDecimal } from '../codec/decimal.ts';
import type { Mint } from './token.ts';

/** How the amounts of one mint are shown at one moment. */
export interface AmountScale {
  readonly decimals: number;
  /** Turns an amount into what people see, where interest or a multiplier changes it; without it only the point moves. */
  readonly shown?: (amount: bigint) => number;
}

/** An amount of tokens as a node shows it. `amount` is the truth, the others are for people. */
export interface TokenAmount {
  readonly amount: string;
  readonly decimals: number;
  /** Null where a node's arithmetic overflows: from 20 decimals on, or at infinity. */
  readonly uiAmount: number | null;
  readonly uiAmountString: string;
}

/**
 * What is shown for `amount` smallest units of a mint.
 * https://github.com/anza-xyz/agave/blob/master/account-decoder/src/parse_token.rs (`token_amount_to_ui_amount_v3`)
 */
export function tokenAmount(amount: bigint, { decimals, shown }: AmountScale): TokenAmount {
  const uiAmountString = shown === undefined ? decimalText(amount, decimals) : roundedDecimal(shown(amount), decimals);
  return {
    amount: amount.toString(),
    decimals,
    uiAmount: shown === undefined ? plainUiAmount(amount, decimals) : finite(Number(uiAmountString)),
    uiAmountString,
  };
}

/** The highest power of ten that a u64 holds. */
const MAX_DECIMALS = 19;

const plainUiAmount = (amount: bigint, decimals: number): number | null =>
  decimals > MAX_DECIMALS ? null : Number(amount) / 10 ** decimals;

const finite = (value: number): number | null => (Number.isFinite(value) ? value : null);

const SECONDS_PER_YEAR = 60 * 60 * 24 * 365.24;
const ONE_IN_BASIS_POINTS = 10_000;

/** True when what is shown of this mint's amounts moves with the cluster's clock while its bytes stand still. */
export const dependsOnClock = ({ extensions }: Mint): boolean =>
  extensions.some(({ extension }) => extension === 'interestBearingConfig' || extension === 'scaledUiAmountConfig');

/**
 * How amounts of a mint are shown when the cluster's Clock says `unixTimestamp` (seconds). Interest goes before a multiplier, as
 * in a node. The formulas, in doubles and in this order, are the token program's:
 * https://github.com/solana-program/token-2022/tree/main/interface/src/extension (`interest_bearing_mint`, `scaled_ui_amount`)
 */
export function amountScale({ decimals, extensions }: Mint, unixTimestamp: bigint): AmountScale {
  const one = 10 ** decimals;
  const interest = extensions.find((each) => each.extension === 'interestBearingConfig')?.state;
  if (interest !== undefined) {
    const { initializationTimestamp, preUpdateAverageRate, lastUpdateTimestamp, currentRate } = interest;
    const scale =
      (growth(preUpdateAverageRate, lastUpdateTimestamp - initializationTimestamp) *
        growth(currentRate, unixTimestamp - lastUpdateTimestamp)) /
      one;
    return { decimals, shown: (amount) => Number(amount) * scale };
  }
  const scaling = extensions.find((each) => each.extension === 'scaledUiAmountConfig')?.state;
  if (scaling !== undefined) {
    const { multiplier, newMultiplier, newMultiplierEffectiveTimestamp } = scaling;
    const factor = toDouble(unixTimestamp >= newMultiplierEffectiveTimestamp ? newMultiplier : multiplier);
    return { decimals, shown: (amount) => Math.trunc(Number(amount) * factor) / one };
  }
  return { decimals };
}

/** Continuous compounding over a span of seconds. */
const growth = (basisPoints: number, seconds: bigint): number =>
  Math.exp(Number(BigInt(basisPoints) * seconds) / SECONDS_PER_YEAR / ONE_IN_BASIS_POINTS);

const toDouble = (multiplier: string): number => Number(multiplier.replace('inf', 'Infinity'));
