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
  readonly addresses: Iterable<string>;
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
  const filter = (field: number, letter: string, write: () => void): void => {
    writer.uint32(tag(field, BYTES)).fork(); // an entry of a map: its key, its value
    writer.uint32(tag(1, BYTES)).string(`${letter}${version}`).uint32(tag(2, BYTES)).fork();
    write();
    writer.ldelim().ldelim();
  };
  if (mode === 'blocks') {
    filter(REQUEST.blocks, 'b', () => {
      for (const address of addresses) writer.uint32(tag(1, BYTES)).string(address);
      writer.uint32(tag(2)).bool(false).uint32(tag(3)).bool(true).uint32(tag(4)).bool(false);
    });
  } else {
    filter(REQUEST.accounts, 'a', () => {
      for (const address of addresses) writer.uint32(tag(2, BYTES)).string(address);
    });
    filter(REQUEST.blocksMeta, 'm', () => {});
  }
  filter(REQUEST.slots, 's', () => writer.uint32(tag(1)).bool(false));
  writer.uint32(tag(REQUEST.commitment)).int32(CONFIRMED);
  if (fromSlot !== undefined) writer.uint32(tag(REQUEST.fromSlot)).uint64(fromSlot);
  return writer.finish();
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
