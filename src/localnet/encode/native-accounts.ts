import { ByteReader } from '../../solana/codec/byte-reader.ts';
import type { Account } from '../bank/account.ts';
import type { Parsed } from './parsed.ts';

const NONCE_SIZE = 80;
const TABLE_HEADER_SIZE = 56;

/** Shows an account of the System program that holds a durable nonce; undefined for a plain wallet. */
export function parseNonce({ data }: Account): Parsed | undefined {
  if (data.length !== NONCE_SIZE) return undefined;
  const read = new ByteReader(data);
  read.u32(); // the version, which changes how a nonce is derived, not how it is shown
  if (read.u32() === 0) return { type: 'uninitialized', info: undefined };
  const info = {
    authority: read.pubkey(),
    blockhash: read.pubkey(),
    feeCalculator: { lamportsPerSignature: `${read.u64()}` },
  };
  return { type: 'initialized', info };
}

/** Shows an address lookup table. */
export function parseLookupTable({ data }: Account): Parsed {
  const read = new ByteReader(data);
  if (read.u32() === 0) return { type: 'uninitialized', info: undefined };
  const deactivationSlot = `${read.u64()}`;
  const lastExtendedSlot = `${read.u64()}`;
  const lastExtendedSlotStartIndex = read.u8();
  const authority = read.option(() => read.pubkey());
  const table = new ByteReader(data, TABLE_HEADER_SIZE);
  return {
    type: 'lookupTable',
    info: {
      deactivationSlot,
      lastExtendedSlot,
      lastExtendedSlotStartIndex,
      ...(authority === null ? {} : { authority }),
      addresses: table.untilEnd(() => table.pubkey()),
    },
  };
}

/** Shows an account of the upgradeable loader: a program, or where its code lies. */
export function parseLoader({ data }: Account): Parsed | undefined {
  const read = new ByteReader(data);
  const kind = read.u32();
  if (kind === 2) return { type: 'program', info: { programData: read.pubkey() } };
  if (kind !== 3) return undefined;
  const slot = read.u64();
  const authority = read.option(() => read.pubkey());
  const code = new ByteReader(data, 45).remainingBytes();
  return { type: 'programData', info: { slot, authority, data: [Buffer.from(code).toString('base64'), 'base64'] } };
}

/** Shows an account of the stake program. */
export function parseStake({ data }: Account): Parsed | undefined {
  const read = new ByteReader(data);
  const kind = read.u32();
  if (kind !== 1 && kind !== 2) return undefined;
  const meta = {
    rentExemptReserve: `${read.u64()}`,
    authorized: { staker: read.pubkey(), withdrawer: read.pubkey() },
    lockup: { unixTimestamp: read.i64(), epoch: read.u64(), custodian: read.pubkey() },
  };
  if (kind === 1) return { type: 'initialized', info: { meta, stake: null } };
  const voter = read.pubkey();
  const stake = `${read.u64()}`;
  const activationEpoch = `${read.u64()}`;
  const deactivationEpoch = `${read.u64()}`;
  read.f64(); // a rate that is no longer used
  const delegation = { voter, stake, activationEpoch, deactivationEpoch };
  return { type: 'delegated', info: { meta, stake: { delegation, creditsObserved: read.u64() } } };
}
