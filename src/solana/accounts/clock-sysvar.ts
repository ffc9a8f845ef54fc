import { tryDecode } from '../codec/byte-reader.ts';

/**
 * The cluster's time in unix seconds, as programs see it; undefined when the data is no Clock.
 * https://docs.rs/solana-clock/latest/solana_clock/struct.Clock.html
 */
export function decodeClockTimestamp(data: Uint8Array): bigint | undefined {
  return tryDecode(data, (reader) => {
    reader.bytes(8 + 8 + 8 + 8); // slot, start of the epoch, epoch, epoch of the leader schedule
    return reader.i64();
  });
}
