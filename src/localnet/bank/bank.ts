import { createHash } from 'node:crypto';
import bs58 from 'bs58';
import type { Slot } from '../../domain/slot.ts';
import { LOOKUP_TABLE_PROGRAM } from '../../domain/well-known-addresses.ts';
import { type Account, sameAccount } from './account.ts';
import type { AccountVersions } from './account-versions.ts';
import type { Block, Landed } from './block.ts';
import type { Svm } from './svm.ts';
import { tokenBalances } from './token-balance.ts';
import { TransactionRefused } from './transaction-error.ts';
import { isStaticWritable, type Message, type WireTransaction } from './wire-transaction.ts';

/** What a block stands on. */
export type Parent = Pick<Block, 'slot' | 'hash' | 'height' | 'transactionCount'>;

interface BankPlace {
  readonly slot: Slot;
  readonly parent: Parent;
  /** Unix seconds. */
  readonly time: number;
}

const MAX_TRANSACTIONS = 4096;

/** A block in the making: runs transactions and writes down what each one did. */
export class Bank {
  readonly slot: Slot;
  readonly parent: Parent;
  readonly time: number;
  readonly #svm: Svm;
  readonly #versions: AccountVersions;
  readonly #landed = new Map<string, Landed>();
  readonly #changed = new Set<string>();

  constructor(svm: Svm, versions: AccountVersions, { slot, parent, time }: BankPlace) {
    this.#svm = svm;
    this.#versions = versions;
    this.slot = slot;
    this.parent = parent;
    this.time = time;
  }

  transaction(signature: string): Landed | undefined {
    return this.#landed.get(signature);
  }

  /** Runs a transaction. Throws {@link TransactionRefused} when it doesn't get as far as paying its fee. */
  run(transaction: WireTransaction): Landed {
    if (this.#landed.size >= MAX_TRANSACTIONS) throw new TransactionRefused('WouldExceedMaxBlockCostLimit');
    const { message, signatures } = transaction;
    const loaded = this.#load(message);
    const keys = [...message.staticKeys, ...loaded.writable, ...loaded.readonly];
    const writable = keys.map((_, index) => isWritable(message, loaded.writable.length, index));
    const before = keys.map((key) => this.#svm.account(key));
    const execution = this.#svm.run(transaction.bytes);
    const after = keys.map((key, index) => (writable[index] ? this.#svm.account(key) : before[index]));
    const preBalances = before.map(balance);
    const postBalances = after.map(balance);
    // A transaction creates no lamports and destroys only its fee.
    const fee = sum(preBalances) - sum(postBalances);
    if (execution.error !== null && fee === 0n) throw new TransactionRefused(execution.error, execution.logs);
    keys.forEach((key, index) => {
      if (!sameAccount(before[index], after[index])) this.#record(key, before[index], after[index]);
    });
    const mintOf = (mint: string): Account | undefined => {
      const index = keys.indexOf(mint);
      return index < 0 ? this.#svm.account(mint) : (before[index] ?? after[index]);
    };
    const landed: Landed = {
      slot: this.slot,
      index: this.#landed.size,
      time: this.time,
      signature: signatures[0] ?? '',
      transaction,
      keys,
      writable,
      loaded,
      fee,
      preBalances,
      postBalances,
      preTokenBalances: tokenBalances(before, mintOf),
      postTokenBalances: tokenBalances(after, mintOf),
      ...execution,
    };
    this.#landed.set(landed.signature, landed);
    return landed;
  }

  /** Writes an account past all rules. */
  put(address: string, account: Account): void {
    this.change([address], () => this.#svm.put(address, account));
  }

  /** Records what `work` does to accounts of the machine. */
  change(addresses: readonly string[], work: () => void): void {
    const before = addresses.map((address) => this.#svm.account(address));
    work();
    addresses.forEach((address, index) => {
      this.#record(address, before[index], this.#svm.account(address));
    });
  }

  /** Makes the block. */
  freeze(): Block {
    const transactions = [...this.#landed.values()];
    const { parent } = this;
    const hash = createHash('sha256').update(`${parent.hash} ${this.slot}`);
    for (const { signature } of transactions) hash.update(signature);
    return {
      slot: this.slot,
      parentSlot: parent.slot,
      hash: bs58.encode(hash.digest()),
      parentHash: parent.hash,
      height: parent.height + 1,
      time: this.time,
      transactions,
      transactionCount: parent.transactionCount + transactions.length,
      changed: this.#changed,
    };
  }

  #record(address: string, before: Account | undefined, after: Account | undefined): void {
    this.#versions.record(address, this.slot, before, after);
    this.#changed.add(address);
  }

  /** The addresses that a message takes from lookup tables, as they stand now. */
  #load({ lookups }: Message): Landed['loaded'] {
    const tables = lookups.map((lookup) => {
      const table = this.#svm.account(lookup.table);
      if (table === undefined) throw new TransactionRefused('AddressLookupTableNotFound');
      if (table.owner !== LOOKUP_TABLE_PROGRAM) throw new TransactionRefused('InvalidAddressLookupTableOwner');
      const pick = (index: number): string => {
        const start = TABLE_HEADER + index * 32;
        if (start + 32 > table.data.length) throw new TransactionRefused('InvalidAddressLookupTableIndex');
        return bs58.encode(table.data.subarray(start, start + 32));
      };
      return { writable: lookup.writable.map(pick), readonly: lookup.readonly.map(pick) };
    });
    return {
      writable: tables.flatMap(({ writable }) => writable),
      readonly: tables.flatMap(({ readonly }) => readonly),
    };
  }
}

/** Bytes of a lookup table before its addresses. */
const TABLE_HEADER = 56;

/** As the runtime sees it: nobody writes to sysvars, nor to a program that the message runs. */
function isWritable(message: Message, loadedWritable: number, index: number): boolean {
  const { staticKeys, instructions } = message;
  if (index >= staticKeys.length) return index < staticKeys.length + loadedWritable;
  if (!isStaticWritable(message, index) || staticKeys[index]?.startsWith('Sysvar')) return false;
  return !instructions.some(({ programIndex }) => programIndex === index);
}

const balance = (account: Account | undefined): bigint => account?.lamports ?? 0n;
const sum = (amounts: readonly bigint[]): bigint => amounts.reduce((total, amount) => total + amount, 0n);
