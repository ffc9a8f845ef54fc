import {
  CLOCK_SYSVAR,
  RECENT_BLOCKHASHES_SYSVAR,
  RENT_SYSVAR,
  SLOT_HASHES_SYSVAR,
  STAKE_HISTORY_SYSVAR,
} from '../../domain/well-known-addresses.ts';
import type { ByteReader } from '../../solana/codec/byte-reader.ts';
import type { ParsedAccountData } from './parsed-account-data.ts';

const readCount = (reader: ByteReader): number => Number(reader.u64());

/** Sysvars that a node parses, by address. */
const SYSVARS: Readonly<Record<string, { readonly type: string; readonly info: (reader: ByteReader) => unknown }>> = {
  [CLOCK_SYSVAR]: {
    type: 'clock',
    info: (reader) => ({
      slot: reader.u64(),
      epochStartTimestamp: reader.i64(),
      epoch: reader.u64(),
      leaderScheduleEpoch: reader.u64(),
      unixTimestamp: reader.i64(),
    }),
  },
  [RENT_SYSVAR]: {
    type: 'rent',
    info: (reader) => ({ lamportsPerByte: `${reader.u64()}` }),
  },
  SysvarEpochSchedu1e111111111111111111111111: {
    type: 'epochSchedule',
    info: (reader) => ({
      slotsPerEpoch: reader.u64(),
      leaderScheduleSlotOffset: reader.u64(),
      warmup: reader.u8() === 1,
      firstNormalEpoch: reader.u64(),
      firstNormalSlot: reader.u64(),
    }),
  },
  [RECENT_BLOCKHASHES_SYSVAR]: {
    type: 'recentBlockhashes',
    info: (reader) =>
      reader.array(readCount(reader), () => ({
        blockhash: reader.pubkey(),
        feeCalculator: { lamportsPerSignature: `${reader.u64()}` },
      })),
  },
  [SLOT_HASHES_SYSVAR]: {
    type: 'slotHashes',
    info: (reader) => reader.array(readCount(reader), () => ({ slot: reader.u64(), hash: reader.pubkey() })),
  },
  [STAKE_HISTORY_SYSVAR]: {
    type: 'stakeHistory',
    info: (reader) =>
      reader.array(readCount(reader), () => ({
        epoch: reader.u64(),
        stakeHistory: { effective: reader.u64(), activating: reader.u64(), deactivating: reader.u64() },
      })),
  },
  SysvarLastRestartS1ot1111111111111111111111: {
    type: 'lastRestartSlot',
    info: (reader) => ({ lastRestartSlot: reader.u64() }),
  },
};

/** Parses a sysvar; undefined for an address that is not in the table. */
export function parseSysvar(address: string, reader: ByteReader): ParsedAccountData | undefined {
  const sysvar = SYSVARS[address];
  return sysvar && { type: sysvar.type, info: sysvar.info(reader) };
}
