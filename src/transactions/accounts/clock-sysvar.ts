import { tryDecode } from '../codec/byte-reader.ts';

/**
 * Decodes the cluster's time from the Clock sysvar, in unix seconds; undefined if the data is not a Clock.
 * https://docs.rs/solana-clock/latest/solana_clock/struct.Clock.html
 */
export function decodeClockTimestamp(data: Uint8Array): bigint | undefined {
  return tryDecode(data, (reader) => {
    reader.bytes(8 + 8 + 8 + 8); // slot, start of the epoch, epoch, epoch of the leader schedule
    return reader.i64();
  });
}
