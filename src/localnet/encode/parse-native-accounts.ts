import { ByteReader } from '../../transactions/index.ts';
import type { Account } from '../bank/svm-account.ts';

/** Kind of an account and its fields, as `jsonParsed` encodes them. */
export interface ParsedAccountData {
  readonly type: string;
  readonly info: unknown;
}

const NONCE_BYTES = 80;
const TABLE_HEADER_BYTES = 56;

/** Parses a durable nonce account of the System program; undefined for a plain wallet. */
export function parseNonce({ data }: Account): ParsedAccountData | undefined {
  if (data.length !== NONCE_BYTES) return undefined;
  const reader = new ByteReader(data);
  reader.u32(); // the version, which changes how a nonce is derived, not its JSON
  if (reader.u32() === 0) return { type: 'uninitialized', info: undefined };
  const info = {
    authority: reader.pubkey(),
    blockhash: reader.pubkey(),
    feeCalculator: { lamportsPerSignature: `${reader.u64()}` },
  };
  return { type: 'initialized', info };
}

export function parseLookupTable({ data }: Account): ParsedAccountData {
  const reader = new ByteReader(data);
  if (reader.u32() === 0) return { type: 'uninitialized', info: undefined };
  const deactivationSlot = `${reader.u64()}`;
  const lastExtendedSlot = `${reader.u64()}`;
  const lastExtendedSlotStartIndex = reader.u8();
  const authority = reader.option(() => reader.pubkey());
  const table = new ByteReader(data, TABLE_HEADER_BYTES);
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

/** Parses an account of the upgradeable loader: a program, or its program data. */
export function parseLoader({ data }: Account): ParsedAccountData | undefined {
  const reader = new ByteReader(data);
  const kind = reader.u32();
  if (kind === 2) return { type: 'program', info: { programData: reader.pubkey() } };
  if (kind !== 3) return undefined;
  const slot = reader.u64();
  const authority = reader.option(() => reader.pubkey());
  const code = new ByteReader(data, 45).remainingBytes();
  return { type: 'programData', info: { slot, authority, data: [Buffer.from(code).toString('base64'), 'base64'] } };
}

export function parseStake({ data }: Account): ParsedAccountData | undefined {
  const reader = new ByteReader(data);
  const kind = reader.u32();
  if (kind !== 1 && kind !== 2) return undefined;
  const meta = {
    rentExemptReserve: `${reader.u64()}`,
    authorized: { staker: reader.pubkey(), withdrawer: reader.pubkey() },
    lockup: { unixTimestamp: reader.i64(), epoch: reader.u64(), custodian: reader.pubkey() },
  };
  if (kind === 1) return { type: 'initialized', info: { meta, stake: null } };
  const voter = reader.pubkey();
  const stake = `${reader.u64()}`;
  const activationEpoch = `${reader.u64()}`;
  const deactivationEpoch = `${reader.u64()}`;
  reader.f64(); // a rate that is no longer used
  const delegation = { voter, stake, activationEpoch, deactivationEpoch };
  return { type: 'delegated', info: { meta, stake: { delegation, creditsObserved: reader.u64() } } };
}
