import type { Slot } from '../../../shared/domain/slot.ts';
import { bytesOfWrite } from './block-assembly.ts';
import type { FeedAccount, FeedVersion } from './kept-account.ts';

/** An account that can be armed: what was read of it, and what was written since. */
export interface DueAccount<A> {
  readonly account: A;
  readonly read: FeedVersion;
  readonly newer: readonly FeedVersion[];
}

class UnarmedAccount {
  /** The first version of the filter that names it. */
  readonly filterVersion: number;
  /** The first block from which on the stream is complete for it; undefined until its filter is in force. */
  since: Slot | undefined;
  /** A read that waits until its slot is applied. */
  read: FeedVersion | undefined = undefined;
  /** The writes since {@link since}. */
  readonly writes: FeedVersion[] = [];
  /** About the bytes of these. */
  bytes = 0;

  constructor(filterVersion: number, since?: Slot) {
    this.filterVersion = filterVersion;
    this.since = since;
  }
}

/** The accounts of a stream that are not known yet, from their filter to their read (G4). */
export class Arming<A extends FeedAccount> {
  readonly #unarmed = new Map<A, UnarmedAccount>();
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
    return this.#unarmed.size;
  }

  get hasReads(): boolean {
    return this.#toRead.size > 0;
  }

  /** Returns the slot that a read of an account must have reached; undefined while that isn't known, and once it is armed. */
  sinceOf(account: A): Slot | undefined {
    return this.#unarmed.get(account)?.since;
  }

  /** `filterVersion`: the first version of the filter that names the account. */
  add(account: A, filterVersion: number): void {
    this.#unarmed.set(account, new UnarmedAccount(filterVersion));
    this.#adding.add(account);
  }

  delete(account: A): void {
    for (const set of [this.#adding, this.#toRead, this.#awaitingSlot]) set.delete(account);
    this.#forget(account);
  }

  /** Remembers a write until the account is read; if too much is remembered, the account is read behind the write. */
  keepWrite(account: A, version: FeedVersion): void {
    const unarmed = this.#unarmed.get(account);
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
      const unarmed = this.#unarmed.get(account);
      if (unarmed === undefined || unarmed.filterVersion > version) continue;
      this.#adding.delete(account);
      unarmed.since = since;
      this.#toRead.add(account);
    }
  }

  /** Returns accounts whose read is due: at most `count`. */
  dequeueReads(count: number): readonly A[] {
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
    const unarmed = this.#unarmed.get(account);
    if (unarmed !== undefined) unarmed.read = read;
    this.#awaitingSlot.add(account);
  }

  /** Has an account read again, which is complete from another block on. */
  restart(account: A, since: Slot): void {
    if (this.#adding.has(account)) return; // it has neither writes nor a read
    this.#awaitingSlot.delete(account);
    this.#forget(account);
    this.#unarmed.set(account, new UnarmedAccount(0, since));
    this.#toRead.add(account);
  }

  /** Returns the accounts that can be armed once a slot is applied; what it keeps of them is forgotten. */
  *due(slot: Slot): Iterable<DueAccount<A>> {
    for (const account of this.#awaitingSlot) {
      const { read, writes = [] } = this.#unarmed.get(account) ?? {};
      if (read === undefined || read.slot > slot) continue;
      this.#awaitingSlot.delete(account);
      this.#forget(account);
      yield { account, read, newer: writes.filter((write) => write.slot > read.slot) };
    }
  }

  #forget(account: A): void {
    this.#bytes -= this.#unarmed.get(account)?.bytes ?? 0;
    this.#unarmed.delete(account);
  }
}
