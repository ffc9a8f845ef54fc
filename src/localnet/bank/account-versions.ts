import type { Slot } from '../../domain/slot.ts';
import type { Account } from './svm-account.ts';

interface Version {
  /** The slot whose bank wrote it. */
  readonly slot: Slot;
  /** `undefined` where the account did not exist. */
  readonly account: Account | undefined;
}

/** Before any slot: the state that an account had when its first change was recorded. */
const BEFORE_FIRST_CHANGE: Slot = -1;

/**
 * What accounts looked like at each slot that a commitment may still ask for. The newest state lives in the machine;
 * here are only the accounts that changed since the root, so that it stays as small as the recent traffic.
 */
export class AccountVersions {
  readonly #changes = new Map<string, Version[]>();

  /** Keeps what `slot` made of an account, and what it was before if this is its first change since the root. */
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

  /** The version at the end of `slot`, or nothing recorded: then the account has not changed since the root. */
  at(address: string, slot: Slot): { readonly account: Account | undefined } | undefined {
    return this.#changes.get(address)?.findLast((version) => version.slot <= slot);
  }

  /** The addresses with a recorded change. */
  changedAddresses(): Iterable<string> {
    return this.#changes.keys();
  }

  /** Forgets what every slot after `slot` wrote; returns what has to be put back in the machine, by address. */
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

  /** Forgets what no read can ask for once `root` is final. */
  prune(root: Slot): void {
    for (const [address, versions] of this.#changes) {
      const oldest = versions.findLastIndex((version) => version.slot <= root);
      if (oldest === versions.length - 1) this.#changes.delete(address);
      else if (oldest > 0) versions.splice(0, oldest);
    }
  }
}
