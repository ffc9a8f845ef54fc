import protobuf from 'protobufjs/minimal.js';
import type { Slot } from '../../../shared/domain/slot.ts';

/**
 * How a feed delivers accounts. `blocks`: with the block, in one message. `accounts`: in messages of their own, before
 * the message with the block's hash: for servers that refuse accounts in blocks.
 */
export type FeedMode = 'blocks' | 'accounts';

/** What a stream is to send. A later request replaces the whole of it. */
export interface FeedFilter {
  readonly mode: FeedMode;
  /** Names the filters, so that messages show which request is in force. */
  readonly version: number;
  /** Base58 addresses; at least one. */
  readonly addresses: readonly string[];
  /** The first block to send again; undefined for new ones only. */
  readonly fromSlot?: Slot | undefined;
}

/** Field numbers of `geyser.SubscribeRequest`. */
const REQUEST = { accounts: 1, slots: 2, blocks: 4, blocksMeta: 5, commitment: 6, ping: 9, fromSlot: 11 } as const;
const CONFIRMED = 1;
const BYTES = 2;

const tag = (field: number, wireType = 0): number => (field << 3) | wireType;

/** Encodes a subscription at confirmed, with the slots of every commitment. */
export function encodeFilter({ mode, version, addresses, fromSlot }: FeedFilter): Uint8Array {
  const writer = protobuf.Writer.create();
  const filter = (field: number, letter: string, ...contents: readonly Uint8Array[]): void => {
    writer.uint32(tag(field, BYTES)).fork(); // an entry of a map: its key, its value
    writer.uint32(tag(1, BYTES)).string(`${letter}${version}`);
    writer.uint32(tag(2, BYTES)).bytes(Buffer.concat(contents)).ldelim();
  };
  if (mode === 'blocks') filter(REQUEST.blocks, 'b', encodeAddresses(1, addresses), ACCOUNTS_ALONE);
  else {
    filter(REQUEST.accounts, 'a', encodeAddresses(2, addresses));
    filter(REQUEST.blocksMeta, 'm');
  }
  filter(REQUEST.slots, 's', EVERY_COMMITMENT);
  writer.uint32(tag(REQUEST.commitment)).int32(CONFIRMED);
  if (fromSlot !== undefined) writer.uint32(tag(REQUEST.fromSlot)).uint64(fromSlot);
  return writer.finish();
}

/** Of a block its accounts: neither transactions nor entries. */
const ACCOUNTS_ALONE = Buffer.from([tag(2), 0, tag(3), 1, tag(4), 0]);
const EVERY_COMMITMENT = Buffer.from([tag(1), 0]);
const MAX_ADDRESS = 44;

/** Encodes a repeated string. 100,000 take 15 ms; protobufjs takes ten times as long, in one turn of the event loop. */
function encodeAddresses(field: number, addresses: readonly string[]): Uint8Array {
  const bytes = Buffer.allocUnsafe(addresses.length * (2 + MAX_ADDRESS));
  let at = 0;
  for (const address of addresses) {
    bytes[at++] = tag(field, BYTES);
    bytes[at++] = address.length;
    at += bytes.write(address, at, 'latin1');
  }
  return bytes.subarray(0, at);
}

/** Encodes the answer to a ping, which changes no filter. */
export function encodePing(): Uint8Array {
  const writer = protobuf.Writer.create().uint32(tag(REQUEST.ping, BYTES)).fork();
  return writer.uint32(tag(1)).int32(1).ldelim().finish();
}

/** Returns the version in the name of a filter; -1 for a name that is none of ours. */
export function versionOf(filter: string): number {
  const version = Number(filter.slice(1));
  return Number.isSafeInteger(version) && filter.length > 1 ? version : -1;
}
