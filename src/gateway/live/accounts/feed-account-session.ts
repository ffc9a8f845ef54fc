import type { Commitment } from '../../../shared/domain/commitment.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import { ownTurn } from '../../../shared/runtime/own-turn.ts';
import { toTemplatedText } from '../../../shared/runtime/templated-text.ts';
import type { AccountValue } from '../../upstream/geyser/feed-update.ts';
import type { AccountRead } from '../../upstream/reads/account-batcher.ts';
import type { RpcCaller } from '../../upstream/rpc/rpc-response.ts';
import { FeedLink, type FeedLinkOptions } from '../feed/feed-link.ts';
import { FEED_RULES } from '../feed/feed-rules.ts';
import type { FeedVersion, KeptAccount } from '../feed/kept-account.ts';
import type { RecentBlocks } from '../feed/recent-blocks.ts';
import type { VersionRing } from '../feed/version-ring.ts';
import { claimedSlotOf } from '../live-state.ts';
import type { LiveSessionOptions } from '../session-audit.ts';
import type { PooledSession } from '../session-pool.ts';
import { Watermark } from '../watermark.ts';
import { decodeAccountJson, isSameKept, lengthOfKept } from './account-json.ts';
import { type AccountSessionOptions, tooLargeError } from './account-session.ts';
import type { AccountState } from './account-state.ts';
import { isOfValue, isParsed } from './feed-account-json.ts';
import { PacedAccountReads } from './paced-account-reads.ts';

/** What a session over a feed needs beside the callbacks that all sessions have. */
export interface FeedAccountSessionOptions
  extends Omit<LiveSessionOptions<AccountState>, 'pubsub'>,
    Pick<AccountSessionOptions, 'maxAccountBytes' | 'onChange' | 'onIneligible' | 'reassign'> {
  readonly nodeId: string;
  readonly link: Pick<
    FeedLinkOptions<never>,
    'client' | 'mode' | 'acceptsSlot' | 'isOneEpoch' | 'random' | 'settings' | 'maxBytes'
  >;
  readonly blocks: RecentBlocks;
  readonly rpc: RpcCaller;
  readonly ring: VersionRing;
  /** Called when the feed has delivered what is false: nothing of it is used until it is admitted again. */
  onFalse(reason: string): void;
  onGivenUp(reason: string): void;
}

/** Most accounts of one stream: a filter names them all, and a request has at most 4 MiB. */
const MAX_ACCOUNTS = 50_000;
/** A full stream is sealed until it has no more than these: each account that is added has its whole filter sent again. */
const SEALED_UNTIL = 45_000;
const BATCH = 100;
/** Accounts at finalized that are settled in one turn of the event loop: about four milliseconds' work. */
const SETTLED_PER_TURN = 500;
/** Bytes of texts that are compared in one turn of the event loop: about four milliseconds' work. */
const TEXT_BYTES_PER_TURN = 40 << 10;
/** What a text of no length counts as. */
const TEXT_BYTES = 4 << 10;

/** One stream of a Geyser feed, and the accounts that are kept live over it, at confirmed and finalized. */
export class FeedAccountSession implements PooledSession<AccountState> {
  readonly connection = this;
  readonly nodeId: string;
  readonly maxSubscriptions = MAX_ACCOUNTS;
  readonly mayGrow = false;
  readonly isPreferred = true;
  readonly sessionAudit = {
    checkLag: (commitment: Commitment) => this.#watermarks.get(commitment)?.checkLag(),
    audit: (most: number) => this.#audit(most),
    distrust: () => this.#distrust('its node is not believed any more'),
  };
  readonly #options: FeedAccountSessionOptions;
  readonly #link: FeedLink<AccountState>;
  readonly #reads: PacedAccountReads;
  readonly #watermarks: ReadonlyMap<Commitment, Watermark>;
  /** States that can't be claimed yet: newer slots were claimed for them before, or their text could not be had. */
  readonly #behind = new Set<AccountState>();
  /** Those whose text is read. */
  readonly #reading = new Set<AccountState>();
  /** Those of them that wait for a request. */
  #textless: AccountState[] = [];
  /** Those of which a node gave a text of another account: they are read from several operators. */
  readonly #doubted = new WeakSet<AccountState>();
  #nextAudited: Iterator<AccountState> | undefined;
  #isFinalizing = false;
  #isSealed = false;
  #isLost = false;

  constructor(options: FeedAccountSessionOptions) {
    const { clock, tip, isRenewing, ring, blocks, rpc, link, slotTimeMs, budget } = options;
    this.#options = options;
    this.nodeId = options.nodeId;
    this.#reads = new PacedAccountReads(rpc, budget, 'sync', { clock, tip });
    const watermark = (commitment: Commitment): [Commitment, Watermark] => [
      commitment,
      new Watermark(() => tip(commitment), isRenewing, options.nodeId),
    ];
    this.#watermarks = new Map([watermark('confirmed'), watermark('finalized')]);
    this.#link = new FeedLink({
      ...link,
      rpc,
      ring,
      clock,
      slotTimeMs,
      tip,
      awaitTurn: () => budget.acquire('sync'),
      onApplied: ({ slot, parentSlot }) => {
        blocks.add(slot, parentSlot);
        this.#advance('confirmed', slot);
      },
      onFinalized: () => void this.#finalize(),
      onVersion: (account, version) => {
        this.#settleAll(account, 'confirmed');
        if (this.has(account)) this.#keptOf(account, version); // it is needed once the version is final
      },
      onUnknown: (account) => {
        for (const state of statesOf(account)) state.endAdopted();
      },
      onEvicted: (account) => {
        for (const state of statesOf(account)) options.reassign(state);
      },
      maxAccountBytes: options.maxAccountBytes,
      onTooLarge: (account) => this.#refuseAll(account),
      onFalse: (reason) => this.#invalidate(reason),
      onGivenUp: (reason) => {
        options.onGivenUp(reason);
        this.close(reason);
      },
    });
  }

  get capacity(): number {
    const { size } = this;
    if (size >= MAX_ACCOUNTS) this.#isSealed = true;
    else if (size < SEALED_UNTIL) this.#isSealed = false;
    return this.#isLost || this.#isSealed ? 0 : MAX_ACCOUNTS - size;
  }

  get size(): number {
    return this.#link.stream.size;
  }

  get syncing(): number {
    return this.#link.stream.unarmed;
  }

  get reconnects(): number {
    return this.#link.reconnects;
  }

  get gaps(): number {
    return this.#link.stream.gaps;
  }

  get slot(): Slot {
    return this.#link.stream.slot;
  }

  accepts(state: AccountState): boolean {
    return isKeptBy(this.#options.ring, state);
  }

  has(state: AccountState): boolean {
    const account = this.#link.stream.get(state.address);
    return account !== undefined && (account === state || account.companion === state);
  }

  add(state: AccountState): void {
    const { address, commitment } = state;
    state.attach(this.#watermarks.get(commitment));
    const { stream } = this.#link;
    const account = stream.get(address);
    if (account === undefined) {
      stream.add(state);
      return;
    }
    account.companion = state;
    this.#settle(account, state);
  }

  remove(state: AccountState): void {
    if (!this.has(state)) return;
    const { stream } = this.#link;
    const account = stream.get(state.address);
    this.#behind.delete(state);
    state.detach();
    if (account !== undefined && account !== state) account.companion = undefined;
    else {
      const { companion } = state;
      stream.remove(state);
      state.companion = undefined;
      if (companion === undefined) return;
      companion.endAdopted(); // until it is known again: it was kept with the other
      stream.add(companion);
    }
  }

  /** Ends the session: its states move to another. */
  close(reason = 'it is not needed'): void {
    if (this.#isLost) return;
    this.#isLost = true;
    const states = this.#states;
    for (const state of states) state.companion = undefined;
    this.#link.close();
    this.#behind.clear();
    this.#textless = [];
    for (const watermark of this.#watermarks.values()) {
      watermark.markLost();
      this.#options.onWatermarkLost(watermark);
    }
    this.#options.onLost(states, reason);
  }

  get #states(): readonly AccountState[] {
    return [...this.#link.stream.accounts].flatMap(statesOf);
  }

  #advance(commitment: Commitment, slot: Slot): void {
    const watermark = this.#watermarks.get(commitment);
    if (watermark === undefined || this.#isLost) return;
    watermark.advance(slot, this.#options.clock.monotonic());
    // A copy: one that is behind still is put back.
    for (const state of [...this.#behind]) {
      const account = state.commitment === commitment ? this.#link.stream.get(state.address) : undefined;
      if (account !== undefined) this.#settle(account, state);
    }
    this.#options.onLeasesAdvanced(watermark);
    this.#options.onRoom();
  }

  /** Settles what has changed up to the newest final slot, some in each turn: only then no claim at that slot is false. */
  async #finalize(): Promise<void> {
    if (this.#isFinalizing) return;
    this.#isFinalizing = true;
    const { stream } = this.#link;
    let [slot, left] = [-1, SETTLED_PER_TURN];
    while (slot < stream.finalizedSlot) {
      slot = stream.finalizedSlot;
      for (const account of stream.dequeueFinalized()) {
        if (this.has(account)) this.#settleAll(account, 'finalized');
        if (--left > 0) continue;
        await ownTurn();
        left = SETTLED_PER_TURN;
      }
      this.#advance('finalized', slot); // newer blocks may become final for as long as others are settled
    }
    this.#isFinalizing = false;
  }

  #settleAll(account: AccountState, commitment: Commitment): void {
    for (const state of statesOf(account)) if (state.commitment === commitment) this.#settle(account, state);
  }

  /** Gives a state what its account is at the newest slot of its commitment. */
  #settle(account: AccountState, state: AccountState): void {
    const { history } = account;
    const { stream } = this.#link;
    const slot = state.commitment === 'finalized' ? stream.finalizedSlot : stream.slot;
    const version =
      history && (state.commitment === 'finalized' ? FEED_RULES.finalizedOf(history, slot) : history.newest);
    this.#behind.delete(state);
    if (this.#isTooLarge(version?.value)) {
      this.#refuse(state);
      return;
    }
    const kept = version && this.#keptOf(account, version);
    if (version === undefined || kept === undefined) {
      state.endAdopted();
      return;
    }
    const isSame = state.isKnown && isSameKept(kept, state.kept);
    const isOlder = slot < Math.max(state.slot, claimedSlotOf(state)) || (!isSame && slot <= state.slot);
    if (isOlder) {
      this.#behind.add(state); // what another session has claimed: the feed will be there soon
      return;
    }
    if (!isSame && lengthOfKept(kept) > this.#options.maxAccountBytes) {
      this.#refuse(state);
      return;
    }
    const from = version.slot > state.slot ? version.slot : isSame ? state.slot : slot;
    const result = state.onVersion(from, kept, isSame);
    state.onSyncEvent({ name: 'armed' }); // only then: of what it was before nobody knows up to when
    if (result === 'changed' || result === 'late') this.#options.onChange(state, result, from);
  }

  /** Returns true for an account whose text would be too long, as its data alone is. */
  #isTooLarge(value: AccountValue | null | undefined): boolean {
    return value != null && value.data.length > this.#options.maxAccountBytes;
  }

  #refuseAll(account: AccountState): void {
    for (const state of statesOf(account)) this.#refuse(state);
  }

  #refuse(state: AccountState): void {
    this.remove(state);
    this.#options.onIneligible(state, tooLargeError());
  }

  /** Returns an account in the form that the ring keeps too; undefined where a node must parse it first. */
  #keptOf(account: AccountState, version: FeedVersion): KeptAccount | undefined {
    const { value } = version;
    if (value === null || !isParsed(value)) return value;
    const known = this.#options.ring.textOf(value);
    const isDue = known === undefined && account.history?.newest.value === value && !this.#isTooLarge(value);
    if (isDue) void this.#readText(account);
    return known;
  }

  /** Has the text of the newest version of an account read, with those of others that wait. */
  async #readText(account: AccountState): Promise<void> {
    if (this.#reading.has(account)) return;
    this.#reading.add(account);
    if (this.#textless.push(account) > 1) return;
    while (this.#textless.length > 0) {
      await this.#options.budget.acquire('sync');
      void this.#readTexts(this.#textless.splice(0, BATCH));
    }
  }

  async #readTexts(accounts: readonly AccountState[]): Promise<void> {
    const { agreement } = this.#options;
    const queries = accounts.map((account) => ({
      address: account.address,
      commitment: 'confirmed' as const,
      shape: 'parsed' as const,
      minContextSlot: account.history?.newest.slot,
      agree: this.#doubted.has(account) ? agreement?.needed : undefined,
    }));
    const reads = await Promise.all(this.#reads.readBatch(queries).map((read) => read.catch(() => undefined)));
    const oldestFirst = accounts
      .map((account, i) => ({ account, read: reads[i], slot: reads[i]?.slot ?? 0 }))
      .sort((a, b) => a.slot - b.slot); // what is ahead of the feed holds up nothing else
    let [bytesSinceYield, isStalled] = [0, false];
    for (const { account, read, slot } of oldestFirst) {
      const bytes = read?.account?.length ?? 0;
      const isTooLarge = bytes > this.#options.maxAccountBytes;
      bytesSinceYield += TEXT_BYTES + (isTooLarge ? 0 : bytes);
      if (bytesSinceYield > TEXT_BYTES_PER_TURN) {
        await ownTurn();
        bytesSinceYield = 0;
      }
      if (!isStalled) await this.#link.applied(slot);
      isStalled = this.slot < slot; // what was read at later slots would wait in vain, too
      const isKept = !isTooLarge && this.#keepText(account, read);
      this.#reading.delete(account);
      if (this.#link.stream.get(account.address) !== account) continue;
      if (isTooLarge) {
        this.#refuseAll(account);
        continue;
      }
      for (const state of statesOf(account))
        if (isKept) this.#settle(account, state);
        else this.#behind.add(state);
    }
  }

  /** Keeps a text, which is of the newest version of its slot. Returns false where that is not known, or is another account. */
  #keepText(account: AccountState, read: AccountRead | undefined): boolean {
    const { history } = account;
    const value = (read && history?.ownAt(read.slot)?.value) ?? null;
    const json = read && decodeAccountJson(read.account);
    if (history === undefined || value === null || typeof json !== 'string') return false;
    if (!isOfValue(Buffer.from(json, 'latin1'), value)) {
      this.#doubted.add(account);
      return false;
    }
    this.#doubted.delete(account);
    this.#options.ring.setText(history, value, toTemplatedText(json));
    return true;
  }

  #invalidate(reason: string): void {
    const [first] = this.#states;
    if (first !== undefined) this.#options.onLeaseViolation(first, 'session', { reason });
    this.#distrust(reason);
  }

  /** Ends the session: nothing of it is served, and the feed is not used until it is admitted again. */
  #distrust(reason: string): void {
    this.#link.stream.deny();
    for (const watermark of this.#watermarks.values()) watermark.invalidate();
    for (const state of this.#states) state.reset();
    this.#options.blocks.clear();
    this.#options.onDenied();
    this.#options.onFalse(reason);
    this.close(reason);
  }

  /** Audits accounts in turn, at most `most`. Resolves to the number that was compared. */
  async #audit(most: number): Promise<number> {
    let compared = 0;
    for (let left = Math.min(most, this.size); left > 0 && !this.#isLost; left -= BATCH) {
      const batch = this.#nextArmed(Math.min(left, BATCH));
      if (batch.length === 0) break;
      await this.#options.budget.acquire('audit');
      compared += await this.#auditBatch(batch).catch(() => 0); // the next audit tries again
    }
    return compared;
  }

  /** Compares accounts with a read of as many operators as `exact` needs, and records that these gave the same (I17). */
  async #auditBatch(batch: readonly AccountState[]): Promise<number> {
    const { same, agreement } = await this.#link.audit(batch, this.#options.agreement?.needed);
    if (agreement === undefined) return same.length;
    for (const account of same) {
      if (account.history !== undefined) account.history.agreement = agreement;
      for (const state of statesOf(account)) state.confirm(agreement);
    }
    return same.length;
  }

  #nextArmed(count: number): readonly AccountState[] {
    const batch: AccountState[] = [];
    for (let i = this.size + 1; i > 0 && batch.length < count; i--) {
      this.#nextAudited ??= this.#link.stream.accounts[Symbol.iterator]();
      const next = this.#nextAudited.next();
      if (next.done === true) this.#nextAudited = undefined;
      else if (next.value.history !== undefined) batch.push(next.value);
    }
    return batch;
  }
}

/** The states of an account on a stream: of one commitment, or of both. */
const statesOf = (account: AccountState): readonly AccountState[] =>
  account.companion === undefined ? [account] : [account, account.companion];

/** Returns false for a state that a feed can't keep: nothing at processed is final, and others may be read more. */
export const isKeptBy = (ring: Pick<VersionRing<KeptAccount>, 'accepts'>, state: AccountState): boolean =>
  state.commitment !== 'processed' && ring.accepts(state.priority);
