import { agreedAt, decidingOf } from '../../../shared/domain/agreement.ts';
import type { Commitment } from '../../../shared/domain/commitment.ts';
import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import { tryOrUndefined } from '../../../shared/domain/try-or-undefined.ts';
import { identityInMint, isSameName, nameInMetaplexAccount, TOKEN_PROGRAMS } from '../../../transactions/index.ts';
import { listedTokenAccount } from '../../tokens/listed-token-account.ts';
import { decodeMint, hasScale } from '../../tokens/mint-scales.ts';
import { isSameList, readTokenList, type TokenList, type TokenListRead } from '../../tokens/token-list.ts';
import { YIELD_EVERY_BYTES } from '../../upstream/json/cooperative.ts';
import type { OperatorAgreement } from '../../upstream/mesh/mesh.ts';
import type { ClockUpdate, PubsubSession, SubscriptionHandler } from '../../upstream/pubsub/pubsub-session.ts';
import { type EncodedAccount, parseEncodedAccount } from '../../upstream/reads/encoded-accounts.ts';
import { parseKeyedAccount } from '../../upstream/reads/token-accounts-by-owner.ts';
import { isRefusal } from '../../upstream/rpc/error-normalizer.ts';
import { BoundedWait } from '../bounded-wait.ts';
import type { History } from '../feed/history.ts';
import type { VersionRing } from '../feed/version-ring.ts';
import { clockEventOf, marginSlotsOf } from '../initial-sync.ts';
import { isSynced } from '../live-state.ts';
import type { BudgetedWork } from '../request-budget.ts';
import { type AuditRead, type LiveSessionOptions, SessionAudit } from '../session-audit.ts';
import { recordList } from './past-token-lists.ts';
import { SubscriptionCoalescer } from './subscription-coalescer.ts';
import type { TokenListState } from './token-list-state.ts';

export interface TokenListSessionOptions extends LiveSessionOptions<TokenListState> {
  readonly maxAccounts: number;
  /** Keeps past versions; undefined where another process does. */
  readonly ring?: VersionRing<TokenList> | undefined;
  onCapacityExceeded(state: TokenListState): void;
  onIneligible(state: TokenListState): void;
}

interface ListSubscriptions {
  /** The functions that unsubscribe from the listed accounts, their mints and the mints' metadata, by address. */
  readonly accounts: Map<string, () => void>;
  readonly programs: (() => void)[];
  pendingAcks: number;
  isReading: boolean;
  /** Whether the last read has failed: the next ones wait for the budget, however many fail. */
  hasFailed: boolean;
  /** What was recorded last of the list; undefined for nothing, and where another session records it. */
  history: History<TokenList> | undefined;
}

/** The longest time that a reader waits for the session's node to read a list; then other nodes are read. */
const MAX_READ_WAIT_MS = 400;

/** The offset of the owner in a token account: https://github.com/solana-program/token/blob/main/interface/src/state.rs */
const OWNER_OFFSET = 32;

/**
 * One session, and the token lists that are kept live over it (I15). A `programSubscribe` reports new and changed
 * accounts of an owner, an `accountSubscribe` reports that one was closed or given to another owner; those on the mint
 * and its metadata report that amounts or names are displayed differently.
 */
export class TokenListSession {
  readonly connection: PubsubSession;
  readonly sessionAudit: SessionAudit<TokenListState>;
  /** Lists are few: all may be synced at a time. */
  readonly syncing = 0;
  readonly #options: TokenListSessionOptions;
  readonly #subscriptionsByState = new Map<TokenListState, ListSubscriptions>();
  readonly #coalescer: SubscriptionCoalescer;

  constructor(options: TokenListSessionOptions) {
    this.#options = options;
    this.connection = options.pubsub;
    this.#coalescer = new SubscriptionCoalescer(options.pubsub);
    this.sessionAudit = new SessionAudit({
      session: options,
      awaitTurn: async () => {}, // each of its calls has one
      states: () => this.#subscriptionsByState.keys(),
      nextBatch: () => this.#nextAudited(),
      reread: (states) => Promise.all(states.map((state) => this.#reread(state))),
      restart: (state) => options.onCapacityExceeded(state),
      onClockUpdate: (commitment, update) => this.#onClockUpdate(commitment, update),
      onLost: () => {
        for (const state of this.#subscriptionsByState.keys()) {
          state.pendingRead?.finish();
          state.abandonChanges();
        }
        this.#subscriptionsByState.clear();
      },
    });
  }

  get size(): number {
    return this.#subscriptionsByState.size;
  }

  add(state: TokenListState): void {
    const { address: owner, commitment } = state;
    const programs = Object.values(TOKEN_PROGRAMS);
    if (this.connection.capacity < programs.length) {
      this.#markIneligible(state);
      return;
    }
    const subscriptions: ListSubscriptions = {
      accounts: new Map(),
      programs: [],
      pendingAcks: programs.length,
      isReading: false,
      hasFailed: false,
      history: undefined,
    };
    this.#subscriptionsByState.set(state, subscriptions);
    state.attach(this.sessionAudit.watermarkOf(commitment));
    const filters = [{ memcmp: { offset: OWNER_OFFSET, bytes: owner } }];
    for (const program of programs) {
      const params = [program, { encoding: 'base64', commitment, filters }];
      const handler = this.#handlerFor(state, parseKeyedAccount, (slot, account) =>
        this.#onAccount(state, slot, account.address, account),
      );
      subscriptions.programs.push(this.#coalescer.subscribe('programSubscribe', params, handler));
    }
  }

  remove(state: TokenListState): void {
    const { accounts, programs, history } = this.#subscriptionsByState.get(state) ?? {};
    this.#subscriptionsByState.delete(state);
    for (const unsubscribe of [...(accounts?.values() ?? []), ...(programs ?? [])]) unsubscribe();
    if (accounts === undefined) return;
    history?.end();
    state.detach();
    state.pendingRead?.finish();
  }

  #onClockUpdate(commitment: Commitment, update: ClockUpdate): void {
    const { slot, previous, isNextBank, provenFrom } = update;
    const { pubsub, ring } = this.#options;
    const event = clockEventOf(update, pubsub.isPooled);
    // After a gap (a bank that a late node never reported, or a skipped slot that it omits), a `programSubscribe`
    // may have missed a change.
    const isGap = previous !== undefined && !isNextBank;
    for (const [state, subscriptions] of this.#subscriptionsByState) {
      if (state.commitment !== commitment) continue;
      if (previous !== undefined) state.applyChanges(previous);
      state.onProof(slot, provenFrom, () => this.#readIfNeeded(state));
      state.onSyncEvent(event);
      if (isGap) this.#onChange(state, slot);
      if (ring !== undefined) subscriptions.history = recordList(ring, state) ?? subscriptions.history;
      this.#readIfNeeded(state);
    }
  }

  #readIfNeeded(state: TokenListState): void {
    const subscriptions = this.#subscriptionsByState.get(state);
    if (state.pendingReadMinSlot === undefined || subscriptions === undefined || subscriptions.isReading) return;
    const wait = new BoundedWait(this.#options.clock, MAX_READ_WAIT_MS);
    state.pendingRead = wait;
    subscriptions.isReading = true;
    void this.#readUntilCurrent(state, subscriptions).finally(() => {
      subscriptions.isReading = false;
      wait.finish();
    });
  }

  /** Reads until the state needs no read. Ignores the result if the list has left the session since, even if it is back. */
  async #readUntilCurrent(state: TokenListState, subscriptions: ListSubscriptions): Promise<void> {
    const isAttached = (): boolean => this.#subscriptionsByState.get(state) === subscriptions;
    try {
      for (
        let minSlot = state.pendingReadMinSlot;
        minSlot !== undefined && isAttached();
        minSlot = state.pendingReadMinSlot
      ) {
        const { maxAccounts, ring } = this.#options;
        const work = isSynced(state) && !subscriptions.hasFailed ? undefined : 'sync';
        const { slot, isConsistent, list } = await this.#fetch(state, minSlot, work, maxAccounts);
        subscriptions.hasFailed = false;
        if (!isConsistent || slot < minSlot || !isAttached()) return;
        if (list.dependsOnClock || list.accounts.length > maxAccounts) this.#markIneligible(state);
        else if (this.#subscribeAccounts(state, list)) state.onRead(slot, list);
        if (ring !== undefined) subscriptions.history = recordList(ring, state) ?? subscriptions.history;
      }
    } catch (thrown) {
      subscriptions.hasFailed = true;
      if (isPermanent(thrown) && isAttached()) this.#markIneligible(state);
    }
  }

  /** Reads a list. With `work`, each request of it waits for the budget; a change that was notified doesn't wait. */
  #fetch(
    { address: owner, commitment, readList: known, hasIdentities: withIdentities }: TokenListState,
    minContextSlot: Slot | undefined,
    work?: BudgetedWork,
    maxAccounts?: number,
  ): Promise<TokenListRead> {
    const query = { owner, commitment, minContextSlot, known, withIdentities };
    const { pubsub, budget, agreement } = this.#options;
    const rpc = (work === 'audit' ? agreement?.witnessOf(pubsub.nodeId) : undefined) ?? pubsub;
    const paced = work === undefined ? rpc : budget.pacing(rpc, work);
    return readTokenList(paced, maxAccounts === undefined ? query : { ...query, maxAccounts });
  }

  async #reread(state: TokenListState): Promise<AuditRead | undefined> {
    try {
      const { slot, isConsistent, list } = await this.#fetch(state, undefined, 'audit');
      if (!isConsistent) return undefined;
      const { agreement } = this.#options;
      const audited = { slot, isUnchanged: () => state.list !== undefined && isSameList(list, state.list) };
      return agreement === undefined ? audited : { ...audited, settle: () => this.#settle(state, agreement, slot) };
    } catch {
      return undefined; // the node doesn't answer now; the next audit tries again
    }
  }

  /** Reads a list of several operators; undefined if no two of them agree. */
  async #settle(
    state: TokenListState,
    { rpc, operators }: OperatorAgreement,
    minContextSlot: Slot,
  ): Promise<AuditRead | undefined> {
    const { address: owner, commitment, readList: known } = state;
    const agree = decidingOf(operators);
    const read = await readTokenList(rpc, { owner, commitment, minContextSlot, known, agree });
    const { slot, isConsistent, list, agreement } = read;
    if (!isConsistent || agreedAt(agreement, slot) < 2) return undefined;
    return { slot, isUnchanged: () => state.list !== undefined && isSameList(list, state.list) };
  }

  /** Returns the list with a lease whose turn was longest ago, and puts it last. */
  #nextAudited(): readonly TokenListState[] {
    for (const [state, subscriptions] of this.#subscriptionsByState) {
      if (state.coveredSlot === undefined) continue;
      this.#subscriptionsByState.delete(state);
      this.#subscriptionsByState.set(state, subscriptions);
      return [state];
    }
    return [];
  }

  /** Subscribes to all that a list shows. Returns false when new subscriptions must be synced first. */
  #subscribeAccounts(state: TokenListState, list: TokenList): boolean {
    const subscriptions = this.#subscriptionsByState.get(state);
    if (subscriptions === undefined) return false;
    const named = this.#handlersFor(state, list);
    const paramsOf = (address: string) => [address, { encoding: 'base64', commitment: state.commitment }];
    const missing = [...named.keys()].filter((address) => !subscriptions.accounts.has(address));
    const unshared = missing.filter((address) => !this.#coalescer.has('accountSubscribe', paramsOf(address)));
    const isTooLong = unshared.length > this.connection.capacity && this.size === 1;
    if (isTooLong && list.identities !== undefined) {
      state.hasIdentities = false; // the list itself may find room without them
      return this.#subscribeAccounts(state, { ...list, identities: undefined });
    }
    for (const [address, unsubscribe] of subscriptions.accounts) {
      if (named.has(address)) continue;
      unsubscribe();
      subscriptions.accounts.delete(address);
    }
    if (missing.length === 0) return true;
    state.restartSync(subscriptions.programs.length + named.size);
    if (unshared.length > this.connection.capacity) {
      if (isTooLong) this.#markIneligible(state);
      else this.#options.onCapacityExceeded(state);
      return false;
    }
    subscriptions.pendingAcks += missing.length;
    for (const address of missing) {
      const handler = this.#handlerFor(state, parseEncodedAccount, named.get(address) ?? (() => {}));
      subscriptions.accounts.set(address, this.#coalescer.subscribe('accountSubscribe', paramsOf(address), handler));
    }
    return false;
  }

  /** Returns what handles the notifications of each account that a list shows, by address. */
  #handlersFor(state: TokenListState, { accounts, identities }: TokenList): Map<string, AccountHandler> {
    const handlers = new Map<string, AccountHandler>();
    for (const mint of new Set(accounts.map(({ token }) => token.mint))) {
      handlers.set(mint, (slot, account) => {
        if (!isDisplayUnchanged(state, mint, account)) this.#onChange(state, slot);
      });
      const { metadataAddress, embedded = null } = identities?.get(mint) ?? {};
      if (metadataAddress === undefined || embedded !== null) continue; // no other name counts beside one in the mint
      handlers.set(metadataAddress, (slot, account) => {
        if (!isNameUnchanged(state, mint, account)) this.#onChange(state, slot);
      });
    }
    for (const { address } of accounts)
      handlers.set(address, (slot, account) => this.#onAccount(state, slot, address, account));
    return handlers;
  }

  /** Returns a handler of notifications. After one that can't be decoded in a turn only a read, in turns, can show the list. */
  #handlerFor<A>(
    state: TokenListState,
    decode: (value: Buffer) => A,
    onAccount: (slot: Slot, account: A) => void,
  ): SubscriptionHandler {
    return {
      onAcknowledged: () => {
        const subscriptions = this.#subscriptionsByState.get(state);
        if (subscriptions === undefined || --subscriptions.pendingAcks > 0) return;
        const { pubsub, slotTimeMs } = this.#options;
        state.onSyncEvent({ name: 'acknowledged', marginSlots: marginSlotsOf(pubsub.isPooled, slotTimeMs()) });
        this.#readIfNeeded(state);
      },
      onNotification: (slot, value) => {
        const account = value.length > YIELD_EVERY_BYTES ? undefined : tryOrUndefined(() => decode(value));
        if (account === undefined) this.#onChange(state, slot);
        else onAccount(slot, account);
      },
      onRejected: () => this.#markIneligible(state),
      onRefused: () => {
        if (this.#subscriptionsByState.has(state)) this.#options.onCapacityExceeded(state);
      },
    };
  }

  /** Handles an account that was notified: applies it if it is subscribed to, else has the list read again. */
  #onAccount(state: TokenListState, slot: Slot, address: string, encoded: EncodedAccount): void {
    const listed = listedTokenAccount(address, encoded);
    const account = listed?.token.owner === state.address ? listed : undefined;
    const subscribed = this.#subscriptionsByState.get(state)?.accounts;
    // a multisig, which anyone can make, may have the address of the owner where a token account has it
    if (account === undefined && !subscribed?.has(address)) return;
    if (!subscribed?.has(address) || (account !== undefined && !subscribed.has(account.token.mint))) {
      this.#onChange(state, slot);
      return;
    }
    const leasedSlot = state.coveredSlot;
    if (!state.onAccountChange({ slot, address, account }))
      this.sessionAudit.invalidate(state, { leased: leasedSlot, notified: slot });
  }

  #onChange(state: TokenListState, slot: Slot): void {
    const leasedSlot = state.coveredSlot;
    if (!state.onNotification(slot, () => this.#readIfNeeded(state)))
      this.sessionAudit.invalidate(state, { leased: leasedSlot, notified: slot });
  }

  /** Stops keeping a list live that is too long or that a node rejects: it is read on every request from now on. */
  #markIneligible(state: TokenListState): void {
    this.remove(state);
    state.markIneligible(this.#options.tip('processed') ?? 0);
    this.#options.onIneligible(state);
  }
}

type AccountHandler = (slot: Slot, account: EncodedAccount) => void;

/** Returns true when a mint has changed only in members that a list doesn't show, such as its supply. */
function isDisplayUnchanged(
  { isCurrent, readList }: TokenListState,
  address: string,
  account: EncodedAccount,
): boolean {
  if (!isCurrent || !hasScale(account, readList?.scales.get(address))) return false;
  const identity = readList?.identities?.get(address);
  const mint = decodeMint(account);
  if (readList?.identities === undefined || mint === undefined) return identity === undefined;
  const { isNft, embedded } = identityInMint(address, mint);
  return identity?.isNft === isNft && isSameName(identity.embedded, embedded);
}

/** Returns true when a mint's Metaplex account has changed only in members that a list doesn't show. */
function isNameUnchanged({ isCurrent, readList }: TokenListState, mint: string, account: EncodedAccount): boolean {
  const identity = readList?.identities?.get(mint);
  return isCurrent && identity !== undefined && isSameName(identity.metaplex, nameInMetaplexAccount(mint, account));
}

const isPermanent = (thrown: unknown): boolean => !(thrown instanceof GatewayError) || isRefusal(thrown);
