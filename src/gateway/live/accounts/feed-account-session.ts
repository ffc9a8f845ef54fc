import type { Commitment } from '../../../shared/domain/commitment.ts';
import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import { AccountBatcher } from '../../upstream/reads/account-batcher.ts';
import type { RpcCaller } from '../../upstream/rpc/rpc-response.ts';
import { keyOfAddress } from '../feed/address-key.ts';
import type { FeedAccount, FeedVersion } from '../feed/feed-account.ts';
import { FeedLink, type FeedLinkOptions } from '../feed/feed-link.ts';
import { FEED_RULES } from '../feed/feed-rules.ts';
import type { FeedStream } from '../feed/feed-stream.ts';
import type { RingMember } from '../feed/history.ts';
import type { RecentBlocks } from '../feed/recent-blocks.ts';
import type { VersionRing } from '../feed/version-ring.ts';
import type { LiveSessionOptions } from '../session-audit.ts';
import { Watermark } from '../watermark.ts';
import { type AccountJson, decodeAccountJson, isSameAccount, unparsedJsonOf } from './account-json.ts';
import type { AccountSessionOptions } from './account-session.ts';
import type { AccountState } from './account-state.ts';
import { isParsed } from './feed-account-json.ts';

/** What a session over a feed needs beside the callbacks that all sessions have. */
export interface FeedAccountSessionOptions
  extends Omit<LiveSessionOptions<AccountState>, 'pubsub'>,
    Pick<AccountSessionOptions, 'maxAccountBytes' | 'onChange' | 'onIneligible' | 'reassign'> {
  readonly nodeId: string;
  readonly link: Pick<FeedLinkOptions, 'client' | 'mode' | 'isOneEpoch'>;
  readonly blocks: RecentBlocks;
  readonly rpc: RpcCaller;
  readonly ring: VersionRing;
  /** Called when the feed has delivered what is false: nothing of it is used until it is admitted again. */
  onFalse(reason: string): void;
  /** Called when the stream could not be had for long. */
  onGivenUp(reason: string): void;
}

/** Most accounts of one stream: a filter names them all, and a request has at most 4 MiB. */
const MAX_ACCOUNTS = 50_000;
/** A full stream is sealed until it has no more than these: each account that is added has its whole filter sent again. */
const SEALED_UNTIL = 45_000;
/** The accounts of one audit. */
const AUDIT_BATCH = 100;

/** An account of a stream, and the states that it keeps: of one commitment or of both. */
class Entry implements Readonly<RingMember['heat']> {
  readonly account: FeedAccount;
  /** Of one commitment or of both. An array of its own length: there may be very many. */
  states: readonly AccountState[];
  isReading = false;

  constructor(stream: FeedStream, state: AccountState) {
    this.states = [state];
    const { address } = state;
    this.account = stream.add(address, keyOfAddress(address), this);
  }

  get rank(): number {
    return this.states.reduce((rank, { holder }) => Math.max(rank, holder.rank), Number.NEGATIVE_INFINITY);
  }
}

/** One stream of a Geyser feed, and the accounts that are kept live over it, at confirmed and finalized. */
export class FeedAccountSession {
  readonly pubsub: {
    readonly nodeId: string;
    readonly capacity: number;
    readonly maxSubscriptions: number;
    readonly mayGrow: boolean;
    readonly isPreferred: boolean;
  };
  readonly sessionAudit = {
    checkLag: (commitment: Commitment) => this.#watermarks.get(commitment)?.checkLag(),
    audit: (most: number) => this.#audit(most),
    distrust: () => this.#distrust('its node is not believed any more'),
  };
  readonly #options: FeedAccountSessionOptions;
  readonly #link: FeedLink;
  readonly #batcher: AccountBatcher;
  readonly #watermarks: ReadonlyMap<Commitment, Watermark>;
  readonly #byAddress = new Map<string, Entry>();
  /** States that can't be claimed yet: newer slots were claimed for them before. */
  readonly #behind = new Set<AccountState>();
  #nextAudited: Iterator<Entry> | undefined;
  #isSealed = false;
  #isLost = false;

  constructor(options: FeedAccountSessionOptions) {
    const { clock, tip, isRenewing, ring, blocks, rpc, link, slotTimeMs, budget } = options;
    this.#options = options;
    this.#batcher = new AccountBatcher({ call: (...args) => budget.make(() => rpc.call(...args)) }, { clock, tip });
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
      tip: () => tip('confirmed'),
      awaitTurn: () => budget.acquire('sync'),
      onApplied: ({ slot, parentSlot }) => {
        blocks.add(slot, parentSlot);
        this.#advance('confirmed', slot);
      },
      onFinalized: (slot, changed) => {
        for (const account of changed) this.#settleAll(account, 'finalized', slot);
        this.#advance('finalized', slot);
      },
      onVersion: (account, version) => {
        this.#settleAll(account, 'confirmed');
        const entry = this.#entryOf(account);
        if (entry !== undefined) this.#textOf(entry, version); // it is needed once the version is final
      },
      onUnknown: (account) => {
        for (const state of this.#entryOf(account)?.states ?? []) state.endAdopted();
      },
      onEvicted: (account) => {
        for (const state of this.#entryOf(account)?.states ?? []) options.reassign(state);
      },
      onFalse: (reason) => this.#invalidate(reason),
      onGivenUp: (reason) => {
        options.onGivenUp(reason);
        this.close(reason);
      },
    });
    const session = this;
    this.pubsub = {
      nodeId: options.nodeId,
      get capacity() {
        return session.#capacity;
      },
      maxSubscriptions: MAX_ACCOUNTS,
      mayGrow: false,
      isPreferred: true,
    };
  }

  get size(): number {
    return this.#byAddress.size;
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

  /** Returns false for a state that a feed can't keep: nothing at processed is final, and others may be read more. */
  accepts({ commitment, holder }: AccountState): boolean {
    return commitment !== 'processed' && this.#options.ring.accepts(holder);
  }

  has(state: AccountState): boolean {
    return this.#byAddress.get(state.address)?.states.includes(state) === true;
  }

  add(state: AccountState): void {
    const { address, commitment } = state;
    state.attach(this.#watermarks.get(commitment));
    let entry = this.#byAddress.get(address);
    if (entry === undefined) {
      entry = new Entry(this.#link.stream, state);
      this.#byAddress.set(address, entry);
    } else entry.states = [...entry.states, state];
    this.#settle(entry, state);
  }

  remove(state: AccountState): void {
    const entry = this.#byAddress.get(state.address);
    if (entry?.states.includes(state) !== true) return;
    entry.states = entry.states.filter((other) => other !== state);
    this.#behind.delete(state);
    state.detach();
    if (entry.states.length > 0) return;
    this.#byAddress.delete(state.address);
    this.#link.stream.remove(entry.account);
  }

  /** Ends the session: its states move to another. */
  close(reason = 'it is not needed'): void {
    if (this.#isLost) return;
    this.#isLost = true;
    this.#link.close();
    const states = [...this.#byAddress.values()].flatMap((entry) => entry.states);
    this.#byAddress.clear();
    this.#behind.clear();
    for (const watermark of this.#watermarks.values()) {
      watermark.markLost();
      this.#options.onWatermarkLost(watermark);
    }
    this.#options.onLost(states, reason);
  }

  get #capacity(): number {
    const { size } = this.#byAddress;
    if (size >= MAX_ACCOUNTS) this.#isSealed = true;
    else if (size < SEALED_UNTIL) this.#isSealed = false;
    return this.#isLost || this.#isSealed ? 0 : MAX_ACCOUNTS - size;
  }

  #entryOf(account: FeedAccount): Entry | undefined {
    const entry = this.#byAddress.get(account.address);
    return entry?.account === account ? entry : undefined;
  }

  #advance(commitment: Commitment, slot: Slot): void {
    const watermark = this.#watermarks.get(commitment);
    if (watermark === undefined || this.#isLost) return;
    watermark.advance(slot, this.#options.clock.monotonic());
    for (const state of this.#behind) {
      const entry = state.commitment === commitment ? this.#byAddress.get(state.address) : undefined;
      if (entry !== undefined) this.#settle(entry, state);
    }
    this.#options.onLeasesAdvanced(watermark);
    this.#options.onRoom();
  }

  #settleAll(account: FeedAccount, commitment: Commitment, slot?: Slot): void {
    const entry = this.#entryOf(account);
    for (const state of entry?.states ?? [])
      if (entry !== undefined && state.commitment === commitment) this.#settle(entry, state, slot);
  }

  /** Gives a state what its account is at the newest slot of its commitment; `at` is that slot if it has just come. */
  #settle(entry: Entry, state: AccountState, at?: Slot): void {
    const { history } = entry.account;
    const { stream } = this.#link;
    const slot = at ?? (state.commitment === 'finalized' ? stream.finalizedSlot : stream.slot);
    const version =
      history && (state.commitment === 'finalized' ? FEED_RULES.finalizedOf(history, slot) : history.newest);
    const json = version && this.#textOf(entry, version);
    this.#behind.delete(state);
    if (version === undefined || json === undefined) {
      state.endAdopted();
      return;
    }
    const isSame = state.isKnown && isSameAccount(json, state.json);
    const isOlder = slot < Math.max(state.slot, state.holder.claimedSlot) || (!isSame && slot <= state.slot);
    if (isOlder) {
      this.#behind.add(state); // what another session has claimed: the feed will be there soon
      return;
    }
    if (json !== null && json.length > this.#options.maxAccountBytes) {
      this.remove(state);
      this.#options.onIneligible(
        state,
        new GatewayError('result_too_large', 'the account is too large to be kept live'),
      );
      return;
    }
    state.onSyncEvent({ name: 'armed' });
    const from = version.slot > state.slot ? version.slot : isSame ? state.slot : slot;
    const result = state.onRead(from, isSame ? state.json : json, from);
    if (result === 'changed' || result === 'late') this.#options.onChange(state, result, from);
  }

  /** Returns an account as a node shows it; undefined where the node must parse it first. */
  #textOf(entry: Entry, version: FeedVersion): AccountJson | undefined {
    if (version.value === null) return null;
    if (!isParsed(version.value)) return unparsedJsonOf(version.value);
    const known = this.#options.ring.textOf(version);
    if (known === undefined && entry.account.history?.newest === version) void this.#readText(entry, version);
    return known;
  }

  /** Reads the text of the newest version of an account, which is of that version if no other has come up to its slot. */
  async #readText(entry: Entry, version: FeedVersion): Promise<void> {
    if (entry.isReading) return;
    entry.isReading = true;
    const { account } = entry;
    try {
      await this.#options.budget.acquire('sync');
      const { address } = account;
      const read = await this.#batcher.read({
        address,
        commitment: 'confirmed',
        shape: 'parsed',
        minContextSlot: version.slot,
      });
      await this.#link.applied(read.slot);
      const json = decodeAccountJson(read.account);
      const { history } = account;
      const current = history?.ownAt(read.slot);
      if (typeof json === 'string' && history !== undefined && current !== undefined)
        this.#options.ring.setText(history, current, json);
    } catch {
      // it is read again with the next change, or below
    } finally {
      entry.isReading = false;
    }
    if (this.#entryOf(account) !== entry) return;
    for (const state of entry.states) this.#settle(entry, state);
  }

  #invalidate(reason: string): void {
    const [first] = [...this.#byAddress.values()].flatMap((entry) => entry.states);
    if (first !== undefined) this.#options.onLeaseViolation(first, 'session', { reason });
    this.#distrust(reason);
  }

  /** Ends the session: nothing of it is served, and the feed is not used until it is admitted again. */
  #distrust(reason: string): void {
    this.#link.stream.deny();
    for (const watermark of this.#watermarks.values()) watermark.invalidate();
    for (const { states } of this.#byAddress.values()) for (const state of states) state.reset();
    this.#options.onFalse(reason);
    this.close(reason);
  }

  /** Audits accounts in turn, at most `most`. Resolves to the number that was compared. */
  async #audit(most: number): Promise<number> {
    let compared = 0;
    for (let left = Math.min(most, this.size); left > 0 && !this.#isLost; left -= AUDIT_BATCH) {
      const batch = this.#nextArmed(Math.min(left, AUDIT_BATCH));
      if (batch.length === 0) break;
      await this.#options.budget.acquire('audit');
      compared += await this.#auditBatch(batch).catch(() => 0); // the next audit tries again
    }
    return compared;
  }

  /** Compares accounts with a read of as many operators as `exact` needs, and records that these gave the same (I17). */
  async #auditBatch(batch: readonly FeedAccount[]): Promise<number> {
    const { same, agreement } = await this.#link.audit(batch, this.#options.agreement?.needed);
    if (agreement === undefined) return same.length;
    for (const account of same) {
      if (account.history !== undefined) account.history.agreement = agreement;
      for (const state of this.#entryOf(account)?.states ?? []) state.confirm(agreement);
    }
    return same.length;
  }

  #nextArmed(count: number): readonly FeedAccount[] {
    const batch: FeedAccount[] = [];
    for (let i = this.size + 1; i > 0 && batch.length < count; i--) {
      this.#nextAudited ??= this.#byAddress.values();
      const next = this.#nextAudited.next();
      if (next.done === true) this.#nextAudited = undefined;
      else if (next.value.account.isArmed) batch.push(next.value.account);
    }
    return batch;
  }
}
