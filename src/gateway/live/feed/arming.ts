import type { Slot } from '../../../shared/domain/slot.ts';
import { bytesOfWrite } from './block-assembly.ts';
import { type FeedAccount, type FeedVersion, UnarmedAccount } from './feed-account.ts';

/** An account that can be armed: what was read of it, and what was written since. */
export interface DueAccount<A> {
  readonly account: A;
  readonly read: FeedVersion;
  readonly newer: readonly FeedVersion[];
}

/** The accounts of a stream that are not known yet, from their filter to their read (G4). */
export class Arming<A extends FeedAccount> {
  /** Accounts that no block was tagged for yet. */
  readonly #adding = new Set<A>();
  /** Accounts that are to be read, in the order in which they may be. */
  readonly #toRead = new Set<A>();
  /** Accounts that were read at a slot which is not applied yet. */
  readonly #awaitingSlot = new Set<A>();
  readonly #maxBytes: number;
  /** About the bytes of the writes that are kept until accounts are read. */
  #bytes = 0;

  /** `maxBytes`: the most bytes of the writes that are kept until accounts are read. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get size(): number {
    return this.#adding.size + this.#toRead.size + this.#awaitingSlot.size;
  }

  get hasReads(): boolean {
    return this.#toRead.size > 0;
  }

  /** `filterVersion`: the first version of the filter that names the account. */
  add(account: A, filterVersion: number): void {
    account.unarmed = new UnarmedAccount(filterVersion);
    this.#adding.add(account);
  }

  delete(account: A): void {
    for (const set of [this.#adding, this.#toRead, this.#awaitingSlot]) set.delete(account);
    this.#forget(account);
  }

  /** Remembers a write until the account is read; if too much is remembered, the account is read behind the write. */
  keepWrite(account: A, version: FeedVersion): void {
    const { unarmed } = account;
    if (unarmed?.since === undefined || version.slot < unarmed.since) return;
    const bytes = bytesOfWrite(version);
    if (this.#bytes + bytes > this.#maxBytes) {
      this.restart(account, version.slot + 1);
      return;
    }
    unarmed.writes.push(version);
    unarmed.bytes += bytes;
    this.#bytes += bytes;
  }

  /** Records that a version of the filter is in force, for whose accounts the stream is complete from `since` on. */
  onFilterInForce(version: number, since: Slot): void {
    for (const account of this.#adding) {
      const { unarmed } = account;
      if (unarmed === undefined || unarmed.filterVersion > version) continue;
      this.#adding.delete(account);
      unarmed.since = since;
      this.#toRead.add(account);
    }
  }

  /** Returns accounts whose read is due: at most `count`. */
  takeReads(count: number): readonly A[] {
    const batch: A[] = [];
    for (const account of this.#toRead) {
      if (batch.length === count) break;
      batch.push(account);
    }
    for (const account of batch) this.#toRead.delete(account);
    return batch;
  }

  readAgain(account: A): void {
    this.#toRead.add(account);
  }

  onRead(account: A, read: FeedVersion): void {
    if (account.unarmed !== undefined) account.unarmed.read = read;
    this.#awaitingSlot.add(account);
  }

  /** Has an account read again, which is complete from another block on. */
  restart(account: A, since: Slot): void {
    if (this.#adding.has(account)) return; // it has neither writes nor a read
    this.#awaitingSlot.delete(account);
    this.#forget(account);
    account.unarmed = new UnarmedAccount(0, since);
    this.#toRead.add(account);
  }

  /** Returns the accounts that can be armed once a slot is applied; what it keeps of them is forgotten. */
  *due(slot: Slot): Iterable<DueAccount<A>> {
    for (const account of this.#awaitingSlot) {
      const { read, writes = [] } = account.unarmed ?? {};
      if (read === undefined || read.slot > slot) continue;
      this.#awaitingSlot.delete(account);
      this.#forget(account);
      yield { account, read, newer: writes.filter((write) => write.slot > read.slot) };
    }
  }

  #forget(account: A): void {
    this.#bytes -= account.unarmed?.bytes ?? 0;
    account.unarmed = undefined;
  }
}
