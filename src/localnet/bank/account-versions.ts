import type { Slot } from '../../shared/domain/slot.ts';
import type { Account } from './svm-account.ts';

interface Version {
  readonly slot: Slot;
  /** `undefined` where the account did not exist. */
  readonly account: Account | undefined;
}

/** Stands before any slot: the state that an account had when its first change was recorded. */
const BEFORE_FIRST_CHANGE: Slot = -1;

/** Only accounts that changed since the root are here, so the size follows the recent traffic. */
export class AccountVersions {
  readonly #changes = new Map<string, Version[]>();

  /** Records the state of an account after `slot`, and its state before if this is its first change since the root. */
  record(address: string, slot: Slot, before: Account | undefined, after: Account | undefined): void {
    const versions = this.#changes.get(address);
    if (versions === undefined) {
      this.#changes.set(address, [
        { slot: BEFORE_FIRST_CHANGE, account: before },
        { slot, account: after },
      ]);
      return;
    }
    if (versions.at(-1)?.slot === slot) versions.pop();
    versions.push({ slot, account: after });
  }

  /** Returns the version at the end of `slot`, or undefined if the account has not changed since the root. */
  at(address: string, slot: Slot): { readonly account: Account | undefined } | undefined {
    return this.#changes.get(address)?.findLast((version) => version.slot <= slot);
  }

  statesOf(address: string): (Account | undefined)[] {
    return (this.#changes.get(address) ?? []).map(({ account }) => account);
  }

  /** Drops what the slots after `slot` wrote; returns the states to restore, by address. */
  rollBack(slot: Slot): Map<string, Account | undefined> {
    const restored = new Map<string, Account | undefined>();
    for (const [address, versions] of this.#changes) {
      const kept = versions.filter((version) => version.slot <= slot);
      if (kept.length === versions.length) continue;
      restored.set(address, kept.at(-1)?.account);
      this.#changes.set(address, kept);
    }
    return restored;
  }

  /** Drops the versions that no read can reach once `root` is final; returns the addresses that they were of. */
  prune(root: Slot): string[] {
    const pruned: string[] = [];
    for (const [address, versions] of this.#changes) {
      const oldest = versions.findLastIndex((version) => version.slot <= root);
      if (oldest === versions.length - 1) this.#changes.delete(address);
      else if (oldest > 0) versions.splice(0, oldest);
      else continue;
      pruned.push(address);
    }
    return pruned;
  }
}
