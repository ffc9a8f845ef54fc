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
import type { AccountsDb } from './accounts-db.ts';
import type { Block, LandedTransaction } from './produced-block.ts';
import type { BankSysvars, Svm } from './svm.ts';
import type { Account } from './svm-account.ts';
import { TransactionRefused } from './svm-transaction-error.ts';
import { tokenBalancesOf } from './token-state.ts';
import { isStaticWritable, type TransactionMessage, type WireTransaction } from './wire-transaction.ts';

/** Members of a block that its child needs. */
export type ParentBlock = Pick<Block, 'slot' | 'hash' | 'height' | 'transactionCount'>;

interface BankPosition {
  readonly slot: Slot;
  readonly parent: ParentBlock;
  /** Unix seconds. */
  readonly blockTime: number;
}

const MAX_TRANSACTIONS = 4096;
const BANK_SYSVARS = [CLOCK_SYSVAR, SLOT_HASHES_SYSVAR, RECENT_BLOCKHASHES_SYSVAR] as const;

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
    const { message, signatures } = transaction;
    const loadedAddresses = this.#loadAddresses(message);
    const accountKeys = [...message.staticKeys, ...loadedAddresses.writable, ...loadedAddresses.readonly];
    const writable = accountKeys.map((_, index) => isWritableAccount(message, loadedAddresses.writable.length, index));
    const before = accountKeys.map((key) => this.#accounts.newest(key));
    const execution = this.#svm.run(transaction.bytes);
    const after = accountKeys.map((key, index) => (writable[index] ? this.#reload(key, before[index]) : before[index]));
    const preBalances = before.map(lamportsOf);
    const postBalances = after.map(lamportsOf);
    // A transaction creates no lamports and destroys only its fee.
    const fee = sum(preBalances) - sum(postBalances);
    if (execution.error !== null && fee === 0n) throw new TransactionRefused(execution.error, execution.logs);
    const mintOf = (mint: string): Account | undefined => {
      const index = accountKeys.indexOf(mint);
      return index < 0 ? this.#accounts.newest(mint) : (before[index] ?? after[index]);
    };
    const landed: LandedTransaction = {
      slot: this.slot,
      index: this.#transactions.size,
      blockTime: this.blockTime,
      signature: signatures[0] ?? '',
      transaction,
      accountKeys,
      writable,
      loadedAddresses,
      fee,
      preBalances,
      postBalances,
      preTokenBalances: tokenBalancesOf(before, mintOf),
      postTokenBalances: tokenBalancesOf(after, mintOf),
      ...execution,
    };
    this.#transactions.set(landed.signature, landed);
    return landed;
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
  #loadAddresses({ addressTableLookups }: TransactionMessage): LandedTransaction['loadedAddresses'] {
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
function isWritableAccount(message: TransactionMessage, loadedWritableCount: number, index: number): boolean {
  const { staticKeys, instructions } = message;
  if (index >= staticKeys.length) return index < staticKeys.length + loadedWritableCount;
  if (!isStaticWritable(message, index) || staticKeys[index]?.startsWith('Sysvar')) return false;
  return !instructions.some(({ programIndex }) => programIndex === index);
}

const lamportsOf = (account: Account | undefined): bigint => account?.lamports ?? 0n;
const sum = (amounts: readonly bigint[]): bigint => amounts.reduce((total, amount) => total + amount, 0n);
