import type { Config } from '../../../config/config-schema.ts';
import type { AccountSubscriber, AccountSubscription } from '../../../shared/domain/account-change.ts';
import type { Commitment } from '../../../shared/domain/commitment.ts';
import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import type { Lease } from '../../../shared/domain/lease.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import { ownText } from '../../../shared/runtime/own-text.ts';
import { promised, settle, type Waiter } from '../../../shared/runtime/waiter.ts';
import type {
  AccountQuery,
  AccountRead,
  AccountSource,
  BalancesQuery,
  BalancesRead,
} from '../../upstream/reads/account-batcher.ts';
import type { VersionRing } from '../feed/version-ring.ts';
import { LiveSet, type LiveSourceOptions, type LiveSourceSettings } from '../live-set.ts';
import type { LiveRules } from '../live-state.ts';
import type { ReadHeat } from '../read-heat.ts';
import { readWhenCovered } from '../read-when-covered.ts';
import {
  type AccountJson,
  accountBytes,
  dependsOnClock,
  isSameAccount,
  lamportsOf,
  toAccountJson,
} from './account-json.ts';
import { AccountSession } from './account-session.ts';
import { AccountState, type UpdateResult } from './account-state.ts';
import { type FeedSource, GeyserFeed, type GeyserFeedOptions } from './geyser-feed.ts';
import { balancesFromStates, balancesLease, type LeaseOf } from './live-balances.ts';
import { denyRecorded, recordAccount } from './past-accounts.ts';
import { SecondedLease, type Seconding } from './seconded-lease.ts';

/** The part of the config section `live` that is about accounts. */
export type LiveAccountSettings = LiveSourceSettings & Pick<Config['live'], 'accounts' | 'maxAccountBytes'>;

export interface LiveAccountSourceOptions extends LiveSourceOptions<LiveAccountSettings> {
  readonly upstream: AccountSource;
  /** Keeps past versions of what is live; undefined where another process does. */
  readonly ring?: VersionRing | undefined;
  /** The Geyser feed that keeps accounts live while it may be used; undefined for none. */
  readonly feed?: Omit<GeyserFeedOptions, 'onUp'> | undefined;
}

interface Subscription {
  readonly subscriber: AccountSubscriber;
  readonly callers: string[];
}

export class LiveAccountSource implements AccountSource {
  readonly liveSet: LiveSet<AccountState, AccountJson>;
  /**
   * Keeps what is live at finalized over another operator too: both together vouch for it all the time. Undefined where no two
   * operators are needed, or more.
   */
  readonly secondSet: LiveSet<AccountState, AccountJson> | undefined;
  /** The Geyser feed; undefined where none is configured. */
  readonly feed: GeyserFeed | undefined;
  readonly #options: LiveAccountSourceOptions;
  readonly #subscriptions = new Map<AccountState, Set<Subscription>>();
  readonly #seconding: Seconding | undefined;

  constructor(options: LiveAccountSourceOptions) {
    const { settings, ring } = options;
    this.#options = options;
    const callbacks: FeedSource = {
      maxAccountBytes: settings.maxAccountBytes,
      onChange: (account, result, slot) => this.#notify(account, result, slot),
      reassign: (account) => this.liveSet.reassign(account),
      onIneligible: (account, reason) => this.#markIneligible(account, reason),
    };
    this.feed = options.feed && new GeyserFeed({ ...options.feed, onUp: () => this.liveSet.onFeedUp() }, callbacks);
    const kept = {
      maxSize: settings.accounts,
      maxAudited: settings.accounts,
      createState: (address: string, commitment: Commitment, rules: LiveRules, heat: ReadHeat) =>
        new AccountState(ownText(address), commitment, rules, heat),
    };
    this.liveSet = new LiveSet({
      ...options,
      ...kept,
      feed: this.feed,
      onOpened: () => setImmediate(() => this.#separate()),
      onEvicted: (account) => this.#endAll(account, displacedError()),
      createSession: (session) => new AccountSession({ ...session, ...callbacks, ring }),
      onFollowedChange: (account, slot) => this.#notify(account, 'changed', slot),
      onFollowedLease: ring && ((account, isWrong) => (isWrong ? denyRecorded(account) : recordAccount(ring, account))),
      applyProcessed: (account, slot, json) => this.#applyProcessed(account, slot, json),
      onNotFollowed: (account) => this.#markIneligible(account, noPlaceError()),
    });
    const { mesh } = options;
    const { agreement } = mesh;
    if (agreement?.needed !== 2) return;
    const second = new LiveSet<AccountState, AccountJson>({
      ...options,
      ...kept,
      feed: undefined,
      mesh: {
        agreement,
        tip: (commitment) => mesh.tip(commitment),
        get slotTimeMs() {
          return mesh.slotTimeMs;
        },
        openSession: () => agreement.openSessionBeside(() => this.liveSet.nodeIds),
      },
      createSession: (session) =>
        new AccountSession({
          ...session,
          maxAccountBytes: settings.maxAccountBytes,
          onChange() {},
          onIneligible: (account, reason) => {
            account.ineligibility = { reason, tip: second.tip };
          },
          reassign: (account) => second.reassign(account),
        }),
      onOpened: () => setImmediate(() => this.#separate()),
      onNotFollowed() {},
    });
    this.secondSet = second;
    this.#seconding = {
      secondOf: ({ address, commitment, rank, tipAtLastRead = second.tip }) =>
        second.keepFor(address, commitment, { rank, tipAtLastRead }),
      areOfTwoOperators: (nodeId, other) => agreement.areOfTwoOperators(nodeId, other),
    };
  }

  /** Returns the lease by which readers date an account: at finalized with the voice of a second operator, where it has one. */
  readonly #leaseOf = (account: AccountState): Lease | undefined => {
    const { lease, commitment } = account;
    const isOverNode = lease?.watermark.nodeId !== undefined; // another gateway has sessions of its own
    if (!isOverNode || commitment !== 'finalized' || this.#seconding === undefined) return lease;
    if (account.seconded?.first !== lease) account.seconded = new SecondedLease(lease, account, this.#seconding);
    return account.seconded;
  };

  /** Ends the second sessions with an operator of the first ones: they move to another. */
  #separate(): void {
    const { agreement } = this.#options.mesh;
    const first = this.liveSet.nodeIds;
    for (const nodeId of this.secondSet?.nodeIds ?? [])
      if (first.some((other) => agreement?.areOfTwoOperators(nodeId, other) === false))
        this.secondSet?.distrust(nodeId);
  }

  readTo(query: AccountQuery, waiter: Waiter<AccountRead>): void {
    const account = this.#recordRead(query.address, query.commitment, query.cost?.caller);
    if (account === undefined || query.mustAgree === true) this.#options.upstream.readTo(query, waiter);
    else settle(() => this.#readThrough(account, query), waiter);
  }

  read(query: AccountQuery): Promise<AccountRead> {
    return promised((waiter) => void this.readTo(query, waiter));
  }

  async #readThrough(account: AccountState, query: AccountQuery): Promise<AccountRead> {
    const { commitment, minContextSlot = 0, mayWait = false } = query;
    const { clock, mesh } = this.#options;
    const fromState = await readWhenCovered({
      minSlot: minContextSlot,
      tip: mesh.tip(commitment),
      read: () => readFromState(account, query, this.liveSet.tip, this.#leaseOf),
      leaseOf: () => (mayWait ? account.lease : undefined),
      clock,
      slotTimeMs: mesh.slotTimeMs,
    });
    if (fromState !== undefined) return fromState;
    const floor = Math.max(minContextSlot, account.slot);
    const fetched = await this.#options.upstream.read({ ...query, minContextSlot: floor > 0 ? floor : undefined });
    return { ...fetched, lease: leaseFor(account, fetched, query, this.#leaseOf) };
  }

  readLive(query: AccountQuery): AccountRead | undefined {
    const account = this.liveSet.get(query.address, query.commitment);
    const read = account && readFromState(account, query, this.liveSet.tip, this.#leaseOf);
    if (read !== undefined) this.#recordHeat(account);
    return read;
  }

  /** Reads balances at one slot: from memory when that slot is known of all accounts, else in one call for all. */
  async readBalances(query: BalancesQuery): Promise<BalancesRead> {
    const { addresses, commitment, minContextSlot = 0, cost } = query;
    const accounts = addresses.map((address) => this.#recordRead(address, commitment, cost?.caller));
    if (query.mustAgree === true) return this.#options.upstream.readBalances(query);
    const fromStates = this.#balancesFromStates(accounts, minContextSlot);
    if (fromStates !== undefined) return fromStates;
    const floor = Math.max(minContextSlot, ...accounts.map((account) => account?.slot ?? 0));
    const read = await this.#options.upstream.readBalances({ ...query, minContextSlot: floor > 0 ? floor : undefined });
    return { ...read, lease: balancesLease(accounts, read, this.#leaseOf) };
  }

  readLiveBalances({ addresses, commitment, minContextSlot = 0 }: BalancesQuery): BalancesRead | undefined {
    const accounts = addresses.map((address) => this.liveSet.get(address, commitment));
    const read = this.#balancesFromStates(accounts, minContextSlot);
    if (read !== undefined) for (const account of accounts) this.#recordHeat(account);
    return read;
  }

  /** A slot that the second operator has not reached is the word of one. */
  #balancesFromStates(accounts: readonly (AccountState | undefined)[], minSlot: Slot): BalancesRead | undefined {
    return (
      balancesFromStates(accounts, minSlot, this.#leaseOf) ??
      balancesFromStates(accounts, minSlot, ({ lease }) => lease)
    );
  }

  /** Throws `overloaded` when the caller can have no place, and what `onEnd` gets when the account is ineligible. */
  subscribe(
    address: string,
    commitment: Commitment,
    subscriber: AccountSubscriber,
    firstCaller: string,
  ): AccountSubscription {
    const known = this.liveSet.get(address, commitment);
    if (known?.ineligibility !== undefined) throw known.ineligibility.reason;
    const account = this.liveSet.subscribe(address, commitment, firstCaller);
    if (account === undefined) throw noPlaceError();
    const subscription: Subscription = { subscriber, callers: [firstCaller] };
    const { callers } = subscription;
    this.#subscriptions.set(account, (this.#subscriptions.get(account) ?? new Set()).add(subscription));
    return {
      addCaller: (caller) => {
        if (this.liveSet.subscribe(address, commitment, caller) !== undefined) callers.push(caller);
      },
      removeCaller: (caller) => {
        if (!callers.includes(caller)) return; // the subscription has ended
        callers.splice(callers.indexOf(caller), 1);
        this.liveSet.unsubscribe(address, commitment, caller);
      },
      end: () => this.#end(account, subscription),
    };
  }

  /** Records a read of an account. Returns its state if it is kept live, or is from this read on. */
  #recordRead(address: string, commitment: Commitment, caller: string | undefined): AccountState | undefined {
    const account = this.liveSet.getOrAdd(address, commitment, caller);
    this.#recordHeat(account);
    return account;
  }

  /**
   * Counts a read of an account. One with subscribers is read after each change, for whom is unknown: it counts as read
   * when the cache answers with its lease.
   */
  #recordHeat(account: AccountState | undefined): void {
    if (account !== undefined && !this.#subscriptions.has(account)) account.recordRead(this.liveSet.tip);
  }

  #end(account: AccountState, subscription: Subscription): void {
    const subscriptions = this.#subscriptions.get(account);
    subscriptions?.delete(subscription);
    if (subscriptions?.size === 0) this.#subscriptions.delete(account);
    const { address, commitment } = account;
    for (const caller of subscription.callers.splice(0)) this.liveSet.unsubscribe(address, commitment, caller);
  }

  #endAll(account: AccountState, reason: GatewayError): void {
    for (const subscription of [...(this.#subscriptions.get(account) ?? [])]) {
      this.#end(account, subscription);
      subscription.subscriber.onEnd(reason);
    }
  }

  /** It keeps its place: it is tried again after `idleMs`. */
  #markIneligible(account: AccountState, reason: GatewayError): void {
    account.ineligibility = { reason, tip: this.liveSet.tip };
    this.#endAll(account, reason);
    this.liveSet.observer?.onLeft(account);
  }

  #applyProcessed(account: AccountState, slot: Slot, json: AccountJson | undefined): void {
    const result = json === undefined ? account.rollback() : account.onNotification(slot, json);
    if (result !== 'ignored' && result !== 'unchanged') this.#notify(account, result, slot);
  }

  #notify(account: AccountState, result: UpdateResult, slot: Slot): void {
    const isReorg = result === 'rolled-back';
    if (account.commitment === 'processed') this.liveSet.observer?.onProcessed(account, isReorg);
    // The state that replaces it is known only from the next slot on: the same slot again would be a step back.
    const fromSlot = isReorg ? Math.max(slot, account.slot + 1) : slot;
    for (const { subscriber } of this.#subscriptions.get(account) ?? [])
      subscriber.onChange({ slot: fromSlot, isReorg });
  }
}

const noPlaceError = (): GatewayError =>
  new GatewayError('overloaded', 'no place is left for another live account: unsubscribe from some or try later');

const displacedError = (): GatewayError =>
  new GatewayError(
    'overloaded',
    'another caller needs the place of this account, and you subscribe to more than your share: try again later',
  );

/** If the read equals the state that is kept live, it holds at all slots that the lease of that advances to. */
function leaseFor(
  account: AccountState,
  { slot, account: current }: AccountRead,
  query: AccountQuery,
  leaseOf: LeaseOf,
): Lease | undefined {
  const { json } = account;
  const lease = leaseOf(account);
  if (lease?.state !== 'active' || slot < account.slot) return undefined;
  const read = toAccountJson(current);
  if (query.shape === 'parsed') return !dependsOnClock(current) && isSameAccount(read, json) ? lease : undefined;
  return lamportsOf(read) === lamportsOf(json) ? lease : undefined;
}

function readFromState(
  account: AccountState,
  query: AccountQuery,
  tip: Slot,
  leaseOf: LeaseOf,
): AccountRead | undefined {
  const { minContextSlot = 0, shape } = query;
  const seconded = leaseOf(account);
  // A slot that the second operator has not reached is the word of one.
  const lease = seconded !== undefined && seconded.slot < minContextSlot ? account.lease : seconded;
  const isCurrentProcessed = account.commitment === 'processed' && account.isKnown && account.slot >= tip - 1;
  const slot = lease?.slot ?? account.slot;
  if ((lease?.state !== 'active' && !isCurrentProcessed) || slot < minContextSlot) return undefined;
  const json = accountBytes(account.json);
  const followsClock = shape === 'parsed' && dependsOnClock(json);
  if (followsClock && slot > account.slot) return undefined;
  return {
    slot,
    sinceSlot: account.slot,
    provenFrom: account.provenFrom,
    agreement: followsClock ? undefined : lease?.agreement, // not all of it was compared
    account: json,
    lease: followsClock ? undefined : lease,
    previous: account.previous,
  };
}
