import { readBytes } from './byte-reader.ts';

/** The account in which the cluster keeps its time. */
export const CLOCK_SYSVAR = 'SysvarC1ock11111111111111111111111111111111';

/**
 * The cluster's time in unix seconds, as programs see it; undefined when the data is no Clock.
 * https://docs.rs/solana-clock/latest/solana_clock/struct.Clock.html
 */
export function clockSeconds(data: Uint8Array): bigint | undefined {
  return readBytes(data, (from) => {
    from.bytes(8 + 8 + 8 + 8); // slot, start of the epoch, epoch, epoch of the leader schedule
    return from.i64();
  });
}
