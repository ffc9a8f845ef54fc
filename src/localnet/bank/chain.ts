import { createHash } from 'node:crypto';
import bs58 from 'bs58';
import type { Clock } from '../../domain/clock.ts';
import type { Commitment } from '../../domain/commitment.ts';
import type { Slot } from '../../domain/slot.ts';
import { CLOCK_SYSVAR, RECENT_BLOCKHASHES_SYSVAR, SLOT_HASHES_SYSVAR } from '../../domain/well-known-addresses.ts';
import type { Account } from './account.ts';
import { AccountVersions } from './account-versions.ts';
import { admit, BLOCKHASH_LIFE, isAlive, type Surroundings } from './admission.ts';
import { Bank, type Parent } from './bank.ts';
import type { Block, Landed } from './block.ts';
import { Ledger } from './ledger.ts';
import { type PrioritizationFee, prioritizationFees } from './prioritization-fees.ts';
import { type PerformanceSample, Samples } from './samples.ts';
import { type Skips, skips } from './skips.ts';
import { SlotClock } from './slot-clock.ts';
import { type Execution, Svm } from './svm.ts';
import { feeOf, type Message, readTransaction } from './wire-transaction.ts';

export interface ChainOptions {
  readonly clock: Clock;
  /** Base58 of 32 bytes. */
  readonly genesisHash: string;
  /** Unix milliseconds of slot 0. */
  readonly originMs: number;
  readonly slotMs: number;
  /** One slot in so many has no block; 0 for none. */
  readonly skipEvery: number;
  readonly slotsPerEpoch: number;
}

/** One step of the cluster: a block was made, and with it others became more certain. */
export interface SlotEvent {
  /** The bank that was just opened on top of the block; transactions go there now. */
  readonly created: Slot;
  readonly processed: Block;
  /** The block is the first of another branch, whose bank nobody was told of yet. */
  readonly isBranch: boolean;
  /** Accounts that went back to an earlier state because the blocks that had changed them were abandoned. */
  readonly reverted: ReadonlySet<string>;
  /** Newly confirmed, oldest first: none, one or two. */
  readonly confirmed: readonly Block[];
  /** Newly finalized, oldest first. */
  readonly finalized: readonly Block[];
  readonly root: Slot;
}

const FINALIZED_DEPTH = 32;
const SLOT_HASHES = 512;
const MAX_BLOCKS = 2048;
const MAX_TRANSACTIONS = 16_384;

/**
 * A cluster of one node: it makes a block per slot from the transactions it is sent, and tells what each commitment
 * sees. It starts from a slot that the clock names, with no history, as a node does from a snapshot; until the first
 * {@link tick} it prepares that first block, which is final at once.
 */
export class Chain {
  readonly genesisHash: string;
  /** The one validator. */
  readonly identity: string;
  readonly slotsPerEpoch: number;
  /** When its slots are. */
  readonly time: SlotClock;

  readonly #skips: Skips;
  readonly #svm: Svm;
  readonly #versions = new AccountVersions();
  readonly #ledger = new Ledger({ maxBlocks: MAX_BLOCKS, maxTransactions: MAX_TRANSACTIONS });
  readonly #samples: Samples;
  readonly #listeners = new Set<(event: SlotEvent) => void>();
  #bank: Bank;
  #heads: Record<Commitment, Slot>;
  #reverted = new Set<string>();
  #isBranch = false;

  static async create(options: ChainOptions): Promise<Chain> {
    return new Chain(options, await Svm.load(options.slotsPerEpoch));
  }

  private constructor({ clock, genesisHash, skipEvery, slotsPerEpoch, ...timing }: ChainOptions, svm: Svm) {
    this.genesisHash = genesisHash;
    this.identity = digest('identity', genesisHash);
    this.slotsPerEpoch = slotsPerEpoch;
    this.time = new SlotClock(clock, timing);
    this.#skips = skips(skipEvery);
    this.#svm = svm;
    const first = this.#unskipped(this.time.now());
    this.#heads = { processed: first, confirmed: first, finalized: first };
    // At least as high as any block of an earlier run, because each slot that has no block now had none then.
    const height = first - this.#skips.before(first);
    const hash = digest('ancestor', genesisHash, String(first));
    this.#bank = this.#open(first, { slot: first - 1, hash, height: height - 1, transactionCount: 0 });
    this.#samples = new Samples(first, this.#bank.time);
  }

  /** The newest slot that a commitment sees. */
  slot(commitment: Commitment): Slot {
    return this.#heads[commitment];
  }

  /** The oldest slot whose block is still here. */
  get firstAvailable(): Slot {
    return this.#ledger.first?.slot ?? this.#heads.finalized;
  }

  /**
   * True for a slot that passed without a block: skipped by its leader, which is known however long ago it was, or
   * abandoned by a fork.
   */
  isSkipped(slot: Slot): boolean {
    if (slot < this.firstAvailable) return this.#skips.has(slot);
    return slot <= this.#heads.processed && this.#ledger.block(slot) === undefined;
  }

  block(slot: Slot): Block | undefined {
    return this.#ledger.block(slot);
  }

  /** The newest block that a commitment sees; `undefined` only before the first {@link tick}. */
  head(commitment: Commitment): Block | undefined {
    return this.#ledger.block(this.#heads[commitment]);
  }

  transaction(signature: string): Landed | undefined {
    return this.#ledger.transaction(signature);
  }

  /** Transactions that name an address, oldest first, at any commitment. */
  transactionsOf(address: string): readonly Landed[] {
    return this.#ledger.transactionsOf(address);
  }

  account(address: string, commitment: Commitment): Account | undefined {
    return this.accountAt(address, this.#heads[commitment]);
  }

  /** The account at the end of a slot: any between the root and the newest, in particular those of a {@link SlotEvent}. */
  accountAt(address: string, slot: Slot): Account | undefined {
    const version = this.#versions.at(address, slot);
    return version === undefined ? this.#svm.account(address) : version.account;
  }

  /** The accounts that a program owns, in the order of their addresses. */
  programAccounts(program: string, commitment: Commitment): [address: string, account: Account][] {
    const found = new Map(this.#svm.ownedBy(program));
    for (const address of this.#versions.addresses()) {
      const account = this.account(address, commitment);
      if (account?.owner === program) found.set(address, account);
      else found.delete(address);
    }
    return [...found].sort(([a], [b]) => (a < b ? -1 : 1));
  }

  epochOf(slot: Slot): { readonly epoch: number; readonly slotIndex: number } {
    return { epoch: Math.floor(slot / this.slotsPerEpoch), slotIndex: slot % this.slotsPerEpoch };
  }

  /** A hash to build a transaction with, and the last block height at which it serves. */
  latestBlockhash(commitment: Commitment): { readonly hash: string; readonly lastValidHeight: number } {
    const { hash, height } = this.head(commitment) ?? this.#bank.parent;
    return { hash, lastValidHeight: height + BLOCKHASH_LIFE };
  }

  /** What a message costs in lamports; `undefined` when its blockhash is too old or unknown. */
  feeFor(message: Message): bigint | undefined {
    return isAlive(message, this.#surroundings()) ? feeOf(message) : undefined;
  }

  /** Lamports that an account of `size` bytes needs to exist. */
  minimumBalance(size: number): bigint {
    return this.#svm.minimumBalance(size);
  }

  /** Newest first. */
  samples(limit: number): PerformanceSample[] {
    return this.#samples.newest(limit);
  }

  /** For each of the newest 150 confirmed blocks, oldest first. */
  prioritizationFees(addresses: readonly string[]): PrioritizationFee[] {
    const through = this.#heads.confirmed;
    return prioritizationFees(this.#ledger.between(-1, through).slice(-BLOCKHASH_LIFE), addresses);
  }

  /**
   * Runs a signed transaction and puts it into the block being made. Throws `TransactionRefused` when it can't
   * land; one that lands and fails is returned with its `error`.
   */
  send(bytes: Uint8Array): Landed {
    const transaction = readTransaction(bytes);
    admit(transaction, this.#surroundings());
    return this.#bank.run(transaction);
  }

  /** What {@link send} would give, without sending. Throws `TransactionRefused` too. */
  simulate(bytes: Uint8Array): Execution {
    const transaction = readTransaction(bytes);
    admit(transaction, this.#surroundings());
    return this.#svm.simulate(bytes);
  }

  /** Writes an account past all rules: for a genesis that no transaction could make. */
  put(address: string, account: Account): void {
    this.#bank.put(address, account);
  }

  /** Calls `listener` after each block, in the same turn. Returns a function that stops it. */
  onSlot(listener: (event: SlotEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** The slot of the block that is being made. */
  get making(): Slot {
    return this.#bank.slot;
  }

  /** Closes the block being made, whatever the time, and opens the next one. */
  tick(): void {
    this.leap(this.making + 1);
  }

  /** As {@link tick}, but opens the block of `next`, or of the first slot after it that is not skipped. */
  leap(next: Slot): void {
    const processed = this.#bank.freeze();
    this.#ledger.add(processed);
    this.#samples.count(processed.slot, processed.time, processed.transactions.length);
    const { confirmed, finalized } = this.#heads;
    this.#heads = {
      processed: processed.slot,
      confirmed: Math.max(confirmed, this.#ledger.fromTop(confirmationDepth(processed.slot))?.slot ?? confirmed),
      finalized: this.#ledger.fromTop(FINALIZED_DEPTH)?.slot ?? finalized,
    };
    this.#bank = this.#open(this.#unskipped(next), processed);
    const event: SlotEvent = {
      created: this.#bank.slot,
      processed,
      isBranch: this.#isBranch,
      reverted: this.#reverted,
      confirmed: this.#ledger.between(confirmed, this.#heads.confirmed),
      finalized: this.#ledger.between(finalized, this.#heads.finalized),
      root: this.#heads.finalized,
    };
    this.#reverted = new Set();
    this.#isBranch = false;
    for (const listener of this.#listeners) listener(event);
    this.#versions.prune(event.root);
    this.#ledger.trim(event.root);
  }

  /** Abandons all blocks above the confirmed one and goes on from there on another branch. Returns their slots. */
  fork(): Slot[] {
    const parent = this.head('confirmed');
    if (parent === undefined) return [];
    for (const [address, account] of this.#versions.rollBack(parent.slot)) {
      this.#reverted.add(address);
      if (!isBankSysvar(address)) this.#svm.put(address, account);
    }
    const abandoned = this.#ledger.truncate(parent.slot).map(({ slot }) => slot);
    this.#heads.processed = parent.slot;
    this.#bank = this.#open(this.#unskipped(this.#bank.slot + 1), parent);
    this.#isBranch = true;
    return abandoned;
  }

  #open(slot: Slot, parent: Parent): Bank {
    const { epoch, slotIndex } = this.epochOf(slot);
    const seconds = (slot: Slot): number => Math.floor(this.time.startOf(slot) / 1000);
    const ancestors = this.#ledger.newest(SLOT_HASHES);
    const bank = new Bank(this.#svm, this.#versions, { slot, parent, time: seconds(slot) });
    bank.change(BANK_SYSVARS, () =>
      this.#svm.openBank({
        slot,
        epoch,
        epochStartSeconds: seconds(slot - slotIndex),
        unixSeconds: bank.time,
        slotHashes: ancestors.length === 0 ? [parent] : ancestors,
      }),
    );
    return bank;
  }

  #unskipped(slot: Slot): Slot {
    return this.#skips.has(slot) ? this.#unskipped(slot + 1) : slot;
  }

  #surroundings(): Surroundings {
    return { ledger: this.#ledger, bank: this.#bank, account: (address) => this.#svm.account(address) };
  }
}

/** Confirmation follows one block behind, sometimes two. */
const confirmationDepth = (slot: Slot): number => (slot % 3 === 0 ? 2 : 1);

/** The sysvars that every bank writes. */
const BANK_SYSVARS = [CLOCK_SYSVAR, SLOT_HASHES_SYSVAR, RECENT_BLOCKHASHES_SYSVAR] as const;

const isBankSysvar = (address: string): boolean => BANK_SYSVARS.some((sysvar) => sysvar === address);

function digest(...parts: readonly string[]): string {
  return bs58.encode(createHash('sha256').update(parts.join(' ')).digest());
}
