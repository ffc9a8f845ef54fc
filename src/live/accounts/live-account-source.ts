import type { AccountSubscriber } from '../../domain/account-change.ts';
import type { Commitment } from '../../domain/commitment.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import type { Lease } from '../../domain/lease.ts';
import type { Slot } from '../../domain/slot.ts';
import type { AccountQuery, AccountRead, AccountSource } from '../../upstream/reads/account-batcher.ts';
import { doubleRead } from '../initial-sync.ts';
import { LiveSet, type LiveSetStats, type LiveSourceOptions, type LiveSourceSettings } from '../live-set.ts';
import { accountBytes, dependsOnClock, isSameAccount, lamportsOf, toAccountJson } from './account-json.ts';
import { AccountSession } from './account-session.ts';
import { AccountState, type UpdateResult } from './account-state.ts';

/** The `watch` part of the config, as far as it is about accounts. */
export interface LiveAccountSettings extends LiveSourceSettings {
  /** How many accounts are watched at a time, each commitment counted for itself. */
  readonly accounts: number;
  /** An account whose JSON is longer is not kept. */
  readonly maxAccountBytes: number;
}

export interface LiveAccountSourceOptions extends LiveSourceOptions<LiveAccountSettings> {
  /** Reads what is not kept live. */
  readonly upstream: AccountSource;
}

/** Keeps the accounts live that are read again and again, for all readers together. */
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

  /** Reads an account: at once when it is kept live, else from the upstream. What is read often is kept live soon. */
  async read(query: AccountQuery): Promise<AccountRead> {
    const { address, commitment, minContextSlot = 0 } = query;
    const key = `${commitment}/${address}`;
    const account = this.#liveSet.get(key) ?? this.#addIfHot(key, address, commitment);
    if (account === undefined) return this.#options.upstream.read(query);
    account.tipAtLastRead = this.#liveSet.tip;
    const fromState = readFromState(account, query, this.#liveSet.tip);
    if (fromState !== undefined) return fromState;
    const floor = Math.max(minContextSlot, account.slot);
    const reading = await this.#options.upstream.read({ ...query, minContextSlot: floor > 0 ? floor : undefined });
    return { ...reading, lease: leaseFor(account, reading, query) };
  }

  /**
   * Keeps an account watched, whether it is read or not, and tells of its news until the returned function is called.
   * Throws `overloaded` when no more can be watched, and what is told by `onEnd` when it has turned out of late that
   * this one can't be.
   */
  subscribe(address: string, commitment: Commitment, subscriber: AccountSubscriber): () => void {
    const key = `${commitment}/${address}`;
    const account = this.#liveSet.get(key) ?? this.#add(key, address, commitment);
    if (account === undefined) throw new GatewayError('overloaded', 'no more accounts can be watched');
    if (account.ineligibility !== undefined) throw account.ineligibility.reason;
    const subscribers = this.#subscribers.get(account) ?? new Set();
    this.#subscribers.set(account, subscribers.add(subscriber));
    return () => {
      subscribers.delete(subscriber);
      if (subscribers.size === 0) this.#subscribers.delete(account);
    };
  }

  /** Watches an account that has become hot. A processed state lives one slot: it is watched for followers only. */
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

  /** It is not tried again for a while, by readers or followers. */
  #endSubscriptions(account: AccountState, reason: GatewayError): void {
    account.ineligibility = { reason, tip: this.#liveSet.tip };
    const subscribers = this.#subscribers.get(account) ?? [];
    this.#subscribers.delete(account);
    for (const subscriber of subscribers) subscriber.onEnd(reason);
  }

  #notify(account: AccountState, result: UpdateResult, slot: Slot): void {
    const isReorg = result === 'rolled-back';
    // What took its place is known only from the next slot on: the same slot again would be a step back.
    const fromSlot = isReorg ? Math.max(slot, account.slot + 1) : slot;
    for (const subscriber of this.#subscribers.get(account) ?? []) subscriber.onChange({ slot: fromSlot, isReorg });
  }
}

/**
 * What vouches for a reading that is newer than what the proof has come to: it says the same as what is kept live, so
 * it holds at its own slot, and at those that the proof comes to later.
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

/** What is kept of an account, if it may answer the query. */
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
  };
}
