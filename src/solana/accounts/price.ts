import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { type ByteReader, readBytes } from '../codec/byte-reader.ts';
import type { StoredAccount } from '../codec/stored-account.ts';
import { programAddress } from './program-address.ts';

const PUSH_ORACLE = 'pythWSnswVUd12oZpeFP8e9CVaEqJg25g1Vtc2biRsT';
const RECEIVER = 'rec5EKMGg6MxZYaMdyBfgwp4d5rB9T1VQH5pJv5LtFJ';

/** The first 8 bytes of sha256("account:PriceUpdateV2"). */
const DISCRIMINATOR = '22f123639d7ef4cd';
const FULLY_VERIFIED = 1;

/** A price is of no use when its uncertainty is more than one part in this many. */
const CONFIDENCE_PARTS = 50n;

/** A price that Wormhole's guardians signed, all that are needed. The price is `price * 10 ** exponent`. */
export interface PriceUpdate {
  /** 64 hex digits. */
  readonly feedId: string;
  readonly price: bigint;
  /** Half the width of the interval that the publishers agree on, in the price's own units. */
  readonly confidence: bigint;
  readonly exponent: number;
  /** Unix seconds. */
  readonly publishTime: bigint;
  readonly postedSlot: bigint;
}

/** Where Pyth keeps the newest price of a feed on chain; `feedId` is 64 hex digits, with or without 0x. */
export function priceFeedAddress(feedId: string, shard = 0): string {
  return programAddress(PUSH_ORACLE, [Uint8Array.of(shard & 0xff, shard >> 8), hexToBytes(feedId.replace(/^0x/, ''))]);
}

/**
 * The price in a feed's account; undefined when it is none or not fully verified.
 * https://github.com/pyth-network/pyth-crosschain/blob/main/target_chains/solana/pyth_solana_receiver_sdk/src/price_update.rs
 */
export function decodePriceUpdate({ owner, data }: StoredAccount): PriceUpdate | undefined {
  if (owner !== RECEIVER || bytesToHex(data.subarray(0, 8)) !== DISCRIMINATOR) return undefined;
  return readBytes(data, readUpdate);
}

function readUpdate(from: ByteReader): PriceUpdate {
  from.bytes(8 + 32); // discriminator, who may write
  const verification = from.u8();
  if (verification !== FULLY_VERIFIED) throw new RangeError('not fully verified');
  const feedId = bytesToHex(from.bytes(32));
  const price = from.i64();
  const confidence = from.u64();
  const exponent = from.i32();
  const publishTime = from.i64();
  from.bytes(8 + 8 + 8); // the time before, and the moving averages
  return { feedId, price, confidence, exponent, publishTime, postedSlot: from.u64() };
}

/**
 * The price to value something with, to 12 significant digits; null when it is older than `maxAgeSec` at `nowSec`
 * (unix seconds), too uncertain (over 2 %), or not above zero. A guess would be worse than none.
 */
export function usablePrice(update: PriceUpdate, nowSec: number, maxAgeSec: number): number | null {
  const { price, confidence, exponent, publishTime } = update;
  const age = nowSec - Number(publishTime);
  if (price <= 0n || confidence * CONFIDENCE_PARTS > price || age > maxAgeSec) return null;
  const value = Number(Number(`${price}e${exponent}`).toPrecision(12));
  return Number.isFinite(value) && value > 0 ? value : null;
}
