import type { Slot } from '../../../shared/domain/slot.ts';
import type { FeedMode } from '../../upstream/geyser/encode-request.ts';
import type { BlockLink, FeedUpdate } from '../../upstream/geyser/feed-update.ts';
import { AppliedChain } from './applied-chain.ts';
import { Arming } from './arming.ts';
import { BlockAssembly, type ReceivedBlock } from './block-assembly.ts';
import { FEED_RULES, type FeedRules } from './feed-rules.ts';
import { Gap, type MissedBlock } from './gap.ts';
import type { Coverage } from './history.ts';
import type { FeedAccount, FeedHistory, FeedVersion } from './kept-account.ts';
import type { VersionRing } from './version-ring.ts';

/** What a stream needs done. None of these answers before it returns. */
export interface FeedPort {
  /** Connects in place of the connection before, and subscribes to all accounts from a slot on; undefined for now. */
  connect(fromSlot: Slot | undefined, version: number): void;
  /** Replaces the filter on the open connection. Returns false where there is none, or one filter waits to be sent. */
  sendFilter(version: number): boolean;
  /** Reads accounts at confirmed, at a slot that `since` allows: {@link FeedStream.onRead}. */
  readAccounts(): void;
  /** Reads what a block has written: {@link FeedStream.onBlockRead}. */
  readBlock(slot: Slot): void;
  /** Goes on with long work in a turn of the event loop of its own. */
  nextTurn(work: () => void): void;
}

export interface FeedStreamOptions<A extends FeedAccount = FeedAccount> {
  readonly mode: FeedMode;
  readonly port: FeedPort;
  readonly ring: VersionRing;
  /** The most bytes of accounts that wait: for their block meta, behind a gap, and until accounts are read, each. */
  readonly maxBytes: number;
  readonly rules?: FeedRules;
  /** Accounts that are looked at in one turn of the event loop behind a gap. Default: {@link ACCOUNTS_PER_TURN}. */
  readonly accountsPerTurn?: number;
  /** Known accounts of a block that are replaced, which is done in one turn. Default: {@link WRITES_PER_TURN}. */
  readonly writesPerTurn?: number;
  /** Returns true if no epoch begins in these slots: there the runtime writes without transactions. */
  isOneEpoch(from: Slot, to: Slot): boolean;
  /** Called when a block was applied, behind all that it has written. */
  onApplied(block: Pick<BlockLink, 'slot' | 'parentSlot'>): void;
  /** Called when newer blocks are final: {@link FeedStream.dequeueFinalized}. */
  onFinalized(slot: Slot): void;
  /** Called when what an account is at the applied block has become known, or has changed. */
  onVersion(account: A, version: FeedVersion): void;
  /** Called when an account isn't known any more, until it is again. */
  onUnknown(account: A): void;
  /** Called when the ring keeps an account no longer, as others are read more. */
  onEvicted(account: A): void;
  /** Called when nothing that the stream has delivered can be believed. */
  onFalse(reason: string): void;
}

/** The most slots between the applied block and a status that is kept for a later one. */
const MAX_FINALIZED_AHEAD = 64;

/** Some four milliseconds' work where each is to be read again. */
const ACCOUNTS_PER_TURN = 1000;
/** Some 12 milliseconds' work: to replace an account takes three microseconds, however long it is. */
const WRITES_PER_TURN = 4000;

/** Sysvars are written without transactions. */
const SYSVAR_PREFIX = 'Sysvar';

/**
 * One stream of a feed: dates the accounts on it by its blocks. It does no I/O and knows no time: its owner calls it with
 * what has happened, and does what {@link FeedPort} says.
 */
export class FeedStream<A extends FeedAccount = FeedAccount> implements Coverage {
  readonly #options: FeedStreamOptions<A>;
  readonly #rules: FeedRules;
  readonly #accounts = new Map<string, A>();
  readonly #arming: Arming<A>;
  readonly #assembly: BlockAssembly;
  readonly #chain: AppliedChain;
  readonly #gap: Gap;
  /** Accounts with versions that are not final yet, or not dequeued, each with the slot of the first of them. */
  readonly #unfinalized = new Map<A, Slot>();
  #finalized: Slot = -1;
  /** A slot whose status came before its block. */
  #finalizedAhead: Slot = -1;
  /** The applied slot at which the stream was resumed: it is in vain a second time. */
  #resumedAt: Slot = -1;
  #hasReceived = false;
  #filterVersion = 1;
  #isFilterChanged = false;
  #filterSize = 0;
  #gaps = 0;
  #blocks = 0;
  /** Whether accounts are made unknown, some in each turn. The gap stays open until then: what is claimed stands still. */
  #isDisarming = false;
  /** The end of the connection that has come since. */
  #postponedEnd: (() => void) | undefined;
  #isEnded = false;
  #isDenied = false;

  constructor(options: FeedStreamOptions<A>) {
    this.#options = options;
    this.#rules = options.rules ?? FEED_RULES;
    this.#assembly = new BlockAssembly(options.mode, this.#rules, options.maxBytes);
    this.#gap = new Gap(options.maxBytes);
    this.#arming = new Arming(options.maxBytes);
    this.#chain = new AppliedChain(this.#rules);
  }

  /** The slot up to which all armed accounts are known; -1 before the first block. */
  get slot(): Slot {
    const { newest } = this.#chain;
    return newest === undefined ? -1 : this.#rules.claimOf(newest);
  }

  /** True once it has delivered what is false. */
  get isDenied(): boolean {
    return this.#isDenied;
  }

  /** The newest finalized slot of an applied block; -1 before the first. */
  get finalizedSlot(): Slot {
    return this.#finalized;
  }

  get size(): number {
    return this.#accounts.size;
  }

  /** The number of accounts that the filter in force names; 0 before the first. */
  get filterSize(): number {
    return this.#filterSize;
  }

  get unarmed(): number {
    return this.#arming.size;
  }

  /** The blocks so far that were no duplicates. */
  get blocks(): number {
    return this.#blocks;
  }

  /** The gaps so far: blocks that did not follow the one before. */
  get gaps(): number {
    return this.#gaps;
  }

  get accounts(): Iterable<A> {
    return this.#accounts.values();
  }

  get(address: string): A | undefined {
    return this.#accounts.get(address);
  }

  /** Connects. Accounts may have been added before. */
  start(): void {
    this.#options.port.connect(undefined, this.#filterVersion);
  }

  /** Adds an account; {@link sendFilter} subscribes to it. */
  add(account: A): void {
    this.#accounts.set(account.address, account);
    this.#arming.add(account, this.#filterVersion + 1);
    this.#isFilterChanged = true;
  }

  remove(account: A): void {
    if (!this.#has(account)) return;
    this.#accounts.delete(account.address);
    this.#arming.delete(account);
    this.#unfinalized.delete(account);
    this.#endHistory(account);
    this.#isFilterChanged = true; // the next filter leaves it out
  }

  /** Subscribes to what was added since the last time; called every half second or so, since each filter names all accounts. */
  sendFilter(): void {
    if (!this.#isFilterChanged || this.#isEnded) return;
    if (!this.#options.port.sendFilter(this.#filterVersion + 1)) return; // the next connection sends an older version
    this.#filterVersion++;
    this.#isFilterChanged = false;
    this.#filterSize = this.#accounts.size;
  }

  onUpdate(update: FeedUpdate): void {
    if (this.#isEnded) return;
    if (update.kind === 'slot' && update.status === 'finalized') this.#onFinalized(update.slot);
    const block = this.#assembly.add(update);
    if (block === undefined) return;
    this.#hasReceived = true;
    this.#receive(block);
  }

  /** Handles the end of the connection. `isReplayMissing` says that the slot to resume from is not to be had. */
  onEnd(isReplayMissing: boolean): void {
    if (this.#isDisarming) this.#postponedEnd = () => this.onEnd(isReplayMissing);
    else if (!this.#isEnded) this.#reconnect(this.#hasReceived || !isReplayMissing);
  }

  /** Returns accounts whose read is due: at most `count`. */
  dequeueReads(count: number): readonly A[] {
    return this.#arming.dequeueReads(count);
  }

  /** Returns the slot that a read of an account must have reached; undefined where none is due. */
  sinceOf(account: A): Slot | undefined {
    return this.#arming.sinceOf(account);
  }

  /** Handles a read of {@link dequeueReads}; undefined for one that has failed. */
  onRead(account: A, read: FeedVersion | undefined): void {
    if (!this.#has(account)) return;
    const since = this.sinceOf(account);
    if (since === undefined) return; // a gap has come between: it is read again
    if (read === undefined || !this.#rules.mayArm(read.slot, since)) {
      this.#arming.readAgain(account);
      this.#options.port.readAccounts();
      return;
    }
    this.#arming.onRead(account, read);
    this.#armDue();
  }

  /** Handles a read of the block of a slot; undefined where it can't be had. A connection before may have had it read too. */
  onBlockRead(slot: Slot, block: MissedBlock | undefined): void {
    if (this.#isEnded || this.#isDisarming) return;
    if (slot !== this.#gap.awaitedSlot || this.#chain.newest === undefined) return;
    if (this.#gap.onRead(block)) this.#repair();
    else this.#rebase();
  }

  /** Returns the accounts that may have changed up to what is {@link finalizedSlot} now, each once. Others may come while they are handled. */
  *dequeueFinalized(): Iterable<A> {
    const slot = this.#finalized; // it moves on, and accounts that change come again behind the others: it would never end
    for (const [account, first] of this.#unfinalized) {
      if (first > slot) continue;
      const [next] = account.history?.linkedAfter(slot) ?? [];
      if (next === undefined) this.#unfinalized.delete(account);
      else this.#unfinalized.set(account, next.slot);
      yield account;
    }
  }

  /**
   * Compares a read of an armed account with what it was at that slot (G11). Returns false if that is another, or not kept.
   * `isDecided`: whether a difference proves the stream false; else the account alone is read again.
   */
  audit(account: A, { slot, value }: FeedVersion, isDecided = true): boolean {
    const kept = this.#has(account) ? account.history?.ownAt(slot) : undefined;
    if (kept === undefined) return false;
    if (!this.#rules.isRefuted(kept, value)) return true;
    if (isDecided) this.#fail(`a read at slot ${slot} differs from what was delivered`);
    else {
      this.#disarm(account, this.slot);
      this.#options.port.readAccounts();
    }
    return false;
  }

  onEvicted(address: string): void {
    const account = this.#accounts.get(address);
    if (account !== undefined) this.#options.onEvicted(account);
  }

  /** Denies all that it has covered, as its node is not believed any more. */
  deny(): void {
    this.#isDenied = true;
  }

  /** Ends it: nothing newer is covered any more. */
  end(): void {
    this.#isEnded = true;
    for (const account of this.#accounts.values()) this.#endHistory(account);
    this.#accounts.clear();
    this.#unfinalized.clear();
  }

  #receive(block: ReceivedBlock): void {
    if (this.#isEnded) return; // one before it, which has waited behind a gap too, was false
    const { newest } = this.#chain;
    if (newest !== undefined && this.#gap.isOpen && block.slot > newest.slot) {
      this.#wait(block);
      return;
    }
    const relation = this.#chain.relationOf(block);
    if (relation === 'next') this.#applyOrDisarm(block);
    else if (relation === 'conflict') this.#fail(`another block than the applied one at slot ${block.slot}`);
    else if (relation === 'gap') this.#onGap(block);
  }

  /** Applies a block. If it has written too many accounts for one turn, these are read again: no claim advances before. */
  #applyOrDisarm(block: ReceivedBlock): void {
    const { writesPerTurn = WRITES_PER_TURN } = this.#options;
    const known = block.writes.filter(({ address }) => this.#accounts.get(address)?.history !== undefined);
    if (known.length <= writesPerTurn) {
      this.#apply(block);
      return;
    }
    const written = new Set(block.writes.map(({ address }) => address));
    this.#wait({ ...block, writes: [] }); // so that the next ones wait, too
    this.#disarmAll(
      block.slot,
      ({ address }) => written.has(address),
      () => {},
    );
  }

  #apply(block: ReceivedBlock): void {
    const { slot, version, writes } = block;
    const { mode, onApplied, port } = this.#options;
    this.#blocks++;
    this.#chain.append(block);
    this.#arming.onFilterInForce(version, this.#rules.sinceOf(slot, mode));
    for (const { address, value } of writes) {
      const account = this.#accounts.get(address);
      if (account?.history !== undefined) this.#add(account, account.history, { slot, value });
      else if (account !== undefined) this.#arming.keepWrite(account, { slot, value });
    }
    this.#armDue();
    onApplied(block);
    if (slot === this.#finalizedAhead) this.#onFinalized(slot);
    if (this.#arming.hasReads) port.readAccounts();
  }

  #add(account: A, history: FeedHistory, version: FeedVersion): void {
    this.#options.ring.add(history, version);
    this.#keepUnfinalized(account, version);
    this.#options.onVersion(account, version);
  }

  /** Arms the accounts whose read is of a slot that is applied. */
  #armDue(): void {
    const { ring, onVersion } = this.#options;
    for (const { account, read, newer } of this.#arming.due(this.slot)) {
      const history = ring.start(account, this, read);
      account.history = history;
      this.#keepUnfinalized(account, read);
      for (const version of newer) ring.add(history, version);
      onVersion(account, newer.at(-1) ?? read); // only now: of the applied block no other is true
    }
  }

  #keepUnfinalized(account: A, { slot }: FeedVersion): void {
    if (!this.#unfinalized.has(account)) this.#unfinalized.set(account, slot);
  }

  /** Forgets what an account is: from the next block on it is to be read. */
  #disarm(account: A, since: Slot): void {
    const isKnown = account.history !== undefined;
    this.#endHistory(account);
    this.#arming.restart(account, since);
    if (isKnown) this.#options.onUnknown(account);
  }

  #endHistory(account: A): void {
    account.history?.end();
    account.history = undefined;
  }

  #has(account: A): boolean {
    return this.#accounts.get(account.address) === account;
  }

  /** Handles the status of a slot. One that comes before its block counts from that block on. */
  #onFinalized(slot: Slot): void {
    if (slot <= this.#finalized) return;
    if (!this.#chain.has(slot)) {
      this.#keepAhead(slot);
      return;
    }
    this.#finalized = slot;
    this.#options.onFinalized(slot);
  }

  /** Keeps the next status alone, until its block would be there: each later one of a steady stream comes before its own. */
  #keepAhead(slot: Slot): void {
    const { newest } = this.#chain;
    if (newest === undefined || this.#finalizedAhead > newest.slot) return;
    if (slot > newest.slot && slot <= newest.slot + MAX_FINALIZED_AHEAD) this.#finalizedAhead = slot;
  }

  #onGap(block: ReceivedBlock): void {
    this.#gaps++;
    if (!this.#rules.mustRepair()) {
      this.#apply(block);
      return;
    }
    this.#wait(block);
    if (this.#resumedAt < (this.#chain.newest?.slot ?? -1)) this.#reconnect(true);
    else this.#repair();
  }

  #wait(block: ReceivedBlock): void {
    if (block.slot > this.#gap.lastSlot) this.#blocks++;
    if (!this.#gap.wait(block) && !this.#isDisarming) this.#rebase();
  }

  /** Applies what is missing if it is known, or has the next of it read. */
  #repair(): void {
    const { isOneEpoch, port } = this.#options;
    const { newest } = this.#chain;
    const step = newest && this.#gap.next(newest, isOneEpoch);
    if (step?.name === 'known') this.#applyMissed(step.missed, step.nextSlot);
    else if (step?.name === 'conflict') this.#fail(`another block than the applied one at slot ${step.slot}`);
    else if (step?.name === 'too-long') this.#rebase();
    else if (step?.name === 'read') port.readBlock(step.slot);
  }

  #applyMissed(missed: readonly MissedBlock[], nextSlot: Slot): void {
    const isDue = ({ address, history }: A): boolean =>
      history === undefined || address.startsWith(SYSVAR_PREFIX) || missed.some(({ written }) => written.has(address));
    this.#disarmAll(nextSlot, isDue, () => {
      for (const block of missed) this.#chain.append(block);
    });
  }

  /** Starts from the first block behind the gap: all accounts must be read again. */
  #rebase(): void {
    const { firstSlot } = this.#gap;
    if (firstSlot === undefined) return;
    const isDue = (): boolean => true;
    this.#disarmAll(firstSlot, isDue, () => this.#chain.clear());
  }

  /** Makes accounts unknown, some in each turn, and closes the gap then. Nothing is applied before: no claim advances. */
  #disarmAll(since: Slot, isDue: (account: A) => boolean, onDone: () => void): void {
    const { accountsPerTurn = ACCOUNTS_PER_TURN, port } = this.#options;
    const accounts = this.#accounts.values(); // with those that are added before the end
    const disarmSome = (): void => {
      for (let left = accountsPerTurn; left > 0 && !this.#isEnded; left--) {
        const next = accounts.next();
        if (next.done === true) {
          this.#isDisarming = false;
          onDone();
          for (const block of this.#gap.close()) this.#receive(block);
          this.#endIfPostponed();
          return;
        }
        if (isDue(next.value)) this.#disarm(next.value, since);
      }
      if (!this.#isEnded) port.nextTurn(disarmSome);
    };
    this.#isDisarming = true;
    disarmSome();
  }

  #endIfPostponed(): void {
    if (this.#isDisarming) return; // the blocks that waited end with a gap, too
    const end = this.#postponedEnd;
    this.#postponedEnd = undefined;
    end?.();
  }

  #reconnect(canResume: boolean): void {
    const { newest } = this.#chain;
    const fromSlot = newest === undefined || !canResume ? undefined : this.#rules.resumeSlotOf(newest);
    this.#gap.forgetAhead();
    this.#hasReceived = false;
    if (newest !== undefined) this.#resumedAt = newest.slot;
    this.#assembly.restart(fromSlot !== undefined);
    this.#isFilterChanged = false;
    this.#options.port.connect(fromSlot, ++this.#filterVersion);
  }

  #fail(reason: string): void {
    if (this.#isEnded) return;
    this.#isDenied = true;
    this.#options.onFalse(reason);
    this.end();
  }
}
