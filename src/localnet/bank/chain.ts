import { createHash } from 'node:crypto';
import bs58 from 'bs58';
import type { Clock } from '../../shared/domain/clock.ts';
import type { Commitment } from '../../shared/domain/commitment.ts';
import type { Slot } from '../../shared/domain/slot.ts';
import type { VersionedMessage } from '../../transactions/index.ts';
import type { Memcmp } from './account-index.ts';
import { AccountsDb } from './accounts-db.ts';
import { Bank, type ParentBlock, type SimulatedTransaction } from './bank.ts';
import { Ledger } from './ledger.ts';
import { type PerformanceSample, PerformanceSamples } from './performance-samples.ts';
import { type PrioritizationFee, prioritizationFeesOf } from './prioritization-fees.ts';
import type { Block, LandedTransaction } from './produced-block.ts';
import { SlotClock } from './slot-clock.ts';
import { Svm } from './svm.ts';
import type { Account } from './svm-account.ts';
import {
  checkAge,
  checkSigned,
  hasValidBlockhash,
  MAX_FEE_AGE,
  MAX_PROCESSING_AGE,
  type TransactionCheckContext,
} from './transaction-checks.ts';
import { feeOf } from './transaction-fee.ts';
import { decodeTransaction } from './wire-transaction.ts';

export interface ChainOptions {
  readonly clock: Clock;
  /** Base58 of 32 bytes. */
  readonly genesisHash: string;
  /** Unix milliseconds of slot 0. */
  readonly originMs: number;
  readonly slotMs: number;
  /** Number of slots of which one is skipped; 0 skips none. */
  readonly skipEvery: number;
  readonly slotsPerEpoch: number;
}

/** Progress of the cluster by one block, and the blocks whose commitment rose with it. */
export interface SlotEvent {
  /** Slot of the bank that was just opened on top of the block; new transactions go there. */
  readonly openedSlot: Slot;
  readonly processed: Block;
  /** True for the first block of another fork: its bank has not been announced yet. */
  readonly isFirstOfFork: boolean;
  /** Accounts that returned to an earlier state because the blocks that had changed them were abandoned. */
  readonly revertedAccounts: ReadonlySet<string>;
  /** Newly confirmed blocks, oldest first: none, one or two. */
  readonly confirmed: readonly Block[];
  /** Newly finalized blocks, oldest first. */
  readonly finalized: readonly Block[];
  readonly root: Slot;
}

const FINALIZATION_DEPTH = 32;
const MAX_BLOCKS = 2048;
const MAX_TRANSACTIONS = 16_384;

/**
 * A cluster of one node: makes a block per slot from the transactions it receives, and keeps the state of each
 * commitment. It starts at the slot that the clock names, without history, like a node from a snapshot; until the first
 * {@link produceBlock} it prepares its first block, which is final immediately.
 */
export class Chain {
  readonly genesisHash: string;
  readonly identity: string;
  readonly slotsPerEpoch: number;
  readonly slotClock: SlotClock;

  readonly #skippedSlots: ReturnType<typeof createSkippedSlots>;
  readonly #svm: Svm;
  readonly #accounts: AccountsDb;
  readonly #ledger = new Ledger({ maxBlocks: MAX_BLOCKS, maxTransactions: MAX_TRANSACTIONS });
  readonly #performanceSamples: PerformanceSamples;
  readonly #listeners = new Set<(event: SlotEvent) => void>();
  #workingBank: Bank;
  #tips: Record<Commitment, Slot>;
  #revertedAccounts = new Set<string>();
  #isFirstOfFork = false;

  static async create(options: ChainOptions): Promise<Chain> {
    return new Chain(options, await Svm.load(options.slotsPerEpoch));
  }

  private constructor({ clock, genesisHash, skipEvery, slotsPerEpoch, ...timing }: ChainOptions, svm: Svm) {
    this.genesisHash = genesisHash;
    this.identity = digest('identity', genesisHash);
    this.slotsPerEpoch = slotsPerEpoch;
    this.slotClock = new SlotClock(clock, timing);
    this.#skippedSlots = createSkippedSlots(skipEvery);
    this.#svm = svm;
    this.#accounts = new AccountsDb(svm);
    const first = this.#nextUnskippedSlot(this.slotClock.currentSlot());
    this.#tips = { processed: first, confirmed: first, finalized: first };
    // As if every slot since 0 had had a block, except those that are skipped.
    const height = first - this.#skippedSlots.countBefore(first);
    const hash = digest('ancestor', genesisHash, String(first));
    this.#workingBank = this.#openBank(first, { slot: first - 1, hash, height: height - 1, transactionCount: 0 });
    this.#performanceSamples = new PerformanceSamples(first, this.#workingBank.blockTime);
  }

  slot(commitment: Commitment): Slot {
    return this.#tips[commitment];
  }

  get firstAvailableSlot(): Slot {
    return this.#ledger.oldestBlock?.slot ?? this.#tips.finalized;
  }

  /** A slot passed without a block if it was skipped, which is known of any past slot, or abandoned by a fork. */
  isSkipped(slot: Slot): boolean {
    if (slot < this.firstAvailableSlot) return this.#skippedSlots.has(slot);
    return slot <= this.#tips.processed && this.#ledger.block(slot) === undefined;
  }

  block(slot: Slot): Block | undefined {
    return this.#ledger.block(slot);
  }

  /** Undefined only before the first {@link produceBlock}. */
  newestBlock(commitment: Commitment): Block | undefined {
    return this.#ledger.block(this.#tips[commitment]);
  }

  transaction(signature: string): LandedTransaction | undefined {
    return this.#ledger.transaction(signature);
  }

  /** Returns the transactions that name an address, oldest first, at any commitment. */
  transactionsOf(address: string): readonly LandedTransaction[] {
    return this.#ledger.transactionsOf(address);
  }

  account(address: string, commitment: Commitment): Account | undefined {
    return this.accountAt(address, this.#tips[commitment]);
  }

  /** Returns the account at the end of a slot: from the root to the newest, those of a {@link SlotEvent} included. */
  accountAt(address: string, slot: Slot): Account | undefined {
    return this.#accounts.at(address, slot);
  }

  /**
   * Returns the accounts that a program owns and that match all filters, sorted by address. Those of a token program
   * are looked up by their mint or owner where a filter names it.
   */
  programAccounts(
    program: string,
    commitment: Commitment,
    filters: readonly Memcmp[] = [],
  ): [address: string, account: Account][] {
    return this.#accounts.programAccounts(program, this.#tips[commitment], filters);
  }

  epochOf(slot: Slot): { readonly epoch: number; readonly slotIndex: number } {
    return { epoch: Math.floor(slot / this.slotsPerEpoch), slotIndex: slot % this.slotsPerEpoch };
  }

  /** Returns a hash to build a transaction with, and the last block height at which it is valid. */
  latestBlockhash(commitment: Commitment): { readonly hash: string; readonly lastValidHeight: number } {
    const { hash, height } = this.newestBlock(commitment) ?? this.#workingBank.parent;
    return { hash, lastValidHeight: height + MAX_PROCESSING_AGE };
  }

  /** Returns whether a transaction with this blockhash may land on the newest block of a commitment. */
  isBlockhashValid(hash: string, commitment: Commitment): boolean {
    const through = this.#tips[commitment];
    const blocks = this.#ledger.blocksBetween(-1, through).slice(-MAX_PROCESSING_AGE);
    return blocks.some((block) => block.hash === hash);
  }

  /** Returns the lamports of all accounts that were read or written. */
  supply(commitment: Commitment): bigint {
    return this.#accounts.lamportsAt(this.#tips[commitment]);
  }

  /** Returns the accounts with the most lamports of all that were read or written, the richest first. */
  largestAccounts(commitment: Commitment, count: number): [address: string, lamports: bigint][] {
    return this.#accounts.largestAt(this.#tips[commitment], count);
  }

  /** Returns the slots with a block, from `first` through `last`. */
  slotsWithBlock(first: Slot, last: Slot): Slot[] {
    return this.#ledger.blocksBetween(first - 1, last).map(({ slot }) => slot);
  }

  /** Returns the fee of a message in lamports; undefined when its blockhash is too old or unknown. */
  feeForMessage(message: VersionedMessage): bigint | undefined {
    return hasValidBlockhash(message, this.#checkContext(), MAX_FEE_AGE) ? feeOf(message) : undefined;
  }

  minimumBalance(size: number): bigint {
    return this.#svm.minimumBalance(size);
  }

  /** Returns at most `limit` samples, newest first. */
  performanceSamples(limit: number): PerformanceSample[] {
    return this.#performanceSamples.newest(limit);
  }

  /** Returns the fees of the newest 150 confirmed blocks, oldest first. */
  prioritizationFees(addresses: readonly string[]): PrioritizationFee[] {
    const through = this.#tips.confirmed;
    return prioritizationFeesOf(this.#ledger.blocksBetween(-1, through).slice(-MAX_PROCESSING_AGE), addresses);
  }

  /** Puts a signed transaction into the working bank. Throws `TransactionRefused` if it can't land, even as failed. */
  send(bytes: Uint8Array): LandedTransaction {
    const transaction = decodeTransaction(bytes);
    checkSigned(transaction);
    checkAge(transaction, this.#checkContext());
    return this.#workingBank.run(transaction);
  }

  /**
   * Runs a transaction without effects. Throws `TransactionRefused` where its age or a lookup table lets it not run; for
   * missing or invalid signatures only if `verifiesSignatures`.
   */
  simulate(bytes: Uint8Array, verifiesSignatures = true): SimulatedTransaction {
    const transaction = decodeTransaction(bytes);
    if (verifiesSignatures) checkSigned(transaction);
    checkAge(transaction, this.#checkContext());
    return this.#workingBank.simulate(transaction, verifiesSignatures);
  }

  /** Writes an account without a transaction: for a genesis that no transaction could make. */
  setAccount(address: string, account: Account): void {
    this.#workingBank.setAccount(address, account);
  }

  onSlot(listener: (event: SlotEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  get workingSlot(): Slot {
    return this.#workingBank.slot;
  }

  /** Produces the block of the working bank, whatever the time, and opens the next bank. */
  produceBlock(): void {
    this.warpTo(this.workingSlot + 1);
  }

  /** Produces the block, but opens the next bank at `nextSlot` or the first slot after it that is not skipped. */
  warpTo(nextSlot: Slot): void {
    const processed = this.#workingBank.freeze();
    this.#ledger.add(processed);
    this.#performanceSamples.countBlock(processed.slot, processed.blockTime, processed.transactions.length);
    const { confirmed, finalized } = this.#tips;
    this.#tips = {
      processed: processed.slot,
      confirmed: Math.max(
        confirmed,
        this.#ledger.blockBelowNewest(confirmationDepth(processed.slot))?.slot ?? confirmed,
      ),
      finalized: this.#ledger.blockBelowNewest(FINALIZATION_DEPTH)?.slot ?? finalized,
    };
    this.#workingBank = this.#openBank(this.#nextUnskippedSlot(nextSlot), processed);
    const event: SlotEvent = {
      openedSlot: this.#workingBank.slot,
      processed,
      isFirstOfFork: this.#isFirstOfFork,
      revertedAccounts: this.#revertedAccounts,
      confirmed: this.#ledger.blocksBetween(confirmed, this.#tips.confirmed),
      finalized: this.#ledger.blocksBetween(finalized, this.#tips.finalized),
      root: this.#tips.finalized,
    };
    this.#revertedAccounts = new Set();
    this.#isFirstOfFork = false;
    for (const listener of this.#listeners) listener(event);
    this.#accounts.prune(event.root);
    this.#ledger.trim(event.root);
  }

  /** Continues from the newest confirmed block on another fork. Returns the slots of the blocks above, now abandoned. */
  fork(): Slot[] {
    const parent = this.newestBlock('confirmed');
    if (parent === undefined) return [];
    for (const address of this.#accounts.rollBack(parent.slot)) this.#revertedAccounts.add(address);
    const abandoned = this.#ledger.truncate(parent.slot).map(({ slot }) => slot);
    this.#tips.processed = parent.slot;
    this.#workingBank = this.#openBank(this.#nextUnskippedSlot(this.#workingBank.slot + 1), parent);
    this.#isFirstOfFork = true;
    return abandoned;
  }

  #openBank(slot: Slot, parent: ParentBlock): Bank {
    const { epoch, slotIndex } = this.epochOf(slot);
    const seconds = (slot: Slot): number => Math.floor(this.slotClock.startMsOf(slot) / 1000);
    const bank = new Bank(this.#svm, this.#accounts, { slot, parent, blockTime: seconds(slot) });
    bank.setSysvars({
      slot,
      epoch,
      epochStartSeconds: seconds(slot - slotIndex),
      unixSeconds: bank.blockTime,
    });
    return bank;
  }

  #nextUnskippedSlot(slot: Slot): Slot {
    return this.#skippedSlots.has(slot) ? this.#nextUnskippedSlot(slot + 1) : slot;
  }

  #checkContext(): TransactionCheckContext {
    return { ledger: this.#ledger, bank: this.#workingBank, account: (address) => this.#accounts.newest(address) };
  }
}

/**
 * Creates the set of slots without a block: one in every `every` slots, at a varying position that follows from the slot
 * alone; with `every` 0 none. `countBefore` returns the number of those below a slot.
 */
function createSkippedSlots(every: number) {
  if (every === 0) return { has: () => false, countBefore: () => 0 };
  const skippedIndexOf = (window: number): number => ((window % 1_000_003) * 7919) % every;
  return {
    has: (slot: Slot): boolean => slot % every === skippedIndexOf(Math.floor(slot / every)),
    countBefore(slot: Slot): number {
      const window = Math.floor(slot / every);
      return window + (slot % every > skippedIndexOf(window) ? 1 : 0);
    },
  };
}

/** Number of blocks by which confirmation lags: one, sometimes two. */
const confirmationDepth = (slot: Slot): number => (slot % 3 === 0 ? 2 : 1);

function digest(...parts: readonly string[]): string {
  return bs58.encode(createHash('sha256').update(parts.join(' ')).digest());
}
