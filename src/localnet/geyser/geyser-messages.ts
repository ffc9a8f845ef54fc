import bs58 from 'bs58';
import protobuf from 'protobufjs/minimal.js';
import type { Slot } from '../../shared/domain/slot.ts';
import { type Account, RENT_EPOCH } from '../bank/svm-account.ts';

/** Messages of geyser.proto 12.6 (yellowstone-grpc-proto, Apache-2.0), those that the feed of this cluster uses. */

export const STATUS = { processed: 0, confirmed: 1, finalized: 2, completed: 4, createdBank: 5, dead: 6 } as const;

/** What a `SubscribeRequest` requests; filters by their names. */
export interface GeyserRequest {
  readonly accounts: ReadonlyMap<string, ReadonlySet<string>>;
  readonly blocks: ReadonlyMap<string, BlocksFilter>;
  readonly blocksMeta: readonly string[];
  readonly slots: ReadonlyMap<string, SlotsFilter>;
  readonly commitment: number;
  readonly pingId: number | undefined;
  readonly fromSlot: Slot | undefined;
}

export interface BlocksFilter {
  readonly accounts: ReadonlySet<string>;
  readonly includesAccounts: boolean;
}

export interface SlotsFilter {
  readonly byCommitment: boolean;
  readonly interslot: boolean;
}

/** One write of an account, as the plugin was notified of it. */
export interface GeyserWrite {
  readonly address: string;
  readonly account: Account | undefined;
  readonly writeVersion: number;
}

export interface GeyserBlock {
  readonly slot: Slot;
  readonly blockhash: string;
  readonly parentSlot: Slot;
  readonly parentBlockhash: string;
  readonly transactionCount: number;
  readonly writes: readonly GeyserWrite[];
}

type Writer = protobuf.Writer;
type Reader = protobuf.Reader;

const VARINT = 0;
const BYTES = 2;
const SYSTEM_OWNER = new Uint8Array(32);

/** Decodes a `SubscribeRequest`. Throws for bytes that are none. */
export function decodeRequest(bytes: Uint8Array): GeyserRequest {
  const accounts = new Map<string, ReadonlySet<string>>();
  const blocks = new Map<string, BlocksFilter>();
  const blocksMeta: string[] = [];
  const slots = new Map<string, SlotsFilter>();
  let [commitment, pingId, fromSlot]: [number, number | undefined, Slot | undefined] = [0, undefined, undefined];
  readFields(protobuf.Reader.create(bytes), undefined, (field, reader) => {
    if (field === 1) {
      const keys = new Set<string>();
      const name = readEntry(reader, (inner, at) => inner === 2 && keys.add(at.string()));
      accounts.set(name, keys);
    } else if (field === 2) {
      const filter = { byCommitment: false, interslot: false };
      const name = readEntry(reader, (inner, at) => {
        if (inner === 1) filter.byCommitment = at.bool();
        else if (inner === 2) filter.interslot = at.bool();
        else return false;
        return true;
      });
      slots.set(name, filter);
    } else if (field === 4) {
      const keys = new Set<string>();
      let includesAccounts = false;
      const name = readEntry(reader, (inner, at) => {
        if (inner === 1) keys.add(at.string());
        else if (inner === 3) includesAccounts = at.bool();
        else return false;
        return true;
      });
      blocks.set(name, { accounts: keys, includesAccounts });
    } else if (field === 5) blocksMeta.push(readEntry(reader, () => false));
    else if (field === 6) commitment = reader.int32();
    else if (field === 9) {
      pingId = 0;
      readFields(reader, reader.uint32() + reader.pos, (_, inner) => {
        pingId = inner.int32();
        return true;
      });
    } else if (field === 11) fromSlot = Number(reader.uint64());
    else return false;
    return true;
  });
  return { accounts, blocks, blocksMeta, slots, commitment, pingId, fromSlot };
}

/** Reads fields up to `end`; `read` returns false for a field that it leaves unread. */
function readFields(reader: Reader, end = reader.len, read: (field: number, reader: Reader) => unknown): void {
  while (reader.pos < end) {
    const tag = reader.tag();
    if (read(tag >>> 3, reader) === false) reader.skipType(tag & 7);
  }
}

/** Reads an entry of a map of filters; returns its name. */
function readEntry(reader: Reader, read: (field: number, reader: Reader) => unknown): string {
  let name = '';
  readFields(reader, reader.uint32() + reader.pos, (field, entry) => {
    if (field === 1) name = entry.string();
    else if (field === 2) readFields(entry, entry.uint32() + entry.pos, read);
    else return false;
    return true;
  });
  return name;
}

export const encodeAccountUpdate = (filters: readonly string[], slot: Slot, write: GeyserWrite): Uint8Array =>
  update(filters, 2, (writer) => {
    writer.uint32(tag(1, BYTES)).fork();
    writeAccount(writer, write);
    writer.ldelim().uint32(tag(2)).uint64(slot);
  });

export const encodeSlotUpdate = (filters: readonly string[], slot: Slot, parent: Slot, status: number): Uint8Array =>
  update(filters, 3, (writer) =>
    writer.uint32(tag(1)).uint64(slot).uint32(tag(2)).uint64(parent).uint32(tag(3)).int32(status),
  );

/** Encodes a block with the given of its writes. */
export const encodeBlockUpdate = (
  filters: readonly string[],
  block: GeyserBlock,
  writes: readonly GeyserWrite[],
): Uint8Array =>
  update(filters, 5, (writer) => {
    writer.uint32(tag(1)).uint64(block.slot).uint32(tag(2, BYTES)).string(block.blockhash);
    writer.uint32(tag(7)).uint64(block.parentSlot).uint32(tag(8, BYTES)).string(block.parentBlockhash);
    writer.uint32(tag(9)).uint64(block.transactionCount).uint32(tag(10)).uint64(block.writes.length);
    for (const write of writes) {
      writer.uint32(tag(11, BYTES)).fork();
      writeAccount(writer, write);
      writer.ldelim();
    }
  });

export const encodeBlockMetaUpdate = (filters: readonly string[], block: GeyserBlock): Uint8Array =>
  update(filters, 7, (writer) => {
    writer.uint32(tag(1)).uint64(block.slot).uint32(tag(2, BYTES)).string(block.blockhash);
    writer.uint32(tag(6)).uint64(block.parentSlot).uint32(tag(7, BYTES)).string(block.parentBlockhash);
    writer.uint32(tag(8)).uint64(block.transactionCount);
  });

export const encodePingUpdate = (): Uint8Array => update([], 6, () => {});

export const encodePongUpdate = (id: number): Uint8Array => update([], 9, (writer) => writer.uint32(tag(1)).int32(id));

/** Encodes a `PongResponse`. */
export const encodePong = (count: number): Uint8Array => protobuf.Writer.create().uint32(tag(1)).int32(count).finish();

/** Reads the count of a `PingRequest`. */
export function decodePing(bytes: Uint8Array): number {
  let count = 0;
  readFields(protobuf.Reader.create(bytes), undefined, (field, reader) => {
    if (field !== 1) return false;
    count = reader.int32();
    return true;
  });
  return count;
}

/** Encodes a `GetVersionResponse`. */
export const encodeVersion = (version: string): Uint8Array =>
  protobuf.Writer.create().uint32(tag(1, BYTES)).string(version).finish();

/** Encodes a `SubscribeReplayInfoResponse`; without a slot where nothing is stored. */
export function encodeReplayInfo(firstAvailable: Slot | undefined): Uint8Array {
  const writer = protobuf.Writer.create();
  if (firstAvailable !== undefined) writer.uint32(tag(1)).uint64(firstAvailable);
  return writer.finish();
}

const tag = (field: number, wireType = VARINT): number => (field << 3) | wireType;

function update(filters: readonly string[], field: number, write: (writer: Writer) => unknown): Uint8Array {
  const writer = protobuf.Writer.create();
  for (const filter of filters) writer.uint32(tag(1, BYTES)).string(filter);
  writer.uint32(tag(field, BYTES)).fork();
  write(writer);
  return writer.ldelim().finish();
}

/** Writes an account; a closed one has no lamports and belongs to the System program. */
function writeAccount(writer: Writer, { address, account, writeVersion }: GeyserWrite): void {
  writer.uint32(tag(1, BYTES)).bytes(bs58.decode(address));
  if (account !== undefined) writer.uint32(tag(2)).uint64(account.lamports.toString());
  writer.uint32(tag(3, BYTES)).bytes(account === undefined ? SYSTEM_OWNER : bs58.decode(account.owner));
  if (account?.executable === true) writer.uint32(tag(4)).bool(true);
  writer.uint32(tag(5)).uint64(RENT_EPOCH.toString());
  if (account !== undefined && account.data.length > 0) writer.uint32(tag(6, BYTES)).bytes(account.data);
  writer.uint32(tag(7)).uint64(writeVersion);
}
