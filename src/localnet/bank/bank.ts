import { createHash } from 'node:crypto';
import bs58 from 'bs58';
import type { Slot } from '../../shared/domain/slot.ts';
import {
  CLOCK_SYSVAR,
  LOOKUP_TABLE_PROGRAM,
  RECENT_BLOCKHASHES_SYSVAR,
  SLOT_HASHES_SYSVAR,
} from '../../shared/domain/well-known-addresses.ts';
import { ownText } from '../../shared/runtime/own-text.ts';
import type { VersionedMessage } from '../../transactions/index.ts';
import type { AccountsDb } from './accounts-db.ts';
import type { Block, LandedTransaction } from './produced-block.ts';
import type { BankSysvars, ExecutionResult, Svm } from './svm.ts';
import type { Account } from './svm-account.ts';
import { TransactionRefused } from './svm-transaction-error.ts';
import { tokenBalancesOf } from './token-state.ts';
import { feeOf, isCharged } from './transaction-fee.ts';
import { isStaticWritable, type WireTransaction } from './wire-transaction.ts';

/** Members of a block that its child needs. */
export type ParentBlock = Pick<Block, 'slot' | 'hash' | 'height' | 'transactionCount'>;

interface BankPosition {
  readonly slot: Slot;
  readonly parent: ParentBlock;
  /** Unix seconds. */
  readonly blockTime: number;
}

/** A transaction as it would land; one that would not even be charged has a `fee` of 0. */
export interface SimulatedTransaction extends LandedTransaction {
  /** The accounts afterwards, by account key. */
  readonly after: readonly (Account | undefined)[];
}

/** The accounts that a transaction names. */
interface LoadedAccounts extends Pick<LandedTransaction, 'accountKeys' | 'writable' | 'loadedAddresses'> {
  readonly before: readonly (Account | undefined)[];
}

const MAX_TRANSACTIONS = 4096;
const BANK_SYSVARS = [CLOCK_SYSVAR, RECENT_BLOCKHASHES_SYSVAR] as const;
const MAX_SLOT_HASHES = 512;
/** A slot as u64 and a hash. */
const SLOT_HASH_BYTES = 8 + 32;

/** State of one slot while its block is made: runs transactions and records their effects. */
export class Bank {
  readonly slot: Slot;
  readonly parent: ParentBlock;
  readonly blockTime: number;
  readonly #svm: Svm;
  readonly #accounts: AccountsDb;
  readonly #transactions = new Map<string, LandedTransaction>();
  readonly #changedAccounts = new Set<string>();

  constructor(svm: Svm, accounts: AccountsDb, { slot, parent, blockTime }: BankPosition) {
    this.#svm = svm;
    this.#accounts = accounts;
    this.slot = slot;
    this.parent = parent;
    this.blockTime = blockTime;
  }

  transaction(signature: string): LandedTransaction | undefined {
    return this.#transactions.get(signature);
  }

  /** Runs a transaction. Throws {@link TransactionRefused} for one that doesn't get as far as paying its fee. */
  run(transaction: WireTransaction): LandedTransaction {
    if (this.#transactions.size >= MAX_TRANSACTIONS) throw new TransactionRefused('WouldExceedMaxBlockCostLimit');
    const loaded = this.#load(transaction.message);
    const { accountKeys, writable, before } = loaded;
    const execution = this.#svm.run(transaction.bytes);
    const after = accountKeys.map((key, index) => (writable[index] ? this.#reload(key, before[index]) : before[index]));
    const landed = this.#describe(transaction, loaded, execution, after);
    if (landed.error !== null && landed.fee === 0n) throw new TransactionRefused(landed.error, landed.logs);
    this.#transactions.set(landed.signature, landed);
    return landed;
  }

  /** Runs a transaction without effects. Throws {@link TransactionRefused} for invalid signatures if `verifiesSignatures`. */
  simulate(transaction: WireTransaction, verifiesSignatures: boolean): SimulatedTransaction {
    const { message } = transaction;
    const loaded = this.#load(message);
    const { execution, accounts } = this.#svm.simulate(transaction.bytes, verifiesSignatures);
    const { error } = execution;
    if (error === 'SignatureFailure') throw new TransactionRefused(error);
    const after = loaded.accountKeys.map((key, index) =>
      accounts.has(key) ? accounts.get(key) : loaded.before[index],
    );
    const [payer] = after;
    if (error !== null && payer !== undefined && isCharged(error, message))
      after[0] = { ...payer, lamports: payer.lamports - feeOf(message) };
    return { ...this.#describe(transaction, loaded, execution, after), after };
  }

  #load(message: VersionedMessage): LoadedAccounts {
    const loadedAddresses = this.#loadAddresses(message);
    const accountKeys = [...message.accountKeys, ...loadedAddresses.writable, ...loadedAddresses.readonly];
    return {
      loadedAddresses,
      accountKeys,
      writable: accountKeys.map((_, index) => isWritableAccount(message, loadedAddresses.writable.length, index)),
      before: accountKeys.map((key) => this.#accounts.newest(key)),
    };
  }

  #describe(
    transaction: WireTransaction,
    { before, ...loaded }: LoadedAccounts,
    execution: ExecutionResult,
    after: readonly (Account | undefined)[],
  ): LandedTransaction {
    const { accountKeys } = loaded;
    const preBalances = before.map(lamportsOf);
    const postBalances = after.map(lamportsOf);
    const mintOf = (mint: string): Account | undefined => {
      const index = accountKeys.indexOf(mint);
      return index < 0 ? this.#accounts.newest(mint) : (before[index] ?? after[index]);
    };
    return {
      slot: this.slot,
      index: this.#transactions.size,
      blockTime: this.blockTime,
      signature: transaction.signatures[0] ?? '',
      transaction,
      ...loaded,
      fee: sum(preBalances) - sum(postBalances), // a transaction creates no lamports and destroys only its fee
      preBalances,
      postBalances,
      preTokenBalances: tokenBalancesOf(before, mintOf),
      postTokenBalances: tokenBalancesOf(after, mintOf),
      ...execution,
      error: errorOf(execution, transaction.message, before),
    };
  }

  setAccount(address: string, account: Account | undefined): void {
    this.#accounts.set(address, this.slot, account);
    this.#changedAccounts.add(address);
  }

  setSysvars(sysvars: BankSysvars): void {
    const before = BANK_SYSVARS.map((address) => this.#accounts.newest(address));
    this.#svm.openBank(sysvars);
    BANK_SYSVARS.forEach((address, index) => {
      this.#reload(address, before[index]);
    });
    const hashes = this.#accounts.newest(SLOT_HASHES_SYSVAR);
    if (hashes === undefined) throw new Error('LiteSVM keeps no slot hashes');
    this.setAccount(SLOT_HASHES_SYSVAR, { ...hashes, data: addSlotHash(hashes.data, this.parent) });
  }

  /** Makes the block; nothing can be added to it afterwards. */
  freeze(): Block {
    const transactions = [...this.#transactions.values()];
    const { parent } = this;
    const hash = createHash('sha256').update(`${parent.hash} ${this.slot}`);
    for (const { signature } of transactions) hash.update(signature);
    return {
      slot: this.slot,
      parentSlot: parent.slot,
      hash: ownText(bs58.encode(hash.digest())),
      parentHash: parent.hash,
      height: parent.height + 1,
      blockTime: this.blockTime,
      transactions,
      transactionCount: parent.transactionCount + transactions.length,
      changedAccounts: this.#changedAccounts,
    };
  }

  #reload(address: string, before: Account | undefined): Account | undefined {
    const after = this.#accounts.reload(address, this.slot, before);
    if (after !== before) this.#changedAccounts.add(address);
    return after;
  }

  /** Resolves the addresses that a message loads from lookup tables, as the tables are now. */
  #loadAddresses({ addressTableLookups }: VersionedMessage): LandedTransaction['loadedAddresses'] {
    const tables = addressTableLookups.map((lookup) => {
      const table = this.#accounts.newest(lookup.accountKey);
      if (table === undefined) throw new TransactionRefused('AddressLookupTableNotFound');
      if (table.owner !== LOOKUP_TABLE_PROGRAM) throw new TransactionRefused('InvalidAddressLookupTableOwner');
      const addressAt = (index: number): string => {
        const start = LOOKUP_TABLE_HEADER_BYTES + index * 32;
        if (start + 32 > table.data.length) throw new TransactionRefused('InvalidAddressLookupTableIndex');
        return ownText(bs58.encode(table.data.subarray(start, start + 32)));
      };
      return { writable: lookup.writableIndexes.map(addressAt), readonly: lookup.readonlyIndexes.map(addressAt) };
    });
    return {
      writable: tables.flatMap(({ writable }) => writable),
      readonly: tables.flatMap(({ readonly }) => readonly),
    };
  }
}

const LOOKUP_TABLE_HEADER_BYTES = 56;

/** The runtime lets no message write to sysvars, nor to a program that it invokes. */
function isWritableAccount(message: VersionedMessage, loadedWritableCount: number, index: number): boolean {
  const { accountKeys, instructions } = message;
  if (index >= accountKeys.length) return index < accountKeys.length + loadedWritableCount;
  if (!isStaticWritable(message, index) || accountKeys[index]?.startsWith('Sysvar')) return false;
  return !instructions.some(({ programIdIndex }) => programIdIndex === index);
}

/** Returns why a transaction failed: LiteSVM has one error for programs that do not exist and for accounts that are none. */
function errorOf(
  { error }: ExecutionResult,
  { instructions }: VersionedMessage,
  before: LoadedAccounts['before'],
): ExecutionResult['error'] {
  const isMissing = instructions.some(({ programIdIndex }) => before[programIdIndex] === undefined);
  return error === 'InvalidProgramForExecution' && isMissing ? 'ProgramAccountNotFound' : error;
}

const lamportsOf = (account: Account | undefined): bigint => account?.lamports ?? 0n;
const sum = (amounts: readonly bigint[]): bigint => amounts.reduce((total, amount) => total + amount, 0n);

/**
 * Puts a block before the slot hashes of its parent, which are a u64 count and the newest entry first. LiteSVM's own function
 * decodes all of them from base58 again, which was half the CPU of a slot without transactions.
 */
function addSlotHash(hashes: Uint8Array, { slot, hash }: ParentBlock): Uint8Array {
  const kept = hashes.subarray(8, 8 + (MAX_SLOT_HASHES - 1) * SLOT_HASH_BYTES);
  const data = Buffer.alloc(8 + SLOT_HASH_BYTES + kept.length);
  data.writeBigUInt64LE(BigInt(kept.length / SLOT_HASH_BYTES + 1));
  data.writeBigUInt64LE(BigInt(slot), 8);
  data.set(bs58.decode(hash), 16);
  data.set(kept, 8 + SLOT_HASH_BYTES);
  return data;
}
