import type { Slot } from '../../../shared/domain/slot.ts';
import type { FeedAccount, FeedVersion } from './feed-account.ts';

/** The accounts of a stream that are not known yet, from their filter to their read (G4). */
export class Arming {
  /** Accounts that no block was tagged for yet. */
  readonly #adding = new Set<FeedAccount>();
  /** Accounts that are to be read, in the order in which they may be. */
  readonly #toRead = new Set<FeedAccount>();
  /** Accounts that were read at a slot which is not applied yet. */
  readonly #awaitingSlot = new Set<FeedAccount>();

  get size(): number {
    return this.#adding.size + this.#toRead.size + this.#awaitingSlot.size;
  }

  get hasReads(): boolean {
    return this.#toRead.size > 0;
  }

  add(account: FeedAccount): void {
    this.#adding.add(account);
  }

  delete(account: FeedAccount): void {
    for (const set of [this.#adding, this.#toRead, this.#awaitingSlot]) set.delete(account);
  }

  /** Records that a version of the filter is in force, for whose accounts the stream is complete from `since` on. */
  onFilterInForce(version: number, since: Slot): void {
    for (const account of this.#adding) {
      if (account.filterVersion > version) continue;
      this.#adding.delete(account);
      account.since = since;
      this.#toRead.add(account);
    }
  }

  /** Returns accounts whose read is due: at most `count`. */
  takeReads(count: number): readonly FeedAccount[] {
    const batch: FeedAccount[] = [];
    for (const account of this.#toRead) {
      if (batch.length === count) break;
      batch.push(account);
    }
    for (const account of batch) this.#toRead.delete(account);
    return batch;
  }

  readAgain(account: FeedAccount): void {
    this.#toRead.add(account);
  }

  onRead(account: FeedAccount, read: FeedVersion): void {
    account.read = read;
    this.#awaitingSlot.add(account);
  }

  /** Has an account read again, which is complete from another block on. */
  restart(account: FeedAccount, since: Slot): void {
    account.takeWrites();
    this.#awaitingSlot.delete(account);
    if (this.#adding.has(account)) return;
    account.since = since;
    this.#toRead.add(account);
  }

  /** Returns the accounts that can be armed once a slot is applied, and what was read of each. */
  *due(slot: Slot): Iterable<readonly [FeedAccount, FeedVersion]> {
    for (const account of this.#awaitingSlot) {
      const { read } = account;
      if (read === undefined || read.slot > slot) continue;
      this.#awaitingSlot.delete(account);
      yield [account, read];
    }
  }
}
