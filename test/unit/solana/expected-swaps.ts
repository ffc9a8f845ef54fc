import { parseExactJson } from '../../../src/domain/parse-exact-json.ts';
import { WRAPPED_SOL } from '../../../src/solana/accounts/known-mints.ts';
import { formatUnits } from '../../../src/solana/codec/format-decimal.ts';
import { readRecordings } from '../../support/recorded-transactions.ts';

/** A swap as another project's parser reports it: `wallet: input > output`, amounts in whole tokens. */
export interface ExpectedSwap {
  /** Parser and start of the signature. */
  readonly name: string;
  readonly signature: string;
  readonly text: string;
}

// Recorded results differ in shape by parser; they are read unchecked.
type Loose = any;

/** Mints by the symbols that those parsers write instead. */
const MINTS: Readonly<Record<string, string>> = {
  SOL: WRAPPED_SOL,
  USDC: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
  RAY: '4k3Dyjzvzp8eMZWUXbBCjEvwSkkk59S5iCNLY3QrkX6R',
  JUP: 'JUPyiwrYJFskUPiHa7hkeR8VUtAeFoSYbKedZNsDvCN',
  weWETH: '7vfCXTUXx5WJV5JADk17DUJ4ksgau7utNKj4b963voxs',
};

/** Normalizes `1.50 USDC` to `1.5 EPjF…`, one spelling for all parsers. */
const side = (amount: string, asset: string): string => {
  const mint = asset.replace(/^solana\/token:|^.*\/token:/, '');
  const name = /slip44:501$/.test(asset) ? WRAPPED_SOL : (MINTS[mint] ?? mint);
  return `${amount.includes('.') ? amount.replace(/\.?0+$/, '') : amount} ${name}`;
};

const raw = (amount: string | number | bigint, decimals: number, mint: string): string =>
  side(formatUnits(BigInt(amount), decimals), mint);

const READERS: Readonly<Record<string, (result: Loose) => string | null>> = {
  dexparser: ({ expected: { trades } }) => {
    if (trades.length === 0) return null;
    const { user, inputToken } = trades[0];
    const { outputToken } = trades.at(-1);
    const input = raw(inputToken.amountRaw, inputToken.decimals, inputToken.mint);
    return `${user}: ${input} > ${raw(outputToken.amountRaw, outputToken.decimals, outputToken.mint)}`;
  },
  txparser: ({ expected: { actions } }) => {
    const swaps = actions.map(({ fields }: Loose) => fields).filter(({ ActionLabel }: Loose) => ActionLabel === 'SWAP');
    if (swaps.length === 0) return null;
    const [{ Who, FromToken, FromTokenAmount, FromTokenDecimals }] = swaps;
    const { ToToken, ToTokenAmount, ToTokenDecimals } = swaps.at(-1);
    if (FromTokenDecimals === undefined || ToTokenDecimals === undefined) return null; // it asserts no amounts
    return `${Who}: ${raw(FromTokenAmount, FromTokenDecimals, FromToken)} > ${raw(ToTokenAmount, ToTokenDecimals, ToToken)}`;
  },
  staketax: ({ account, expected: { rows } }) => {
    const trade = rows.find(({ tx_type }: Loose) => tx_type === 'TRADE');
    if (trade === undefined) return null;
    const { sent_amount, sent_currency, received_amount, received_currency } = trade;
    return `${account}: ${side(sent_amount, sent_currency)} > ${side(received_amount, received_currency)}`;
  },
  rotki: ({ expected: { events } }) => {
    const trade = events.filter(({ event_type }: Loose) => /TRADE/.test(event_type));
    const [input] = trade.filter(({ event_subtype }: Loose) => event_subtype === 'SPEND');
    const [output] = trade.filter(({ event_subtype }: Loose) => event_subtype === 'RECEIVE');
    if (input === undefined || output === undefined) return null;
    return `${input.location_label}: ${side(input.amount, input.asset)} > ${side(output.amount, output.asset)}`;
  },
  metamask: ({ account, expected: { type, from, to } }) => {
    if (type !== 'swap') return null;
    const sides = (list: Loose[]): string => list.map(({ asset }) => side(asset.amount, asset.type)).join(' + ');
    return `${account}: ${sides(from)} > ${sides(to)}`;
  },
};

/** Returns the recorded results that name a swap. */
export function expectedSwaps(): ExpectedSwap[] {
  return readRecordings('expected').flatMap((line) => {
    const { name, result } = parseExactJson(line) as Loose;
    const text = READERS[String(name).split('-')[0] ?? '']?.(result) ?? null;
    return text === null ? [] : [{ name: String(name), signature: String(result.signature), text }];
  });
}
