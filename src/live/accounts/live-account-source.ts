import type { Config } from '../../config/config-schema.ts';
import type { AccountSubscriber } from '../../domain/account-change.ts';
import type { Commitment } from '../../domain/commitment.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import type { Lease } from '../../domain/lease.ts';
import type { Slot } from '../../domain/slot.ts';
import type {
  AccountQuery,
  AccountRead,
  AccountSource,
  BalancesQuery,
  BalancesRead,
} from '../../upstream/reads/account-batcher.ts';
import { doubleRead } from '../initial-sync.ts';
import { LiveSet, type LiveSetStats, type LiveSourceOptions, type LiveSourceSettings } from '../live-set.ts';
import { accountBytes, dependsOnClock, isSameAccount, lamportsOf, toAccountJson } from './account-json.ts';
import { AccountSession } from './account-session.ts';
import { AccountState, type UpdateResult } from './account-state.ts';
import { balancesFromStates, balancesLease } from './live-balances.ts';

/** The part of the config section `watch` that is about accounts. */
export type LiveAccountSettings = LiveSourceSettings & Pick<Config['watch'], 'accounts' | 'maxAccountBytes'>;

export interface LiveAccountSourceOptions extends LiveSourceOptions<LiveAccountSettings> {
  /** The source of accounts that are not kept live. */
  readonly upstream: AccountSource;
}

/** Reads accounts, and keeps those live that are read often. */
export class LiveAccountSource implements AccountSource {
  readonly stats: LiveSetStats;
  readonly #options: LiveAccountSourceOptions;
  readonly #liveSet: LiveSet<AccountState, AccountSession>;
  readonly #subscribers = new Map<AccountState, Set<AccountSubscriber>>();

  constructor(options: LiveAccountSourceOptions) {
    const { settings } = options;
    this.#options = options;
    this.#liveSet = new LiveSet({
      ...options,
      maxSize: settings.accounts,
      maxAudited: settings.accounts,
      hasSubscribers: (account) => this.#subscribers.has(account),
      describe: ({ address, commitment }) => ({ address, commitment }),
      createSession: (session) =>
        new AccountSession({
          ...session,
          maxAccountBytes: settings.maxAccountBytes,
          onChange: (account, result, slot) => this.#notify(account, result, slot),
          onIneligible: (account, reason) => this.#endSubscriptions(account, reason),
        }),
    });
    this.stats = this.#liveSet;
  }

  /** Reads an account: from memory when it is kept live, else from the upstream. Keeps it live once it is hot. */
  async read(query: AccountQuery): Promise<AccountRead> {
    const { address, commitment, minContextSlot = 0 } = query;
    const account = this.#recordRead(address, commitment);
    if (account === undefined) return this.#options.upstream.read(query);
    const fromState = readFromState(account, query, this.#liveSet.tip);
    if (fromState !== undefined) return fromState;
    const floor = Math.max(minContextSlot, account.slot);
    const fetched = await this.#options.upstream.read({ ...query, minContextSlot: floor > 0 ? floor : undefined });
    return { ...fetched, lease: leaseFor(account, fetched, query) };
  }

  /** Reads balances at one slot: from memory when that slot is known of all accounts, else in one call for all. */
  async readBalances(query: BalancesQuery): Promise<BalancesRead> {
    const { addresses, commitment, minContextSlot = 0 } = query;
    const accounts = addresses.map((address) => this.#recordRead(address, commitment));
    const fromStates = balancesFromStates(accounts, minContextSlot);
    if (fromStates !== undefined) return fromStates;
    const floor = Math.max(minContextSlot, ...accounts.map((account) => account?.slot ?? 0));
    const read = await this.#options.upstream.readBalances({ ...query, minContextSlot: floor > 0 ? floor : undefined });
    return { ...read, lease: balancesLease(accounts, read) };
  }

  /**
   * Keeps an account live, whether it is read or not, and reports its changes until the returned function is called.
   * Throws `overloaded` when the set is full, and the reason that `onEnd` receives when the account is ineligible.
   */
  subscribe(address: string, commitment: Commitment, subscriber: AccountSubscriber): () => void {
    const key = `${commitment}/${address}`;
    const account = this.#liveSet.get(key) ?? this.#add(key, address, commitment);
    if (account === undefined)
      throw new GatewayError('overloaded', 'too many accounts are subscribed to; unsubscribe from some or try later');
    if (account.ineligibility !== undefined) throw account.ineligibility.reason;
    const subscribers = this.#subscribers.get(account) ?? new Set();
    this.#subscribers.set(account, subscribers.add(subscriber));
    return () => {
      subscribers.delete(subscriber);
      if (subscribers.size === 0) this.#subscribers.delete(account);
    };
  }

  /** Checks sessions and idle accounts when the cluster's tip at a commitment has advanced. */
  onTip(commitment: Commitment): void {
    this.#liveSet.onTip(commitment);
  }

  /** Re-reads all accounts that have a lease and compares them. A timer calls this each `auditMs`; tests call it too. */
  audit(): Promise<void> {
    return this.#liveSet.audit();
  }

  close(): void {
    this.#liveSet.close();
  }

  /** Records a read of an account. Returns its state if it is kept live, or is from this read on. */
  #recordRead(address: string, commitment: Commitment): AccountState | undefined {
    const key = `${commitment}/${address}`;
    const account = this.#liveSet.get(key) ?? this.#addIfHot(key, address, commitment);
    if (account !== undefined) account.holder.tipAtLastRead = this.#liveSet.tip;
    return account;
  }

  /** Adds an account that has become hot. A processed state holds for one slot: only subscribers have it kept live. */
  #addIfHot(key: string, address: string, commitment: Commitment): AccountState | undefined {
    return commitment === 'processed'
      ? undefined
      : this.#liveSet.addIfHot(key, () => this.#createState(address, commitment));
  }

  #add(key: string, address: string, commitment: Commitment): AccountState | undefined {
    return this.#liveSet.add(key, () => this.#createState(address, commitment));
  }

  #createState(address: string, commitment: Commitment): AccountState {
    return new AccountState(address, commitment, this.#options.initialSync ?? doubleRead, this.#liveSet.tip);
  }

  /** Ends all subscriptions to an account that can't be kept live. It is retried after `idleSlots`. */
  #endSubscriptions(account: AccountState, reason: GatewayError): void {
    account.ineligibility = { reason, tip: this.#liveSet.tip };
    const subscribers = this.#subscribers.get(account) ?? [];
    this.#subscribers.delete(account);
    for (const subscriber of subscribers) subscriber.onEnd(reason);
  }

  #notify(account: AccountState, result: UpdateResult, slot: Slot): void {
    const isReorg = result === 'rolled-back';
    // The state that replaces it is known only from the next slot on: the same slot again would be a step back.
    const fromSlot = isReorg ? Math.max(slot, account.slot + 1) : slot;
    for (const subscriber of this.#subscribers.get(account) ?? []) subscriber.onChange({ slot: fromSlot, isReorg });
  }
}

/**
 * Returns the lease for an account that was read at a slot that the lease doesn't cover yet: if the read equals the
 * state that is kept live, it holds at its own slot and at all slots that the lease advances to.
 */
function leaseFor(
  account: AccountState,
  { slot, account: current }: AccountRead,
  query: AccountQuery,
): Lease | undefined {
  const { lease, json } = account;
  if (lease?.state !== 'active' || slot < account.slot) return undefined;
  const read = toAccountJson(current);
  if (query.shape === 'parsed') return !dependsOnClock(current) && isSameAccount(read, json) ? lease : undefined;
  return lamportsOf(read) === lamportsOf(json) ? lease : undefined;
}

/** Answers a query from the state that is kept live; undefined when that state can't answer it. */
function readFromState(account: AccountState, query: AccountQuery, tip: Slot): AccountRead | undefined {
  const { lease, commitment } = account;
  const { minContextSlot = 0, shape } = query;
  const isCurrentProcessed = commitment === 'processed' && account.isKnown && account.slot >= tip - 1;
  if (lease?.state !== 'active' && !isCurrentProcessed) return undefined;
  const slot = lease?.slot ?? account.slot;
  if (slot < minContextSlot) return undefined;
  const json = accountBytes(account.json);
  if (shape === 'parsed' && slot > account.slot && dependsOnClock(json)) return undefined;
  return {
    slot,
    sinceSlot: account.slot,
    account: json,
    lease: shape === 'parsed' && dependsOnClock(json) ? undefined : lease,
    previous: account.previous,
  };
}
