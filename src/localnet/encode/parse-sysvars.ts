import { CLOCK_SYSVAR, RECENT_BLOCKHASHES_SYSVAR, SLOT_HASHES_SYSVAR } from '../../domain/well-known-addresses.ts';
import type { ByteReader } from '../../solana/codec/byte-reader.ts';
import type { ParsedAccountData } from './parsed-account-data.ts';

const readCount = (reader: ByteReader): number => Number(reader.u64());

/** The sysvars that a node shows by name, by their address. */
const SYSVARS: Readonly<Record<string, { readonly type: string; readonly info: (read: ByteReader) => unknown }>> = {
  [CLOCK_SYSVAR]: {
    type: 'clock',
    info: (read) => ({
      slot: read.u64(),
      epochStartTimestamp: read.i64(),
      epoch: read.u64(),
      leaderScheduleEpoch: read.u64(),
      unixTimestamp: read.i64(),
    }),
  },
  SysvarRent111111111111111111111111111111111: {
    type: 'rent',
    info: (read) => ({ lamportsPerByte: `${read.u64()}` }),
  },
  SysvarEpochSchedu1e111111111111111111111111: {
    type: 'epochSchedule',
    info: (read) => ({
      slotsPerEpoch: read.u64(),
      leaderScheduleSlotOffset: read.u64(),
      warmup: read.u8() === 1,
      firstNormalEpoch: read.u64(),
      firstNormalSlot: read.u64(),
    }),
  },
  [RECENT_BLOCKHASHES_SYSVAR]: {
    type: 'recentBlockhashes',
    info: (read) =>
      read.array(readCount(read), () => ({
        blockhash: read.pubkey(),
        feeCalculator: { lamportsPerSignature: `${read.u64()}` },
      })),
  },
  [SLOT_HASHES_SYSVAR]: {
    type: 'slotHashes',
    info: (read) => read.array(readCount(read), () => ({ slot: read.u64(), hash: read.pubkey() })),
  },
  SysvarStakeHistory1111111111111111111111111: {
    type: 'stakeHistory',
    info: (read) =>
      read.array(readCount(read), () => ({
        epoch: read.u64(),
        stakeHistory: { effective: read.u64(), activating: read.u64(), deactivating: read.u64() },
      })),
  },
  SysvarLastRestartS1ot1111111111111111111111: {
    type: 'lastRestartSlot',
    info: (read) => ({ lastRestartSlot: read.u64() }),
  },
};

/** Shows a sysvar; undefined for one that has no name here. */
export function parseSysvar(address: string, reader: ByteReader): ParsedAccountData | undefined {
  const sysvar = SYSVARS[address];
  return sysvar && { type: sysvar.type, info: sysvar.info(reader) };
}
