import type { Slot } from '../../../shared/domain/slot.ts';
import type { AccountValue } from '../../upstream/geyser/feed-update.ts';

/** What an account was from a slot on, until the next version. */
export interface AccountVersion {
  /** The block that wrote it; for the first version of a history the slot at which it was read. */
  readonly slot: Slot;
  /** Null where there was no account. */
  readonly value: AccountValue | null;
}

/** Up to which slot all versions are known. */
export interface Coverage {
  readonly slot: Slot;
}

export interface RingSettings {
  /** Most bytes of all versions. */
  readonly bytes: number;
  /** Slots for which past versions are kept. */
  readonly slots: number;
}

/** About the bytes of a version beside its data. */
const VERSION_BYTES = 120;

/** The versions of one account, without a gap from the first on up to what the coverage names. */
export class AccountHistory {
  readonly address: string;
  readonly coverage: Coverage;
  /** Oldest first. */
  readonly versions: AccountVersion[] = [];

  constructor(address: string, coverage: Coverage) {
    this.address = address;
    this.coverage = coverage;
  }

  get newest(): AccountVersion | undefined {
    return this.versions.at(-1);
  }

  /** Returns the version at the end of a slot; undefined where that is not kept or not covered. */
  at(slot: Slot): AccountVersion | undefined {
    return slot > this.coverage.slot ? undefined : this.newestUpTo(slot);
  }

  /** Returns the newest version of a slot or of one before. */
  newestUpTo(slot: Slot): AccountVersion | undefined {
    return this.versions.findLast((version) => version.slot <= slot);
  }
}

/** A version that a newer one has replaced, which may be dropped once that one is final and old. */
interface Replaced {
  readonly history: AccountHistory;
  readonly version: AccountVersion;
  readonly by: Slot;
}

/**
 * Past and present versions of the accounts of all feeds, bounded in bytes. The newest version of an account at or below
 * the finalized slot is never dropped: it is what the account was when that slot ended.
 */
export class VersionRing {
  readonly #settings: RingSettings;
  readonly #histories = new Map<string, AccountHistory>();
  /** Oldest first, from {@link #dropped} on. */
  #replaced: Replaced[] = [];
  #dropped = 0;
  #bytes = 0;
  #finalizedSlot: Slot = -1;
  #oldestDropped: Slot = -1;

  constructor(settings: RingSettings) {
    this.#settings = settings;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Number of accounts. */
  get size(): number {
    return this.#histories.size;
  }

  /** True when no further account has room. */
  get isFull(): boolean {
    return this.#bytes >= this.#settings.bytes;
  }

  /** The newest finalized slot of an applied block; -1 before the first. */
  get finalizedSlot(): Slot {
    return this.#finalizedSlot;
  }

  /** The oldest slot at which every account that has been covered since is known. */
  get oldestSlot(): Slot {
    return this.#oldestDropped + 1;
  }

  /** Returns the history of an account; undefined for one that no feed covers. */
  get(address: string): AccountHistory | undefined {
    return this.#histories.get(address);
  }

  /** Starts a history with what the account is at a slot. One that there was ends. */
  start(address: string, coverage: Coverage, first: AccountVersion): AccountHistory {
    this.end(this.#histories.get(address));
    const history = new AccountHistory(address, coverage);
    this.#histories.set(address, history);
    history.versions.push(first);
    this.#bytes += bytesOf(first);
    return history;
  }

  /** Adds a newer version. */
  add(history: AccountHistory, version: AccountVersion): void {
    const replaced = history.newest;
    history.versions.push(version);
    if (this.#histories.get(history.address) !== history) return; // another stream covers the account by now
    this.#bytes += bytesOf(version);
    if (replaced !== undefined) this.#replaced.push({ history, version: replaced, by: version.slot });
  }

  /** Ends a history: the account isn't covered any more. */
  end(history: AccountHistory | undefined): void {
    if (history === undefined || this.#histories.get(history.address) !== history) return;
    this.#histories.delete(history.address);
    for (const version of history.versions) this.#bytes -= bytesOf(version);
  }

  /** Drops versions that are too old once `finalizedSlot` is final and `slot` was applied, and what exceeds the bytes. */
  advance(slot: Slot, finalizedSlot: Slot): void {
    this.#finalizedSlot = Math.max(this.#finalizedSlot, finalizedSlot);
    const { bytes, slots } = this.#settings;
    for (let next = this.#replaced[this.#dropped]; next !== undefined; next = this.#replaced[this.#dropped]) {
      const isOld = next.by <= slot - slots;
      if (next.by > this.#finalizedSlot || (!isOld && this.#bytes <= bytes)) break;
      this.#drop(next);
      this.#dropped++;
    }
    if (this.#dropped > 1024 && this.#dropped * 2 > this.#replaced.length) {
      this.#replaced = this.#replaced.slice(this.#dropped);
      this.#dropped = 0;
    }
  }

  #drop({ history, version, by }: Replaced): void {
    const { versions } = history;
    if (versions[0] !== version || this.#histories.get(history.address) !== history) return; // its history has ended
    versions.shift();
    this.#bytes -= bytesOf(version);
    this.#oldestDropped = Math.max(this.#oldestDropped, by - 1);
  }
}

const bytesOf = ({ value }: AccountVersion): number => VERSION_BYTES + (value?.data.length ?? 0);
