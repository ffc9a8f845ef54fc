import protobuf from 'protobufjs/minimal.js';
import { ownTurn } from '../../../shared/runtime/own-turn.ts';
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
/** The longest name of a filter, or hash, in bytes. */
const MAX_TEXT_BYTES = 128;
/** Most fields of a message, other than of a block. */
const MAX_FIELDS = 32;
/** The most data of an account, in bytes. */
const MAX_DATA_BYTES = 10 << 20;
/** Most accounts of a block: more than a filter can name. */
export const MAX_WRITES = 1 << 16;
/** The fields, and the bytes, of a block that are decoded in one turn of the event loop: some four milliseconds' work. */
const [FIELDS_PER_TURN, BYTES_PER_TURN] = [1000, 4 << 20];

type Reader = protobuf.Reader;

/**
 * Decodes an update, and calls back with it: in the same call, or for a long one in a later turn of the event loop. Then it returns
 * a promise: the next message may come once that is resolved. Calls `onBroken` for what is no update, and where `onUpdate` throws.
 */
export function receiveUpdate(
  bytes: Uint8Array,
  onUpdate: (update: FeedUpdate) => void,
  onBroken: (cause: unknown) => void,
): Promise<void> | undefined {
  const decoding = decodeInSlices(bytes);
  const decodeSlice = (): Promise<void> | undefined => {
    try {
      const step = decoding.next();
      if (step.done !== true) return ownTurn().then(decodeSlice);
      onUpdate(step.value);
    } catch (cause) {
      onBroken(cause);
    }
    return undefined;
  };
  return decodeSlice();
}

/** Decodes one `geyser.SubscribeUpdate`, and yields where the rest should wait for another turn. Throws for bytes that are none. */
export function* decodeInSlices(bytes: Uint8Array): Generator<undefined, FeedUpdate> {
  const reader = protobuf.Reader.create(bytes);
  const filters: string[] = [];
  let update: FeedUpdate = { kind: 'other' };
  for (let fields = 0; reader.pos < reader.len; fields++) {
    const tag = readTag(reader, fields);
    const field = tag >>> 3;
    if (field === UPDATE.filters) filters.push(readText(reader));
    else if (field === UPDATE.account) update = readAccountUpdate(reader, readEnd(reader), filters);
    else if (field === UPDATE.slot) update = readSlot(reader, readEnd(reader));
    else if (field === UPDATE.block) {
      if (update.kind === 'block') throw new RangeError('a message has two blocks');
      update = yield* readBlock(reader, 'block', BLOCK, filters);
    } else if (field === UPDATE.blockMeta) update = yield* readBlock(reader, 'block-meta', BLOCK_META, filters);
    else {
      reader.skipType(tag & 7);
      if (field === UPDATE.ping) update = { kind: 'ping' };
    }
  }
  return update;
}

/** Reads the tag of a field: of groups, which proto3 has no more, one could be of any length. */
function readTag(reader: Reader, fieldsBefore: number): number {
  if (fieldsBefore === MAX_FIELDS) throw new RangeError('a message has too many fields');
  const tag = reader.tag();
  if ((tag & 7) === 3) throw new RangeError('a field is a group');
  return tag;
}

/** Reads the length of a message within a message; returns where that ends. */
function readEnd(reader: Reader): number {
  const length = reader.uint32();
  const end = reader.pos + length;
  if (end > reader.len) throw new RangeError('a message ends before its length');
  return end;
}

function readAccountUpdate(reader: Reader, end: number, filters: readonly string[]): FeedUpdate {
  let write: AccountWrite | undefined;
  let slot = 0;
  for (let fields = 0; reader.pos < end; fields++) {
    const tag = readTag(reader, fields);
    if (tag >>> 3 === 1) write = readWrite(reader, readEnd(reader));
    else if (tag >>> 3 === 2) slot = readSafeInteger(reader);
    else reader.skipType(tag & 7);
  }
  return write === undefined ? { kind: 'other' } : { kind: 'account', filters, slot, write };
}

function readSlot(reader: Reader, end: number): FeedUpdate {
  let slot = 0;
  let status = 0;
  for (let fields = 0; reader.pos < end; fields++) {
    const tag = readTag(reader, fields);
    if (tag >>> 3 === 1) slot = readSafeInteger(reader);
    else if (tag >>> 3 === 3) status = reader.uint32();
    else reader.skipType(tag & 7);
  }
  return { kind: 'slot', slot, status: SLOT_STATUSES[status] ?? 'other' };
}

function* readBlock(
  reader: Reader,
  kind: 'block' | 'block-meta',
  fields: Omit<typeof BLOCK, 'accounts'> | typeof BLOCK_META,
  filters: readonly string[],
): Generator<undefined, FeedUpdate> {
  const end = readEnd(reader);
  const writes: AccountWrite[] = [];
  const link = { slot: 0, blockhash: '', parentSlot: 0, parentBlockhash: '' };
  let [turnFields, turnEnd] = [0, reader.pos + BYTES_PER_TURN];
  while (reader.pos < end) {
    if (++turnFields > FIELDS_PER_TURN || reader.pos > turnEnd) {
      yield;
      [turnFields, turnEnd] = [0, reader.pos + BYTES_PER_TURN];
    }
    const tag = readTag(reader, 0);
    const field = tag >>> 3;
    if (field === fields.slot) link.slot = readSafeInteger(reader);
    else if (field === fields.blockhash) link.blockhash = readText(reader);
    else if (field === fields.parentSlot) link.parentSlot = readSafeInteger(reader);
    else if (field === fields.parentBlockhash) link.parentBlockhash = readText(reader);
    else if (kind === 'block' && field === BLOCK.accounts) writes.push(readWrite(reader, readEnd(reader)));
    else reader.skipType(tag & 7);
    if (writes.length > MAX_WRITES) throw new RangeError('a block has too many accounts');
  }
  return kind === 'block' ? { kind, filters, writes, ...link } : { kind, filters, ...link };
}

function readWrite(reader: Reader, end: number): AccountWrite {
  let [address, owner, executable, data]: [string, string, boolean, Uint8Array] = ['', '', false, NO_BYTES];
  let [lamports, rentEpoch, writeVersion] = [0n, 0n, 0];
  for (let fields = 0; reader.pos < end; fields++) {
    const tag = readTag(reader, fields);
    const field = tag >>> 3;
    if (field === ACCOUNT.pubkey) address = readAddress(reader);
    else if (field === ACCOUNT.lamports) lamports = readU64(reader);
    else if (field === ACCOUNT.owner) owner = readAddress(reader);
    else if (field === ACCOUNT.executable) executable = reader.bool();
    else if (field === ACCOUNT.rentEpoch) rentEpoch = readU64(reader);
    else if (field === ACCOUNT.data) data = reader.bytes();
    else if (field === ACCOUNT.writeVersion) writeVersion = readSafeInteger(reader);
    else reader.skipType(tag & 7);
    if (data.length > MAX_DATA_BYTES) throw new RangeError('an account is longer than any can be');
  }
  if (address === '' || owner === '') throw new RangeError('an account without address or owner');
  const value: AccountValue | null =
    lamports === 0n ? null : accountValue(lamports, owner, executable, rentEpoch, data);
  return { address, value, writeVersion };
}

function readText(reader: Reader): string {
  const { pos } = reader;
  if (reader.uint32() > MAX_TEXT_BYTES) throw new RangeError('a name or a hash is too long');
  reader.pos = pos;
  return reader.string();
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
