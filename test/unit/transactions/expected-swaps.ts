import { WRAPPED_SOL } from '../../../src/shared/domain/known-mints.ts';
import { parseExactJson } from '../../../src/shared/domain/parse-exact-json.ts';
import { formatUnits } from '../../../src/transactions/codec/format-decimal.ts';
import { readRecordings } from '../../support/recorded-transactions.ts';

/** A swap as another project's parser reports it: `wallet: input > output`, amounts in whole tokens. */
export interface ExpectedSwap {
  /** Parser and start of the signature. */
  readonly name: string;
  readonly signature: string;
  readonly text: string;
}

type Amount = string | number | bigint;

interface Asset {
  readonly asset: { readonly amount: string; readonly type: string };
}

interface DexToken {
  readonly amountRaw: Amount;
  readonly decimals: number;
  readonly mint: string;
}

/** What the parsers report, each some of it. */
interface Report {
  readonly trades: readonly { readonly user: string; readonly inputToken: DexToken; readonly outputToken: DexToken }[];
  readonly actions: readonly { readonly fields: TxParserFields }[];
  readonly rows: readonly {
    readonly tx_type: string;
    readonly sent_amount: string;
    readonly sent_currency: string;
    readonly received_amount: string;
    readonly received_currency: string;
  }[];
  readonly events: readonly {
    readonly event_type: string;
    readonly event_subtype: string;
    readonly location_label: string;
    readonly amount: string;
    readonly asset: string;
  }[];
  readonly type: string;
  readonly from: readonly Asset[];
  readonly to: readonly Asset[];
}

interface TxParserFields {
  readonly ActionLabel: string;
  readonly Who: string;
  readonly FromToken: string;
  readonly FromTokenAmount: Amount;
  readonly FromTokenDecimals?: number;
  readonly ToToken: string;
  readonly ToTokenAmount: Amount;
  readonly ToTokenDecimals?: number;
}

interface Recorded {
  readonly signature: string;
  readonly account: string;
  readonly expected: Report;
}

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

const raw = (amount: Amount, decimals: number, mint: string): string =>
  side(formatUnits(BigInt(amount), decimals), mint);

const READERS: Readonly<Record<string, (result: Recorded) => string | null>> = {
  dexparser: ({ expected: { trades } }) => {
    const [first, last] = [trades[0], trades.at(-1)];
    if (first === undefined || last === undefined) return null;
    const { user, inputToken } = first;
    const { outputToken } = last;
    const input = raw(inputToken.amountRaw, inputToken.decimals, inputToken.mint);
    return `${user}: ${input} > ${raw(outputToken.amountRaw, outputToken.decimals, outputToken.mint)}`;
  },
  txparser: ({ expected: { actions } }) => {
    const swaps = actions.map(({ fields }) => fields).filter(({ ActionLabel }) => ActionLabel === 'SWAP');
    const [first, last] = [swaps[0], swaps.at(-1)];
    if (first === undefined || last === undefined) return null;
    const { Who, FromToken, FromTokenAmount, FromTokenDecimals } = first;
    const { ToToken, ToTokenAmount, ToTokenDecimals } = last;
    if (FromTokenDecimals === undefined || ToTokenDecimals === undefined) return null; // it asserts no amounts
    return `${Who}: ${raw(FromTokenAmount, FromTokenDecimals, FromToken)} > ${raw(ToTokenAmount, ToTokenDecimals, ToToken)}`;
  },
  staketax: ({ account, expected: { rows } }) => {
    const trade = rows.find(({ tx_type }) => tx_type === 'TRADE');
    if (trade === undefined) return null;
    const { sent_amount, sent_currency, received_amount, received_currency } = trade;
    return `${account}: ${side(sent_amount, sent_currency)} > ${side(received_amount, received_currency)}`;
  },
  rotki: ({ expected: { events } }) => {
    const trade = events.filter(({ event_type }) => /TRADE/.test(event_type));
    const [input] = trade.filter(({ event_subtype }) => event_subtype === 'SPEND');
    const [output] = trade.filter(({ event_subtype }) => event_subtype === 'RECEIVE');
    if (input === undefined || output === undefined) return null;
    return `${input.location_label}: ${side(input.amount, input.asset)} > ${side(output.amount, output.asset)}`;
  },
  metamask: ({ account, expected: { type, from, to } }) => {
    if (type !== 'swap') return null;
    const sides = (list: readonly Asset[]): string =>
      list.map(({ asset }) => side(asset.amount, asset.type)).join(' + ');
    return `${account}: ${sides(from)} > ${sides(to)}`;
  },
};

/** Returns the recorded results that name a swap. */
export function expectedSwaps(): ExpectedSwap[] {
  return readRecordings('expected').flatMap((line) => {
    const { name, result } = parseExactJson(line) as { name: string; result: Recorded };
    const text = READERS[name.split('-')[0] ?? '']?.(result) ?? null;
    return text === null ? [] : [{ name, signature: result.signature, text }];
  });
}
