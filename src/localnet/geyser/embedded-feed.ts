import { createHash } from 'node:crypto';
import type { ServerDuplexStream } from '@grpc/grpc-js';
import bs58 from 'bs58';
import type { Clock } from '../../shared/domain/clock.ts';
import type { Slot } from '../../shared/domain/slot.ts';
import { SYSTEM_PROGRAM } from '../../shared/domain/well-known-addresses.ts';
import { repeat } from '../../shared/runtime/repeat.ts';
import type { Chain, SlotEvent } from '../bank/chain.ts';
import type { Block } from '../bank/produced-block.ts';
import type { GeyserFaults } from './geyser-faults.ts';
import {
  decodeRequest,
  encode,
  encodeAccountUpdate,
  encodeBlockMetaUpdate,
  encodeBlockUpdate,
  encodeSlotUpdate,
  type GeyserBlock,
  type GeyserRequest,
  type GeyserWrite,
  STATUS,
} from './geyser-messages.ts';

/** The plugin's end of a subscription. */
export type SubscribeCall = ServerDuplexStream<Uint8Array, Uint8Array>;

/** Status codes of gRPC that the plugin ends a subscription with. */
export const CODE = { invalidArgument: 3, outOfRange: 11, internal: 13, unavailable: 14, unauthenticated: 16 } as const;

/** A block that the plugin has received, and how far it has come. */
interface StoredBlock extends GeyserBlock {
  /** False for one that is never sent beyond processed. */
  readonly isSealed: boolean;
  status: number;
}

/** Statuses between two commitments, which a filter must name to get them. */
const INTERSLOT: ReadonlySet<number> = new Set([STATUS.completed, STATUS.createdBank, STATUS.dead]);

const PING_MS = 10_000;

/** Another node counts its writes from elsewhere. */
const WRITE_VERSIONS_APART = 1_000_000;

/** Feeds subscriptions in the order of Yellowstone's plugin; see the recorded conversation in the tests. */
export class EmbeddedFeed {
  readonly #chain: Chain;
  readonly #clock: Clock;
  readonly #faults: GeyserFaults;
  readonly #subscriptions = new Set<GeyserSubscription>();
  /** Blocks by slot, oldest first. */
  #stored = new Map<Slot, StoredBlock>();
  #writeVersion = 1;

  constructor(chain: Chain, clock: Clock, faults: GeyserFaults) {
    this.#chain = chain;
    this.#clock = clock;
    this.#faults = faults;
  }

  /** The oldest slot that can be replayed. */
  get firstAvailable(): Slot | undefined {
    return this.#sealedAt(STATUS.confirmed)[0]?.slot;
  }

  /** Serves one subscription until it ends. */
  serve(call: SubscribeCall): void {
    const subscription: GeyserSubscription = { call, request: undefined };
    this.#subscriptions.add(subscription);
    const stopPing = repeat(this.#clock, PING_MS, () => {
      if (!this.#faults.isSilent) call.write(encode('SubscribeUpdate', { ping: {} }));
    });
    const end = (): void => {
      stopPing();
      this.#subscriptions.delete(subscription);
    };
    call.on('data', (bytes: Uint8Array) => {
      try {
        this.#onRequest(subscription, decodeRequest(bytes));
      } catch (thrown) {
        endCall(call, CODE.invalidArgument, String(thrown));
      }
    });
    call.on('end', () => {
      end();
      call.end();
    });
    call.on('cancelled', end);
    call.on('error', end);
  }

  /** Sends what has happened in a slot. */
  publish({ processed, openedSlot, confirmed, finalized }: SlotEvent): void {
    const block = this.#store(processed);
    this.#statusToAll(block, STATUS.completed);
    this.#raise(block, STATUS.processed);
    const opened = { slot: openedSlot, parentSlot: processed.slot };
    this.#statusToAll(opened, STATUS.createdBank);
    if (this.#faults.hasTwoBanks) {
      this.#statusToAll(opened, STATUS.dead);
      this.#statusToAll(opened, STATUS.createdBank);
    }
    for (const { slot } of confirmed) this.#raise(this.#stored.get(slot), STATUS.confirmed);
    for (const { slot } of finalized) this.#raise(this.#stored.get(slot), STATUS.finalized);
    this.#forget();
  }

  /** Ends all subscriptions, as a restart does, or a balancer that leads to another node; without a replay all is forgotten. */
  restart(keepsReplay: boolean): void {
    if (!keepsReplay) this.#stored = new Map();
    this.#writeVersion += WRITE_VERSIONS_APART;
    this.#endAll(CODE.unavailable, 'Connection dropped');
  }

  /** Ends all subscriptions as those of slow readers. */
  lag(): void {
    this.#endAll(CODE.internal, 'lagged to receive geyser messages');
  }

  #endAll(code: number, details: string): void {
    for (const { call } of [...this.#subscriptions]) endCall(call, code, details);
    this.#subscriptions.clear();
  }

  #store({ slot, parentSlot, hash, parentHash, transactions, changedAccounts }: Block): StoredBlock {
    const { rejectedOwner, lostAddress, isForging } = this.#faults;
    const writes: GeyserWrite[] = [];
    for (const address of changedAccounts) {
      let account = this.#chain.accountAt(address, slot);
      this.#writeVersion++;
      if ((account?.owner ?? SYSTEM_PROGRAM) === rejectedOwner || address === lostAddress) continue;
      if (isForging && account?.owner === SYSTEM_PROGRAM) account = { ...account, lamports: account.lamports + 1n };
      writes.push({ address, account, writeVersion: this.#writeVersion });
    }
    const stored: StoredBlock = {
      slot,
      parentSlot,
      blockhash: this.#hashOf(hash),
      parentBlockhash: this.#hashOf(parentHash),
      transactionCount: transactions.length,
      writes,
      isSealed: this.#faults.omittedBlocks === 0,
      status: STATUS.processed,
    };
    if (!stored.isSealed) this.#faults.omittedBlocks--;
    this.#stored.set(slot, stored);
    return stored;
  }

  #hashOf(hash: string): string {
    return this.#faults.hasOtherGenesis ? bs58.encode(createHash('sha256').update(hash).digest()) : hash;
  }

  /** Sends a block to the subscriptions of the commitment that it has come to, and its status to the others. */
  #raise(block: StoredBlock | undefined, status: number): void {
    if (block === undefined || (status !== STATUS.processed && !block.isSealed)) return;
    block.status = Math.max(block.status, status);
    for (const subscription of this.#subscriptions) {
      if (subscription.request?.commitment === status) this.#sendBlock(subscription, block, status);
      else this.#sendStatus(subscription, block, status);
    }
  }

  #statusToAll(block: Pick<StoredBlock, 'slot' | 'parentSlot'>, status: number): void {
    for (const subscription of this.#subscriptions) this.#sendStatus(subscription, block, status);
  }

  #sendStatus(
    { call, request }: GeyserSubscription,
    { slot, parentSlot }: Pick<StoredBlock, 'slot' | 'parentSlot'>,
    status: number,
  ): void {
    if (this.#faults.isSilent || request === undefined) return;
    const isOwn = status === request.commitment;
    const names = [...request.slots].filter(([, filter]) =>
      INTERSLOT.has(status) ? filter.interslot : isOwn || !filter.byCommitment,
    );
    if (names.length === 0) return;
    call.write(
      encodeSlotUpdate(
        names.map(([name]) => name),
        slot,
        parentSlot,
        status,
      ),
    );
  }

  #sendBlock(subscription: GeyserSubscription, block: StoredBlock, status: number): void {
    const { call, request } = subscription;
    if (this.#faults.isSilent || request === undefined) return;
    const isStatusFirst = this.#faults.order === 'richat' && status !== STATUS.processed;
    if (isStatusFirst) this.#sendStatus(subscription, block, status);
    for (const write of block.writes) {
      const names = [...request.accounts].filter(([, keys]) => keys.has(write.address)).map(([name]) => name);
      if (names.length > 0) call.write(encodeAccountUpdate(names, block.slot, write));
    }
    for (const [name, { accounts, includesAccounts }] of request.blocks) {
      const writes = includesAccounts ? block.writes.filter(({ address }) => accounts.has(address)) : [];
      call.write(encodeBlockUpdate([name], block, writes));
    }
    if (request.blocksMeta.length > 0) call.write(encodeBlockMetaUpdate(request.blocksMeta, block));
    if (!isStatusFirst) this.#sendStatus(subscription, block, status);
  }

  #onRequest(subscription: GeyserSubscription, request: GeyserRequest): void {
    const { call } = subscription;
    if (request.pingId !== undefined) {
      call.write(encode('SubscribeUpdate', { pong: { id: request.pingId } }));
      return;
    }
    if (
      this.#faults.refusesAccountsInBlocks &&
      [...request.blocks.values()].some((filter) => filter.includesAccounts)
    ) {
      endCall(call, CODE.invalidArgument, 'failed to create filter: `include_accounts` is not allowed');
      return;
    }
    const isFirst = subscription.request === undefined;
    const { filterDelayMs } = this.#faults;
    if (isFirst || filterDelayMs === 0) subscription.request = request;
    else {
      this.#clock.after(filterDelayMs, () => {
        subscription.request = request;
      });
    }
    if (request.fromSlot !== undefined) this.#replay(subscription, request, request.fromSlot);
  }

  #replay(subscription: GeyserSubscription, request: GeyserRequest, fromSlot: Slot): void {
    const stored = this.#sealedAt(request.commitment);
    const [first, last] = [stored[0]?.slot, stored.at(-1)?.slot];
    if (first === undefined || last === undefined || fromSlot > last) {
      endCall(subscription.call, CODE.internal, 'failed to get replay response');
      return;
    }
    if (fromSlot < first) {
      endCall(
        subscription.call,
        CODE.outOfRange,
        `broadcast from ${fromSlot} is not available, last available: ${first}`,
      );
      return;
    }
    for (let times = this.#faults.replaysTwice ? 2 : 1; times > 0; times--)
      for (const block of stored) if (block.slot >= fromSlot) this.#sendBlock(subscription, block, request.commitment);
  }

  /** Returns the blocks that can be replayed at a commitment, oldest first. */
  #sealedAt(commitment: number): StoredBlock[] {
    const reached = [...this.#stored.values()].filter(({ isSealed, status }) => isSealed && status >= commitment);
    const { replaySlots } = this.#faults;
    return replaySlots === 0 ? [] : reached.slice(-replaySlots);
  }

  /** Forgets blocks that are replayed no longer. */
  #forget(): void {
    const { replaySlots } = this.#faults;
    for (const [slot, { status }] of this.#stored) {
      if (this.#stored.size <= replaySlots || status !== STATUS.finalized) break;
      this.#stored.delete(slot);
    }
  }
}

/** One subscription. A request replaces the one before. */
interface GeyserSubscription {
  readonly call: SubscribeCall;
  /** The request that is in force; undefined before the first. */
  request: GeyserRequest | undefined;
}

/** Ends a subscription with a status of gRPC. */
const endCall = (call: SubscribeCall, code: number, details: string): void =>
  void call.emit('error', { code, details });
