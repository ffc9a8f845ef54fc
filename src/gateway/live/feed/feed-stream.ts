import type { Slot } from '../../../shared/domain/slot.ts';
import type { FeedMode } from '../../upstream/geyser/encode-request.ts';
import { versionOf } from '../../upstream/geyser/encode-request.ts';
import type { AccountWrite, BlockLink, FeedUpdate } from '../../upstream/geyser/feed-update.ts';
import { type AppliedBlock, FEED_RULES, type FeedRules } from './feed-rules.ts';
import type { AccountHistory, AccountVersion, Coverage, VersionRing } from './version-ring.ts';

/** What a stream needs done. None of these answers before it returns. */
export interface FeedPort {
  /** Connects in place of the connection before, and subscribes to all accounts from a slot on; undefined for now. */
  connect(fromSlot: Slot | undefined, version: number): void;
  /** Replaces the filter on the open connection. */
  sendFilter(version: number): void;
  /** Reads accounts at confirmed, at a slot that `since` allows: {@link FeedStream.onRead}. */
  readAccounts(): void;
  /** Reads what a block has written: {@link FeedStream.onBlockRead}. */
  readBlock(slot: Slot): void;
}

export interface FeedStreamOptions {
  readonly mode: FeedMode;
  readonly port: FeedPort;
  readonly ring: VersionRing;
  readonly rules?: FeedRules;
  /** Returns true if no epoch begins in these slots: there the runtime writes without transactions. */
  isOneEpoch(from: Slot, to: Slot): boolean;
  /** Called when a block was applied, behind all that it has written. */
  onApplied(slot: Slot): void;
  /** Called when newer blocks are final, with the accounts that may have changed since. */
  onFinalized(slot: Slot, changed: ReadonlySet<FeedAccount>): void;
  /** Called when what an account is at the applied block has become known, or has changed. */
  onVersion(account: FeedAccount, version: AccountVersion): void;
  /** Called when an account isn't known any more, until it is again. */
  onUnknown(account: FeedAccount): void;
  /** Called when the ring has no room for what an account has become. */
  onNoRoom(account: FeedAccount): void;
  /** Called when nothing that the stream has delivered can be believed. */
  onFalse(reason: string): void;
}

/** A block that was missed, as a node shows it. */
export interface MissedBlock extends BlockLink {
  /** Keys of the accounts that it may have written, as those of {@link AccountWrite}. */
  readonly written: readonly string[];
}

/** An account on a stream. */
export class FeedAccount {
  readonly address: string;
  readonly key: string;
  /** The first version of the filter that names it. */
  readonly filterVersion: number;
  /** The first block from which on the stream is complete for it; undefined until its filter is in force. */
  since: Slot | undefined;
  /** A read that waits until its slot is applied. */
  read: AccountVersion | undefined;
  /** The writes since {@link since}, while it is not armed. */
  writes: AccountVersion[] = [];
  /** What it was and is; undefined while that isn't known. */
  history: AccountHistory | undefined;

  constructor(address: string, key: string, filterVersion: number) {
    this.address = address;
    this.key = key;
    this.filterVersion = filterVersion;
  }

  get isArmed(): boolean {
    return this.history !== undefined;
  }
}

/** Most blocks that wait behind a gap. */
const MAX_AHEAD = 512;
/** Most missing blocks that are read one by one. */
const MAX_MISSED = 64;
/** Applied blocks whose hashes are remembered. */
const MAX_REMEMBERED = 1024;
/** Most writes of an account that isn't armed yet; then it is read again. */
const MAX_UNARMED_WRITES = 256;
/** Most unarmed messages of a block whose meta has not come. */
const MAX_OPEN_BLOCKS = 64;
/** Sysvars are written without transactions. */
const SYSVAR_PREFIX = 'Sysvar';

type ReceivedBlock = BlockLink & { readonly version: number; readonly writes: readonly AccountWrite[] };

/**
 * One stream of a feed: puts its blocks in a row, and dates the accounts on it. It does no I/O and knows no time: its owner
 * calls it with what has happened, and does what {@link FeedPort} says.
 */
export class FeedStream implements Coverage {
  readonly #options: FeedStreamOptions;
  readonly #rules: FeedRules;
  readonly #accounts = new Map<string, FeedAccount>();
  /** Accounts that no block was tagged for yet. */
  readonly #adding = new Set<FeedAccount>();
  /** Accounts that are to be read, in the order in which they may be. */
  readonly #toRead = new Set<FeedAccount>();
  /** Accounts that were read at a slot which is not applied yet. */
  readonly #awaitingSlot = new Set<FeedAccount>();
  /** Versions that are not final yet, oldest first. */
  #unfinalized: { readonly account: FeedAccount; readonly version: AccountVersion }[] = [];
  /** Hashes of applied blocks, oldest first. */
  readonly #hashes = new Map<Slot, string>();
  #oldestHash: Slot = -1;
  #applied: AppliedBlock | undefined;
  #finalized: Slot = -1;
  #finalizedStatus: Slot = -1;
  /** Accounts of blocks whose meta has not come, by slot. */
  #open = new Map<Slot, Map<string, AccountWrite>>();
  /** True until a whole block can have come, where accounts come apart. */
  #isFirstPartial = false;
  /** Blocks that don't follow the applied one. */
  #ahead: ReceivedBlock[] = [];
  /** Blocks between the applied one and those, newest first. */
  #missed: MissedBlock[] = [];
  /** Blocks that were read for a gap, by hash: another loss of the connection does not make them be read again. */
  readonly #blockReads = new Map<string, MissedBlock>();
  /** The applied slot at which the stream was resumed: it is in vain a second time. */
  #resumedAt: Slot = -1;
  #hasReceived = false;
  #filterVersion = 1;
  #isFilterChanged = false;
  #gaps = 0;
  #isEnded = false;

  constructor(options: FeedStreamOptions) {
    this.#options = options;
    this.#rules = options.rules ?? FEED_RULES;
  }

  /** The slot up to which all armed accounts are known; -1 before the first block. */
  get slot(): Slot {
    return this.#applied === undefined ? -1 : this.#rules.claimOf(this.#applied);
  }

  /** The newest finalized slot of an applied block; -1 before the first. */
  get finalizedSlot(): Slot {
    return this.#finalized;
  }

  get size(): number {
    return this.#accounts.size;
  }

  /** The number of accounts that are not armed. */
  get unarmed(): number {
    return this.#adding.size + this.#toRead.size + this.#awaitingSlot.size;
  }

  /** The gaps so far: blocks that did not follow the one before. */
  get gaps(): number {
    return this.#gaps;
  }

  get accounts(): Iterable<FeedAccount> {
    return this.#accounts.values();
  }

  get addresses(): Iterable<string> {
    return [...this.#accounts.values()].map(({ address }) => address);
  }

  /** Connects. Accounts may have been added before. */
  start(): void {
    this.#isFilterChanged = false;
    this.#options.port.connect(undefined, this.#filterVersion);
  }

  /** Adds an account; {@link sendFilter} subscribes to it. */
  add(address: string, key: string): FeedAccount {
    const account = new FeedAccount(address, key, this.#filterVersion + 1);
    this.#accounts.set(key, account);
    this.#adding.add(account);
    this.#isFilterChanged = true;
    return account;
  }

  remove(account: FeedAccount): void {
    if (this.#accounts.get(account.key) !== account) return;
    this.#accounts.delete(account.key);
    for (const set of [this.#adding, this.#toRead, this.#awaitingSlot]) set.delete(account);
    this.#options.ring.end(account.history);
    this.#isFilterChanged = true; // the next filter leaves it out
  }

  /** Subscribes to what was added since the last time; called every half second or so, since each filter has all keys. */
  sendFilter(): void {
    if (!this.#isFilterChanged || this.#isEnded) return;
    this.#isFilterChanged = false;
    this.#options.port.sendFilter(++this.#filterVersion);
  }

  /** Handles a message. */
  onUpdate(update: FeedUpdate): void {
    if (this.#isEnded) return;
    const { mode } = this.#options;
    if (update.kind === 'slot') this.#onStatus(update.slot, update.status === 'finalized');
    if (update.kind === 'account') this.#onAccount(update.slot, update.write);
    if (update.kind !== 'block' && update.kind !== 'block-meta') return;
    if (!this.#rules.isBarrier(update.kind, mode)) return;
    const open = this.#open.get(update.slot);
    this.#open.delete(update.slot);
    if (this.#isFirstPartial) {
      this.#isFirstPartial = false;
      return;
    }
    const writes = update.kind === 'block' ? this.#newestWrites(update.writes) : [...(open?.values() ?? [])];
    const version = Math.max(-1, ...update.filters.map(versionOf));
    const { slot, blockhash, parentSlot, parentBlockhash } = update;
    this.#hasReceived = true;
    this.#receive({ slot, blockhash, parentSlot, parentBlockhash, version, writes });
  }

  /** Handles the end of the connection. `isReplayMissing` says that the slot to resume from is not to be had. */
  onEnd(isReplayMissing: boolean): void {
    if (this.#isEnded) return;
    const canResume = this.#hasReceived || !isReplayMissing;
    this.#reconnect(canResume);
  }

  /** Returns accounts whose read is due, hottest last, and the least slot of the read: at most `count`. */
  takeReads(count: number): readonly FeedAccount[] {
    const batch: FeedAccount[] = [];
    for (const account of this.#toRead) {
      if (batch.length === count) break;
      batch.push(account);
    }
    for (const account of batch) this.#toRead.delete(account);
    return batch;
  }

  /** Handles a read of {@link takeReads}; undefined for one that has failed. */
  onRead(account: FeedAccount, read: AccountVersion | undefined): void {
    if (this.#isEnded || this.#accounts.get(account.key) !== account || account.isArmed) return;
    const { since } = account;
    if (since === undefined) return; // a gap has come between: it is read again
    if (read === undefined || !this.#rules.mayArm(read.slot, since)) {
      this.#toRead.add(account);
      this.#options.port.readAccounts();
      return;
    }
    account.read = read;
    this.#awaitingSlot.add(account);
    this.#arm(account);
  }

  /** Handles a read of a block; undefined where it can't be had. */
  onBlockRead(block: MissedBlock | undefined): void {
    const [first] = this.#ahead;
    if (this.#isEnded || first === undefined || this.#applied === undefined) return;
    const child = this.#missed.at(-1) ?? first;
    if (block === undefined || block.slot !== child.parentSlot || block.blockhash !== child.parentBlockhash) {
      this.#rebase();
      return;
    }
    this.#blockReads.set(block.blockhash, block);
    this.#repair();
  }

  /** Compares a read of an armed account with what it was at that slot (G11). Returns false where the slot is not kept. */
  audit(account: FeedAccount, { slot, value }: AccountVersion): boolean {
    const kept = account.history?.at(slot);
    if (kept === undefined || this.#isEnded) return false;
    if (this.#rules.isRefuted(kept, value)) this.#fail(`a read at slot ${slot} differs from what was delivered`);
    return true;
  }

  /** Ends it: nothing of it is covered any more. */
  end(): void {
    this.#isEnded = true;
    for (const { history } of this.#accounts.values()) this.#options.ring.end(history);
    this.#accounts.clear();
  }

  #onStatus(slot: Slot, isFinalized: boolean): void {
    if (isFinalized) this.#finalizedStatus = Math.max(this.#finalizedStatus, slot);
    this.#finalize();
  }

  #onAccount(slot: Slot, write: AccountWrite): void {
    if (this.#options.mode === 'blocks') return;
    let open = this.#open.get(slot);
    if (open === undefined) {
      open = new Map();
      this.#open.set(slot, open);
      const [oldest] = this.#open.keys();
      if (this.#open.size > MAX_OPEN_BLOCKS && oldest !== undefined) this.#open.delete(oldest);
    }
    const known = open.get(write.key);
    if (known === undefined || this.#rules.supersedes(write, known)) open.set(write.key, write);
  }

  #newestWrites(writes: readonly AccountWrite[]): readonly AccountWrite[] {
    const newest = new Map<string, AccountWrite>();
    for (const write of writes) {
      const known = newest.get(write.key);
      if (known === undefined || this.#rules.supersedes(write, known)) newest.set(write.key, write);
    }
    return newest.size === writes.length ? writes : [...newest.values()];
  }

  #receive(block: ReceivedBlock): void {
    if (this.#applied === undefined) {
      this.#apply(block);
      return;
    }
    if (this.#ahead.length > 0 && block.slot > this.#applied.slot) {
      this.#wait(block);
      return;
    }
    const hashOf = (slot: Slot): string | undefined => this.#hashes.get(slot);
    const relation = this.#rules.relationOf(block, this.#applied, hashOf, this.#oldestHash);
    if (relation === 'next') this.#apply(block);
    else if (relation === 'conflict') this.#fail(`another block than the applied one at slot ${block.slot}`);
    else if (relation === 'gap') this.#onGap(block);
  }

  #apply({ slot, blockhash, version, writes }: ReceivedBlock): void {
    this.#remember(slot, blockhash);
    for (const account of this.#adding) {
      if (account.filterVersion > version) continue;
      this.#adding.delete(account);
      account.since = this.#rules.sinceOf(slot, this.#options.mode);
      this.#toRead.add(account);
    }
    for (const write of writes) {
      const account = this.#accounts.get(write.key);
      if (account !== undefined) this.#write(account, { slot, value: write.value });
    }
    for (const account of this.#awaitingSlot) this.#arm(account);
    this.#options.onApplied(slot);
    this.#finalize();
    if (this.#toRead.size > 0) this.#options.port.readAccounts();
  }

  #remember(slot: Slot, blockhash: string): void {
    this.#applied = { slot, blockhash };
    this.#hashes.set(slot, blockhash);
    if (this.#hashes.size === 1) this.#oldestHash = slot;
    if (this.#hashes.size <= MAX_REMEMBERED) return;
    const [oldest = -1] = this.#hashes.keys();
    this.#hashes.delete(oldest);
    const [next = slot] = this.#hashes.keys();
    this.#oldestHash = next;
  }

  #write(account: FeedAccount, version: AccountVersion): void {
    if (account.history !== undefined) this.#add(account, account.history, version);
    else if (account.since !== undefined && version.slot >= account.since) {
      account.writes.push(version);
      if (account.writes.length > MAX_UNARMED_WRITES) account.writes.shift(); // older than any read that is under way
    }
  }

  #add(account: FeedAccount, history: AccountHistory, version: AccountVersion): void {
    this.#options.ring.add(history, version);
    this.#unfinalized.push({ account, version });
    this.#options.onVersion(account, version);
    if (this.#options.ring.isFull) this.#options.onNoRoom(account);
  }

  /** Arms an account once the slot of its read is applied. */
  #arm(account: FeedAccount): void {
    const { read } = account;
    if (read === undefined || read.slot > this.slot) return;
    this.#awaitingSlot.delete(account);
    const newer = account.writes.filter(({ slot }) => slot > read.slot);
    account.read = undefined;
    account.writes = [];
    const history = this.#options.ring.start(account.address, this, read);
    account.history = history;
    this.#unfinalized.push({ account, version: read });
    this.#options.onVersion(account, read);
    for (const version of newer) this.#add(account, history, version);
  }

  /** Forgets what an account is: from the next block on it is to be read. */
  #disarm(account: FeedAccount, since: Slot): void {
    const { history } = account;
    account.history = undefined;
    account.read = undefined;
    account.writes = [];
    this.#awaitingSlot.delete(account);
    if (this.#adding.has(account)) return;
    account.since = since;
    this.#toRead.add(account);
    this.#options.ring.end(history);
    if (history !== undefined) this.#options.onUnknown(account);
  }

  #finalize(): void {
    const [status, applied] = [this.#finalizedStatus, this.#applied];
    if (applied === undefined || status <= this.#finalized || status > applied.slot || !this.#hashes.has(status))
      return;
    this.#finalized = status;
    this.#options.ring.advance(applied.slot, status);
    const changed = new Set(
      this.#unfinalized.filter(({ version }) => version.slot <= status).map(({ account }) => account),
    );
    this.#unfinalized = this.#unfinalized.filter(({ version }) => version.slot > status);
    this.#options.onFinalized(status, changed);
  }

  #onGap(block: ReceivedBlock): void {
    this.#gaps++;
    if (!this.#rules.mustRepair()) {
      this.#apply(block);
      return;
    }
    this.#wait(block);
    if (this.#applied !== undefined && this.#resumedAt < this.#applied.slot) this.#reconnect(true);
    else this.#repair();
  }

  /** Lets a block wait behind a gap, in the order of slots. */
  #wait(block: ReceivedBlock): void {
    const last = this.#ahead.at(-1);
    if (last !== undefined && block.slot <= last.slot) return; // a duplicate
    this.#ahead.push(block);
    if (this.#ahead.length > MAX_AHEAD) this.#rebase();
  }

  /** Applies what is missing if it is known, or has the next of it read. */
  #repair(): void {
    const [first] = this.#ahead;
    const { isOneEpoch, port } = this.#options;
    if (first === undefined || this.#applied === undefined) return;
    const applied = this.#applied;
    let oldest = this.#missed.at(-1) ?? first;
    for (let known = this.#blockReads.get(oldest.parentBlockhash); known !== undefined; ) {
      this.#missed.push(known);
      oldest = known;
      known = this.#blockReads.get(known.parentBlockhash);
    }
    if (oldest.parentSlot === applied.slot && oldest.parentBlockhash === applied.blockhash)
      this.#applyMissed(first.slot);
    else if (oldest.parentSlot <= applied.slot)
      this.#fail(`another block than the applied one at slot ${oldest.parentSlot}`);
    else if (this.#missed.length >= MAX_MISSED || !isOneEpoch(applied.slot, first.slot)) this.#rebase();
    else port.readBlock(oldest.parentSlot);
  }

  #applyMissed(nextSlot: Slot): void {
    const missed = this.#missed.reverse();
    this.#missed = [];
    this.#blockReads.clear();
    const written = new Set(missed.flatMap((block) => block.written));
    for (const account of this.#accounts.values())
      if (written.has(account.key) || account.address.startsWith(SYSVAR_PREFIX) || !account.isArmed)
        this.#disarm(account, nextSlot);
    for (const { slot, blockhash } of missed) this.#remember(slot, blockhash);
    this.#receiveAhead();
  }

  /** Starts from the first block behind the gap: all accounts must be read again. */
  #rebase(): void {
    const [first] = this.#ahead;
    if (first === undefined) return;
    this.#missed = [];
    this.#blockReads.clear();
    this.#hashes.clear();
    this.#applied = undefined;
    for (const account of this.#accounts.values()) this.#disarm(account, first.slot);
    this.#unfinalized = [];
    this.#receiveAhead();
  }

  #receiveAhead(): void {
    const ahead = this.#ahead;
    this.#ahead = [];
    for (const block of ahead) this.#receive(block);
  }

  #reconnect(canResume: boolean): void {
    this.#open = new Map();
    this.#ahead = [];
    this.#missed = [];
    this.#hasReceived = false;
    const applied = this.#applied;
    const fromSlot = applied === undefined || !canResume ? undefined : this.#rules.resumeSlotOf(applied);
    if (applied !== undefined) this.#resumedAt = applied.slot;
    this.#isFirstPartial = this.#options.mode === 'accounts' && fromSlot === undefined;
    this.#isFilterChanged = false;
    this.#options.port.connect(fromSlot, ++this.#filterVersion);
  }

  #fail(reason: string): void {
    if (this.#isEnded) return;
    this.#options.onFalse(reason);
    this.end();
  }
}
