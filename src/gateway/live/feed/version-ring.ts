import type { Slot } from '../../../shared/domain/slot.ts';
import { LeastRead } from '../../../shared/runtime/least-read.ts';
import { type Coverage, History, type RingMember, type Version } from './history.ts';
import { bytesOfAccount, type KeptAccount, type KeptText } from './kept-account.ts';

export interface RingSettings {
  /** Most bytes of all versions. */
  readonly bytes: number;
  /** Slots for which past versions are kept. */
  readonly slots: number;
}

/** About the bytes of a version beside its data, and of a history beside its versions. */
const [VERSION_BYTES, HISTORY_BYTES] = [100, 300];

/** How often all accounts are looked at while a version is kept. */
const SWEEPS = 32;

/** The part of the bytes from which on the ring is nearly full. */
const NEARLY_FULL = 0.9;

/** A version that a newer one has replaced, which may be dropped once that one is final and old. */
interface Replaced<V> {
  readonly history: History<V>;
  readonly version: Version<V>;
  readonly by: Slot;
}

/**
 * Past and present versions of the accounts that are kept live, bounded in bytes. The newest version of an account at or
 * below the finalized slot is not dropped: it is what the account was when that slot ended. Where those alone are too many
 * bytes, the least read accounts leave.
 */
export class VersionRing<V = KeptAccount> {
  readonly #settings: RingSettings;
  readonly #lengthOf: (value: V) => number;
  readonly #leastRead: LeastRead<History<V>>;
  readonly #histories = new Map<string, History<V>>();
  /** Oldest first, from {@link #dropped} on. */
  #replaced: Replaced<V>[] = [];
  #dropped = 0;
  #bytes = 0;
  #finalizedSlot: Slot = -1;
  /** What a node's parser made of values that it parses. */
  readonly #texts = new WeakMap<object, KeptText>();
  /** The highest priority of an account that had to leave. */
  #evictedPriority = Number.NEGATIVE_INFINITY;
  /** Where the search for histories that have ended goes on. */
  #swept: Iterator<History<V>> | undefined;

  /** `lengthOf` returns about the bytes of a value. */
  constructor(settings: RingSettings, lengthOf: (value: V) => number) {
    this.#lengthOf = lengthOf;
    this.#settings = settings;
    this.#leastRead = new LeastRead({
      all: () => this.#histories.values(),
      has: (history) => this.#histories.get(history.address) === history,
      rankOf: ({ member }) => member.priority,
    });
  }

  get bytes(): number {
    return this.#bytes;
  }

  get size(): number {
    return this.#histories.size;
  }

  /** The newest finalized slot; -1 before the first. */
  get finalizedSlot(): Slot {
    return this.#finalizedSlot;
  }

  /** Returns the history of an account; undefined for one that is not kept. */
  get(address: string): History<V> | undefined {
    return this.#histories.get(address);
  }

  /** True from where on an account is refused that is read less than one that had to leave. */
  get isNearlyFull(): boolean {
    return this.#bytes >= this.#settings.bytes * NEARLY_FULL;
  }

  accepts(priority: number): boolean {
    if (!this.isNearlyFull || priority > this.#evictedPriority) return true;
    const least = this.#leastRead.find(); // a subscription may have ended since an account with one had to leave
    return least !== undefined && priority > least.member.priority;
  }

  /** Starts a history with what the account is at a slot. What was known before stays. */
  start<W extends V>(member: RingMember, coverage: Coverage, first: Version<W>): History<V, W> {
    const history = new History<V, W>(member, coverage, first);
    const known = this.#histories.get(member.address);
    if (known !== undefined) {
      history.previous = known;
      this.#queue(known, known.newest, first.slot);
    }
    this.#histories.set(member.address, history);
    this.#leastRead.add(history);
    this.#bytes += HISTORY_BYTES + this.#bytesOf(first);
    this.#makeRoom();
    return history;
  }

  /** Adds a newer version. `end`: the last slot at which the one before is known to hold. Default: the slot before. */
  add<W extends V>(history: History<V, W>, version: Version<W>, end = version.slot - 1): void {
    const replaced = history.newest;
    history.push(version, end);
    if (!history.isKept) return; // it had to leave
    this.#bytes += this.#bytesOf(version);
    this.#queue(history, replaced, version.slot);
  }

  /** Returns a value as a node's parser shows it; undefined where that was not read. */
  textOf(value: V): KeptText | undefined {
    return typeof value === 'object' && value !== null ? this.#texts.get(value) : undefined;
  }

  /** Keeps a value as a node's parser shows it. */
  setText(history: History<V>, value: V & object, text: KeptText): void {
    if (history.isKept) this.#bytes += bytesOfAccount(text) - bytesOfAccount(this.textOf(value) ?? null);
    this.#texts.set(value, text);
  }

  /** Drops what is too old once `finalizedSlot` is final and `slot` was applied, and what exceeds the bytes. */
  advance(slot: Slot, finalizedSlot: Slot): void {
    this.#finalizedSlot = Math.max(this.#finalizedSlot, finalizedSlot);
    const oldest = slot - this.#settings.slots;
    this.#dropReplaced(oldest);
    this.#sweep(oldest);
    this.#makeRoom();
  }

  /** Drops what only sources know that have ended, since one of them has lied. */
  dropUnagreed(): void {
    for (const history of this.#histories.values()) {
      const isUnknown = !history.isOpen || history.coverage.isDenied;
      if (isUnknown || history.previous?.isOpen === true)
        this.#remove(history); // its members begin again
      else this.#forgetBefore(history, Number.POSITIVE_INFINITY);
    }
  }

  #queue(history: History<V>, version: Version<V>, by: Slot): void {
    this.#replaced.push({ history, version, by });
  }

  /** Drops versions up to a slot, and those that exceed the bytes. */
  #dropReplaced(oldest: Slot): void {
    for (let next = this.#replaced[this.#dropped]; next !== undefined; next = this.#replaced[this.#dropped]) {
      const isExcess = this.#bytes > this.#settings.bytes;
      if (!this.#isFinal(next) || (next.by > oldest && !isExcess)) break;
      this.#drop(next);
      this.#dropped++;
    }
    if (this.#dropped > 1024 && this.#dropped * 2 > this.#replaced.length) {
      this.#replaced = this.#replaced.slice(this.#dropped);
      this.#dropped = 0;
    }
  }

  /** Whether the version that replaced another is final, so that no reader at finalized needs the other. */
  #isFinal({ history, by }: Replaced<V>): boolean {
    return by <= Math.min(this.#finalizedSlot, history.coverage.finalizedSlot ?? this.#finalizedSlot);
  }

  #drop({ history, version }: Replaced<V>): void {
    if (history.oldest.slot !== version.slot || !history.isKept) return;
    if (history.dropOldest()) this.#bytes -= this.#bytesOf(version);
    else this.#unlink(history);
  }

  /** Removes a history that another has replaced. */
  #unlink(history: History<V>): void {
    let newer = this.#histories.get(history.address);
    while (newer !== undefined && newer.previous !== history) newer = newer.previous;
    if (newer === undefined) return;
    newer.previous = history.previous;
    this.#forget(history);
  }

  /** Removes accounts that no source covers any more, a part of them each time. */
  #sweep(oldest: Slot): void {
    const { slots } = this.#settings;
    for (let left = Math.ceil(this.size / Math.max(1, slots / SWEEPS)); left > 0; left--) {
      this.#swept ??= this.#histories.values();
      const { value: history, done = false } = this.#swept.next();
      if (done) this.#swept = undefined;
      else if (Math.max(history.coverage.slot, history.newest.slot) < oldest)
        this.#remove(history); // a new source covers nothing yet
      else this.#forgetBefore(history, oldest);
    }
  }

  /** Removes what other sources knew of an account up to a slot. */
  #forgetBefore(newest: History<V>, oldest: Slot): void {
    for (let history = newest; history.previous !== undefined; ) {
      const { previous } = history;
      if (previous.coverage.slot >= oldest) history = previous;
      else {
        history.previous = previous.previous;
        this.#forget(previous);
      }
    }
  }

  /** Lets the least read accounts leave where all else that may be dropped is. */
  #makeRoom(): void {
    if (this.#bytes <= this.#settings.bytes) return;
    this.#dropReplaced(-1);
    while (this.#bytes > this.#settings.bytes) {
      const history = this.#leastRead.find();
      if (history === undefined) return;
      this.#evictedPriority = Math.max(this.#evictedPriority, history.member.priority);
      this.#remove(history);
    }
  }

  #remove(newest: History<V>): void {
    this.#histories.delete(newest.address);
    for (let history: History<V> | undefined = newest; history !== undefined; history = history.previous) {
      this.#forget(history);
      const { coverage, address } = history;
      if (coverage.onEvicted !== undefined) queueMicrotask(() => coverage.onEvicted?.(address)); // it may be in the midst of its block
    }
  }

  #forget(history: History<V>): void {
    history.isKept = false;
    this.#bytes -= HISTORY_BYTES + history.versions.reduce((sum, version) => sum + this.#bytesOf(version), 0);
  }

  #bytesOf({ value }: Version<V>): number {
    return VERSION_BYTES + this.#lengthOf(value) + bytesOfAccount(this.textOf(value) ?? null);
  }
}
