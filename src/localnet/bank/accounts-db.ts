import { compare } from '../../shared/domain/compare.ts';
import type { Slot } from '../../shared/domain/slot.ts';
import { AccountIndex, indexKeyOf, type Memcmp, matchesMemcmp } from './account-index.ts';
import { AccountVersions } from './account-versions.ts';
import type { Svm } from './svm.ts';
import { type Account, isSameAccount } from './svm-account.ts';

/** Owner of the sysvars, which LiteSVM itself writes when a bank opens. */
const SYSVAR_OWNER = 'Sysvar1111111111111111111111111111111111111';

/**
 * Accounts at each slot that a commitment may read. LiteSVM has the newest state, in its own memory, from where a read
 * copies it; here each state is stored once, so that only what ran in LiteSVM is read from there. Every change of an
 * account goes through this class.
 */
export class AccountsDb {
  readonly #svm: Svm;
  /** Newest states of the accounts that were read or written. */
  readonly #newest = new Map<string, Account>();
  readonly #versions = new AccountVersions();
  readonly #index = new AccountIndex();
  /** Programs whose accounts have all been read from LiteSVM, each with one account at least. */
  readonly #readPrograms = new Set<string>();

  constructor(svm: Svm) {
    this.#svm = svm;
  }

  newest(address: string): Account | undefined {
    const known = this.#newest.get(address);
    if (known !== undefined) return known;
    const found = this.#svm.account(address);
    this.#setNewest(address, found);
    return found;
  }

  /** Returns the account at the end of a slot: any slot from the root to the newest. */
  at(address: string, slot: Slot): Account | undefined {
    const version = this.#versions.at(address, slot);
    return version === undefined ? this.newest(address) : version.account;
  }

  /** Returns the lamports at the end of a slot, of the accounts that were read or written. */
  lamportsAt(slot: Slot): bigint {
    return this.#balancesAt(slot).reduce((sum, [, lamports]) => sum + lamports, 0n);
  }

  /** Returns those of these accounts with the most lamports at the end of a slot, the richest first. */
  largestAt(slot: Slot, count: number): [address: string, lamports: bigint][] {
    return this.#balancesAt(slot)
      .sort(([, a], [, b]) => compare(b, a))
      .slice(0, count);
  }

  #balancesAt(slot: Slot): [address: string, lamports: bigint][] {
    return [...this.#newest.keys()].map((address) => [address, this.at(address, slot)?.lamports ?? 0n]);
  }

  /** Returns the accounts of a program that match all filters at the end of a slot, sorted by address. */
  programAccounts(program: string, slot: Slot, filters: readonly Memcmp[]): [address: string, account: Account][] {
    this.#readProgram(program);
    const found: [address: string, account: Account][] = [];
    for (const address of this.#index.addresses(indexKeyOf(program, filters))) {
      const account = this.at(address, slot);
      if (account?.owner !== program) continue;
      if (filters.every((filter) => matchesMemcmp(account.data, filter))) found.push([address, account]);
    }
    return found.sort(([a], [b]) => (a < b ? -1 : 1));
  }

  /**
   * Records what LiteSVM did to an account in a slot; `before` is the state that was read before it ran. Returns the
   * state, the same object if it has not changed.
   */
  reload(address: string, slot: Slot, before: Account | undefined): Account | undefined {
    const after = this.#svm.account(address);
    if (isSameAccount(before, after)) return before;
    this.#record(address, slot, before, after);
    return after;
  }

  set(address: string, slot: Slot, account: Account | undefined): void {
    const before = this.newest(address);
    this.#svm.setAccount(address, account);
    this.#record(address, slot, before, account !== undefined && account.lamports > 0n ? account : undefined);
  }

  /** Drops what the slots after `slot` wrote; returns the addresses of the accounts that are as before again. */
  rollBack(slot: Slot): Iterable<string> {
    const restored = this.#versions.rollBack(slot);
    for (const [address, account] of restored) {
      if (account?.owner !== SYSVAR_OWNER) this.#svm.setAccount(address, account);
      this.#setNewest(address, account);
      this.#reindex(address);
    }
    return restored.keys();
  }

  prune(root: Slot): void {
    for (const address of this.#versions.prune(root)) this.#reindex(address);
  }

  #record(address: string, slot: Slot, before: Account | undefined, after: Account | undefined): void {
    this.#versions.record(address, slot, before, after);
    this.#setNewest(address, after);
  }

  #setNewest(address: string, account: Account | undefined): void {
    if (account === undefined) this.#newest.delete(address);
    else {
      this.#newest.set(address, account);
      this.#index.add(address, account);
    }
  }

  #reindex(address: string): void {
    const states = [...this.#versions.statesOf(address), this.#newest.get(address)];
    this.#index.replace(
      address,
      states.filter((state) => state !== undefined),
    );
  }

  /** Reads the accounts that LiteSVM has from its start. Those of a program without accounts take no time to look for. */
  #readProgram(program: string): void {
    if (this.#readPrograms.has(program)) return;
    const addresses = this.#svm.programAddresses(program);
    for (const address of addresses) this.newest(address);
    if (addresses.length > 0) this.#readPrograms.add(program);
  }
}
