import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { type ByteReader, tryDecode } from '../codec/byte-reader.ts';
import { type Decimal, decimalOf, roundPrice } from '../codec/decimal.ts';
import type { RawAccount } from '../codec/raw-account.ts';
import { findProgramAddress } from './program-derived-address.ts';

/**
 * A pair of Pyth's programs: the receiver verifies prices and owns their accounts, the push oracle derives one account
 * per feed. There are two pairs since August 2026. https://docs.pyth.network/price-feeds/core/upgrade/contracts
 */
export interface PythPrograms {
  readonly receiver: string;
  readonly pushOracle: string;
}

/** The first 8 bytes of sha256("account:PriceUpdateV2"). */
const PRICE_UPDATE_DISCRIMINATOR = '22f123639d7ef4cd';
const FULLY_VERIFIED_LEVEL = 1;

/** The smallest usable price as a multiple of its confidence interval: 50 allows an uncertainty of 2 %. */
const MIN_PRICE_PER_CONFIDENCE = 50n;

/** A price that a full quorum of Wormhole's guardians signed. The price is `price * 10 ** exponent`. */
export interface PriceUpdate {
  /** The feed's id, 64 hex digits. */
  readonly feedId: string;
  readonly price: bigint;
  /** Half the width of the interval that the publishers agree on, in the price's own units. */
  readonly confidence: bigint;
  readonly exponent: number;
  /** Unix seconds. */
  readonly publishTime: bigint;
  readonly postedSlot: bigint;
}

/** Derives the account with a push oracle's newest price of a feed; `feedId` is 64 hex digits, with or without 0x. */
export function findPriceFeedAddress(pushOracle: string, feedId: string, shard = 0): string {
  return findProgramAddress(pushOracle, [
    Uint8Array.of(shard & 0xff, shard >> 8),
    hexToBytes(feedId.replace(/^0x/, '')),
  ]);
}

/**
 * Decodes the price in a feed's account; undefined if it is not one of this receiver, or not fully verified.
 * https://github.com/pyth-network/pyth-crosschain/blob/main/target_chains/solana/pyth_solana_receiver_sdk/src/price_update.rs
 */
export function decodePriceUpdate({ owner, data }: RawAccount, receiver: string): PriceUpdate | undefined {
  if (owner !== receiver || bytesToHex(data.subarray(0, 8)) !== PRICE_UPDATE_DISCRIMINATOR) return undefined;
  return tryDecode(data, readPriceUpdate);
}

function readPriceUpdate(reader: ByteReader): PriceUpdate {
  reader.bytes(8 + 32); // discriminator, write authority
  const verificationLevel = reader.u8();
  if (verificationLevel !== FULLY_VERIFIED_LEVEL) throw new RangeError('not fully verified');
  const feedId = bytesToHex(reader.bytes(32));
  const price = reader.i64();
  const confidence = reader.u64();
  const exponent = reader.i32();
  const publishTime = reader.i64();
  reader.bytes(8 + 8 + 8); // the previous publish time and the moving averages
  return { feedId, price, confidence, exponent, publishTime, postedSlot: reader.u64() };
}

/**
 * Returns the price to 12 significant digits; undefined if it is too uncertain (over 2 %) or not above zero. A guess
 * would be worse than none. Its age is for the caller to judge.
 */
export function usablePrice({ price, confidence, exponent }: PriceUpdate): Decimal | undefined {
  if (price <= 0n || confidence * MIN_PRICE_PER_CONFIDENCE > price) return undefined;
  const value = decimalOf(price, exponent);
  return value && roundPrice(value);
}
