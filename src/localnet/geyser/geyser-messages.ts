import { readFileSync } from 'node:fs';
import bs58 from 'bs58';
import protobuf from 'protobufjs';
import type { Slot } from '../../shared/domain/slot.ts';
import { SYSTEM_PROGRAM } from '../../shared/domain/well-known-addresses.ts';
import { type Account, RENT_EPOCH } from '../bank/svm-account.ts';

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

interface BlocksFilter {
  readonly accounts: ReadonlySet<string>;
  readonly includesAccounts: boolean;
}

interface SlotsFilter {
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

const { root } = protobuf.parse(readFileSync(new URL('data/geyser.proto', import.meta.url), 'utf8'));

/** Encodes a message of `geyser.proto`. Members that are undefined are left out. */
export const encode = (type: string, message: object): Uint8Array => root.lookupType(type).encode(message).finish();

/** Decodes a message, whose members without a value have that of their type. Throws for bytes that are none. */
export function decode(type: string, bytes: Uint8Array) {
  const messages = root.lookupType(type);
  return messages.toObject(messages.decode(bytes), { longs: Number, defaults: true });
}

/** Decodes a `SubscribeRequest`. Throws for bytes that are none. */
export function decodeRequest(bytes: Uint8Array): GeyserRequest {
  const { accounts, blocks, blocksMeta, slots, commitment, ping, fromSlot } = decode('SubscribeRequest', bytes);
  return {
    accounts: filtersIn(accounts, ({ account }) => new Set(account)),
    blocks: filtersIn(blocks, ({ accountInclude, includeAccounts }) => ({
      accounts: new Set(accountInclude),
      includesAccounts: includeAccounts,
    })),
    blocksMeta: Object.keys(blocksMeta),
    slots: filtersIn(slots, ({ filterByCommitment, interslotUpdates }) => ({
      byCommitment: filterByCommitment,
      interslot: interslotUpdates,
    })),
    commitment,
    pingId: ping?.id,
    fromSlot,
  };
}

const filtersIn = <F>(filters: object, read: (filter: ReturnType<typeof decode>) => F): ReadonlyMap<string, F> =>
  new Map(Object.entries(filters).map(([name, filter]) => [name, read(filter)]));

export const encodeAccountUpdate = (filters: readonly string[], slot: Slot, write: GeyserWrite): Uint8Array =>
  encode('SubscribeUpdate', { filters, account: { account: accountInfo(write), slot } });

export const encodeSlotUpdate = (filters: readonly string[], slot: Slot, parent: Slot, status: number): Uint8Array =>
  encode('SubscribeUpdate', { filters, slot: { slot, parent, status } });

/** Encodes a block with the given of its writes. */
export const encodeBlockUpdate = (
  filters: readonly string[],
  block: GeyserBlock,
  writes: readonly GeyserWrite[],
): Uint8Array =>
  encode('SubscribeUpdate', {
    filters,
    block: { ...blockMeta(block), updatedAccountCount: block.writes.length, accounts: writes.map(accountInfo) },
  });

export const encodeBlockMetaUpdate = (filters: readonly string[], block: GeyserBlock): Uint8Array =>
  encode('SubscribeUpdate', { filters, blockMeta: blockMeta(block) });

const blockMeta = ({ slot, blockhash, parentSlot, parentBlockhash, transactionCount }: GeyserBlock): object => ({
  ...{ slot, blockhash, parentSlot, parentBlockhash },
  executedTransactionCount: transactionCount,
});

/** A closed account has no lamports and belongs to the System program. */
const accountInfo = ({ address, account, writeVersion }: GeyserWrite): object => ({
  pubkey: bs58.decode(address),
  lamports: account?.lamports.toString(),
  owner: bs58.decode(account?.owner ?? SYSTEM_PROGRAM),
  executable: account?.executable,
  rentEpoch: RENT_EPOCH.toString(),
  data: account?.data,
  writeVersion,
});
