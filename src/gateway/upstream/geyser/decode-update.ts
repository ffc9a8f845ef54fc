import protobuf from 'protobufjs/minimal.js';
import { encodeKey } from '../../../transactions/index.ts';
import {
  type AccountValue,
  type AccountWrite,
  accountValue,
  type FeedUpdate,
  NO_BYTES,
  RENT_EXEMPT,
  type SlotStatus,
} from './feed-update.ts';

/** Field numbers of geyser.proto 12.6 (yellowstone-grpc-proto, Apache-2.0), which this file reads by hand. */
const UPDATE = { filters: 1, account: 2, slot: 3, block: 5, ping: 6, blockMeta: 7 } as const;
const ACCOUNT = { pubkey: 1, lamports: 2, owner: 3, executable: 4, rentEpoch: 5, data: 6, writeVersion: 7 } as const;
const BLOCK = { slot: 1, blockhash: 2, parentSlot: 7, parentBlockhash: 8, accounts: 11 } as const;
const BLOCK_META = { slot: 1, blockhash: 2, parentSlot: 6, parentBlockhash: 7 } as const;

const SLOT_STATUSES: readonly SlotStatus[] = ['processed', 'confirmed', 'finalized', 'other', 'other', 'other', 'dead'];

const ADDRESS_BYTES = 32;

type Reader = protobuf.Reader;

/** Decodes one `geyser.SubscribeUpdate`. Throws for bytes that are none. */
export function decodeUpdate(bytes: Uint8Array): FeedUpdate {
  const reader = protobuf.Reader.create(bytes);
  const filters: string[] = [];
  let update: FeedUpdate = { kind: 'other' };
  while (reader.pos < reader.len) {
    const tag = reader.tag();
    switch (tag >>> 3) {
      case UPDATE.filters:
        filters.push(reader.string());
        break;
      case UPDATE.account:
        update = readInner(reader, (end) => readAccountUpdate(reader, end, filters));
        break;
      case UPDATE.slot:
        update = readInner(reader, (end) => readSlot(reader, end));
        break;
      case UPDATE.block:
        update = readInner(reader, (end) => readBlock(reader, end, 'block', BLOCK, filters));
        break;
      case UPDATE.blockMeta:
        update = readInner(reader, (end) => readBlock(reader, end, 'block-meta', BLOCK_META, filters));
        break;
      case UPDATE.ping:
        reader.skipType(tag & 7);
        update = { kind: 'ping' };
        break;
      default:
        reader.skipType(tag & 7);
    }
  }
  return update;
}

/** Reads a message within a message. */
function readInner<T>(reader: Reader, read: (end: number) => T): T {
  const length = reader.uint32();
  const end = reader.pos + length;
  if (end > reader.len) throw new RangeError('a message ends before its length');
  return read(end);
}

function readAccountUpdate(reader: Reader, end: number, filters: readonly string[]): FeedUpdate {
  let write: AccountWrite | undefined;
  let slot = 0;
  while (reader.pos < end) {
    const tag = reader.tag();
    if (tag >>> 3 === 1) write = readInner(reader, (inner) => readWrite(reader, inner));
    else if (tag >>> 3 === 2) slot = readSafeInteger(reader);
    else reader.skipType(tag & 7);
  }
  return write === undefined ? { kind: 'other' } : { kind: 'account', filters, slot, write };
}

function readSlot(reader: Reader, end: number): FeedUpdate {
  let slot = 0;
  let status = 0;
  while (reader.pos < end) {
    const tag = reader.tag();
    if (tag >>> 3 === 1) slot = readSafeInteger(reader);
    else if (tag >>> 3 === 3) status = reader.uint32();
    else reader.skipType(tag & 7);
  }
  return { kind: 'slot', slot, status: SLOT_STATUSES[status] ?? 'other' };
}

function readBlock(
  reader: Reader,
  end: number,
  kind: 'block' | 'block-meta',
  fields: Omit<typeof BLOCK, 'accounts'> | typeof BLOCK_META,
  filters: readonly string[],
): FeedUpdate {
  const writes: AccountWrite[] = [];
  const link = { slot: 0, blockhash: '', parentSlot: 0, parentBlockhash: '' };
  while (reader.pos < end) {
    const tag = reader.tag();
    const field = tag >>> 3;
    if (field === fields.slot) link.slot = readSafeInteger(reader);
    else if (field === fields.blockhash) link.blockhash = reader.string();
    else if (field === fields.parentSlot) link.parentSlot = readSafeInteger(reader);
    else if (field === fields.parentBlockhash) link.parentBlockhash = reader.string();
    else if (kind === 'block' && field === BLOCK.accounts)
      writes.push(readInner(reader, (at) => readWrite(reader, at)));
    else reader.skipType(tag & 7);
  }
  return kind === 'block' ? { kind, filters, writes, ...link } : { kind, filters, ...link };
}

function readWrite(reader: Reader, end: number): AccountWrite {
  let [address, owner, executable, data]: [string, string, boolean, Uint8Array] = ['', '', false, NO_BYTES];
  let [lamports, rentEpoch, writeVersion] = [0n, 0n, 0];
  while (reader.pos < end) {
    const tag = reader.tag();
    switch (tag >>> 3) {
      case ACCOUNT.pubkey:
        address = readAddress(reader);
        break;
      case ACCOUNT.lamports:
        lamports = readU64(reader);
        break;
      case ACCOUNT.owner:
        owner = readAddress(reader);
        break;
      case ACCOUNT.executable:
        executable = reader.bool();
        break;
      case ACCOUNT.rentEpoch:
        rentEpoch = readU64(reader);
        break;
      case ACCOUNT.data:
        data = reader.bytes();
        break;
      case ACCOUNT.writeVersion:
        writeVersion = readSafeInteger(reader);
        break;
      default:
        reader.skipType(tag & 7);
    }
  }
  if (address === '' || owner === '') throw new RangeError('an account without address or owner');
  const value: AccountValue | null =
    lamports === 0n ? null : accountValue(lamports, owner, executable, rentEpoch, data);
  return { address, value, writeVersion };
}

function readAddress(reader: Reader): string {
  const bytes = reader.bytes();
  if (bytes.length !== ADDRESS_BYTES) throw new RangeError('an address is not 32 bytes long');
  return encodeKey(bytes);
}

function readU64(reader: Reader): bigint {
  const { low, high } = reader.uint64();
  if (high === 0) return BigInt(low >>> 0);
  if (high === -1 && low === -1) return RENT_EXEMPT;
  return (BigInt(high >>> 0) << 32n) | BigInt(low >>> 0);
}

function readSafeInteger(reader: Reader): number {
  const { low, high } = reader.uint64();
  if (high === 0 && low >= 0) return low; // without arithmetic: V8 would keep an object for each number
  const value = (high >>> 0) * 2 ** 32 + (low >>> 0);
  if (!Number.isSafeInteger(value)) throw new RangeError('a slot or a version is not a safe integer');
  return value;
}
