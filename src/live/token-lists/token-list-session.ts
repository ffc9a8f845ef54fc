import type { Commitment } from '../../domain/commitment.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import { SLOT_MS, type Slot } from '../../domain/slot.ts';
import { TOKEN_PROGRAMS } from '../../solana/accounts/token-program-accounts.ts';
import { hasScale } from '../../tokens/mint-scales.ts';
import { isSameList, readTokenList, type TokenList, type TokenListRead } from '../../tokens/token-list.ts';
import type { ClockUpdate, SubscriptionHandler } from '../../upstream/pubsub/pubsub-session.ts';
import { parseEncodedAccount } from '../../upstream/reads/encoded-accounts.ts';
import { BoundedWait } from '../bounded-wait.ts';
import { SessionAudit, type SessionOptions } from '../session-audit.ts';
import { SubscriptionCoalescer } from './subscription-coalescer.ts';
import type { TokenListState } from './token-list-state.ts';

export interface TokenListSessionOptions extends SessionOptions<TokenListState> {
  /** A list with more accounts is not kept live. */
  readonly maxAccounts: number;
  /** There is no room on this connection for all that a list has become. */
  onCapacityExceeded(state: TokenListState): void;
}

/** The subscriptions of one list. */
interface ListSubscriptions {
  /** Of the accounts that it names, and their mints. */
  readonly accounts: Map<string, () => void>;
  readonly programs: (() => void)[];
  /** How many have not been acknowledged. */
  pendingAcks: number;
  isReading: boolean;
}

/** Readers wait so long for a reading of the line's node; then they are better off with the others. */
const MAX_READ_WAIT_MS = SLOT_MS;

/** Where a token account names its owner: https://github.com/solana-program/token/blob/main/interface/src/state.rs */
const OWNER_OFFSET = 32;

/**
 * One connection, and the token lists that are watched over it. A program's subscription tells of new and changed
 * accounts of an owner; that of the account itself tells when it is closed or given away; that of a mint, when amounts
 * come to be shown otherwise.
 */
export class TokenListSession {
  readonly #options: TokenListSessionOptions;
  readonly #subscriptionsByState = new Map<TokenListState, ListSubscriptions>();
  readonly #coalescer: SubscriptionCoalescer;
  readonly #sessionAudit: SessionAudit<TokenListState>;

  constructor(options: TokenListSessionOptions) {
    this.#options = options;
    this.#coalescer = new SubscriptionCoalescer(options.pubsub);
    this.#sessionAudit = new SessionAudit({
      session: options,
      states: () => this.#subscriptionsByState.keys(),
      reread: async (state) => {
        const { slot, isConsistent, list } = await this.#fetch(state, undefined);
        return isConsistent
          ? { slot, isUnchanged: () => state.list !== undefined && isSameList(list, state.list) }
          : undefined;
      },
      onClockUpdate: (commitment, update) => this.#onClockUpdate(commitment, update),
      onLost: () => {
        for (const state of this.#subscriptionsByState.keys()) state.pendingRead?.finish();
        this.#subscriptionsByState.clear();
      },
    });
  }

  get capacity(): number {
    return this.#options.pubsub.capacity;
  }

  get size(): number {
    return this.#subscriptionsByState.size;
  }

  add(state: TokenListState): void {
    const { owner, commitment } = state;
    const programs = Object.values(TOKEN_PROGRAMS);
    if (this.capacity < programs.length) {
      this.#markIneligible(state);
      return;
    }
    const subscriptions: ListSubscriptions = {
      accounts: new Map(),
      programs: [],
      pendingAcks: programs.length,
      isReading: false,
    };
    this.#subscriptionsByState.set(state, subscriptions);
    state.attach(this.#sessionAudit.watermarkOf(commitment));
    const filters = [{ memcmp: { offset: OWNER_OFFSET, bytes: owner } }];
    for (const program of programs) {
      const params = [program, { encoding: 'base64', commitment, filters }];
      const handler = this.#handlerFor(state, (slot) => this.#onChange(state, slot));
      subscriptions.programs.push(this.#coalescer.subscribe('programSubscribe', params, handler));
    }
  }

  remove(state: TokenListState): void {
    const { accounts, programs } = this.#subscriptionsByState.get(state) ?? {};
    this.#subscriptionsByState.delete(state);
    for (const unsubscribe of [...(accounts?.values() ?? []), ...(programs ?? [])]) unsubscribe();
    if (accounts === undefined) return;
    state.detach();
    state.pendingRead?.finish();
  }

  checkLag(commitment: Commitment): void {
    this.#sessionAudit.checkLag(commitment);
  }

  /** Reads again all that is kept live, and compares. Resolves to how many were compared. */
  audit(): Promise<number> {
    return this.#sessionAudit.audit();
  }

  #onClockUpdate(commitment: Commitment, { slot, previous }: ClockUpdate): void {
    // Behind a slot that was skipped, or that a late node never told of: a program tells of no change after its slot.
    const isGap = previous !== undefined && slot > previous + 1;
    for (const state of this.#subscriptionsByState.keys()) {
      if (state.commitment !== commitment) continue;
      state.onSyncEvent({ name: 'clock-update', slot });
      if (isGap) this.#onChange(state, slot);
      this.#readIfNeeded(state);
    }
  }

  /** Reads a list that wants to be read. When that fails, it is read again at the next beacon. */
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

  /** What is read when the list has gone to another line meanwhile, or comes back to this one, tells nothing. */
  async #readUntilCurrent(state: TokenListState, subscriptions: ListSubscriptions): Promise<void> {
    const isAttached = (): boolean => this.#subscriptionsByState.get(state) === subscriptions;
    try {
      for (
        let minSlot = state.pendingReadMinSlot;
        minSlot !== undefined && isAttached();
        minSlot = state.pendingReadMinSlot
      ) {
        const { slot, isConsistent, list } = await this.#fetch(state, minSlot);
        if (!isConsistent || slot < minSlot || !isAttached()) return;
        if (list.dependsOnClock || list.accounts.length > this.#options.maxAccounts) this.#markIneligible(state);
        else if (this.#subscribeAccounts(state, list)) state.onRead(slot, list);
      }
    } catch (thrown) {
      if (isPermanent(thrown) && isAttached()) this.#markIneligible(state);
    }
  }

  #fetch(state: TokenListState, minContextSlot: Slot | undefined): Promise<TokenListRead> {
    const { owner, commitment, list: known } = state;
    return readTokenList(this.#options.pubsub, { owner, commitment, minContextSlot, known });
  }

  /** Subscribes to what a list has come to name. False when its silence means nothing as yet. */
  #subscribeAccounts(state: TokenListState, { accounts }: TokenList): boolean {
    const subscriptions = this.#subscriptionsByState.get(state);
    if (subscriptions === undefined) return false;
    const mints = new Set(accounts.map(({ token }) => token.mint));
    const named = new Set([...accounts.map(({ address }) => address), ...mints]);
    for (const [address, unsubscribe] of subscriptions.accounts) {
      if (named.has(address)) continue;
      unsubscribe();
      subscriptions.accounts.delete(address);
    }
    const missing = [...named].filter((address) => !subscriptions.accounts.has(address));
    if (missing.length === 0) return true;
    state.restartSync(subscriptions.programs.length + named.size);
    const { commitment } = state;
    const paramsOf = (address: string) => [address, { encoding: 'base64', commitment }];
    const unshared = missing.filter((address) => !this.#coalescer.has('accountSubscribe', paramsOf(address)));
    if (unshared.length > this.capacity) {
      if (this.size === 1) this.#markIneligible(state);
      else this.#options.onCapacityExceeded(state);
      return false;
    }
    subscriptions.pendingAcks += missing.length;
    for (const address of missing) {
      const isMint = mints.has(address);
      const handler = this.#handlerFor(state, (slot, value) => {
        if (!isMint || !isDisplayUnchanged(state, address, value)) this.#onChange(state, slot);
      });
      subscriptions.accounts.set(address, this.#coalescer.subscribe('accountSubscribe', paramsOf(address), handler));
    }
    return false;
  }

  #handlerFor(state: TokenListState, onNotification: SubscriptionHandler['onNotification']): SubscriptionHandler {
    return {
      onAcknowledged: () => {
        const subscriptions = this.#subscriptionsByState.get(state);
        if (subscriptions === undefined || --subscriptions.pendingAcks > 0) return;
        state.onSyncEvent({ name: 'acknowledged', isPooled: this.#options.pubsub.isPooled });
        this.#readIfNeeded(state);
      },
      onNotification,
      onRejected: () => this.#markIneligible(state),
    };
  }

  #onChange(state: TokenListState, slot: Slot): void {
    const leasedSlot = state.lease?.slot;
    if (!state.onNotification(slot, () => this.#readIfNeeded(state)))
      this.#sessionAudit.invalidate(state, { claimed: leasedSlot, told: slot });
  }

  /** No more is heard of a list that is too long, or that a node refuses to tell of: it is read when it is asked for. */
  #markIneligible(state: TokenListState): void {
    this.remove(state);
    state.markIneligible(this.#options.tip('processed') ?? 0);
  }
}

/** True when a mint has changed only in what a list doesn't show, such as its supply. */
const isDisplayUnchanged = ({ lease, list }: TokenListState, mint: string, account: Buffer): boolean =>
  lease !== undefined && hasScale(parseEncodedAccount(account), list?.scales.get(mint));

/** True of a refusal that asking again won't change. */
function isPermanent(thrown: unknown): boolean {
  if (!(thrown instanceof GatewayError)) return true;
  return thrown.code === 'result_too_large' || (thrown.code === 'rpc_error' && thrown.status !== 503);
}
