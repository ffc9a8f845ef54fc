import type { Follower } from '../../domain/account-news.ts';
import type { Commitment } from '../../domain/commitment.ts';
import { GatewayError } from '../../domain/error.ts';
import type { Proof } from '../../domain/proof.ts';
import type { Slot } from '../../domain/slot.ts';
import type { AccountQuery, AccountRead, AccountSource } from '../../upstream/reads/account-batcher.ts';
import { twoReads } from '../arming.ts';
import { Keeper, type Keeping, type WatchOptions, type WatchSettings } from '../keeper.ts';
import { AccountLine } from './account-line.ts';
import { bytesOf, followsClock, isSameAccount, keep, lamportsOf } from './account-text.ts';
import { type News, WatchedAccount } from './watched-account.ts';

/** The `watch` part of the config, as far as it is about accounts. */
export interface AccountWatchSettings extends WatchSettings {
  /** How many accounts are watched at a time, each commitment counted for itself. */
  readonly accounts: number;
  /** An account whose JSON is longer is not kept. */
  readonly maxAccountBytes: number;
}

export interface AccountWatchOptions extends WatchOptions<AccountWatchSettings> {
  /** Reads what is not kept live. */
  readonly accounts: AccountSource;
}

/** Keeps the accounts live that are read again and again, for all readers together. */
export class AccountWatch implements AccountSource {
  readonly keeping: Keeping;
  readonly #options: AccountWatchOptions;
  readonly #keeper: Keeper<WatchedAccount, AccountLine>;
  readonly #followers = new Map<WatchedAccount, Set<Follower>>();

  constructor(options: AccountWatchOptions) {
    const { settings } = options;
    this.#options = options;
    this.#keeper = new Keeper({
      ...options,
      most: settings.accounts,
      isFollowed: (account) => this.#followers.has(account),
      describe: ({ address, commitment }) => ({ address, commitment }),
      watchOver: (over) =>
        new AccountLine({
          ...over,
          maxAccountBytes: settings.maxAccountBytes,
          onNews: (account, news, slot) => this.#tell(account, news, slot),
          onBarred: (account, reason) => this.#end(account, reason),
        }),
    });
    this.keeping = this.#keeper;
  }

  /** Reads an account: at once when it is kept live, else from the upstream. What is read often is kept live soon. */
  async read(query: AccountQuery): Promise<AccountRead> {
    const { address, commitment, minContextSlot = 0 } = query;
    const name = `${commitment}/${address}`;
    const account = this.#keeper.get(name) ?? this.#admit(name, address, commitment);
    if (account === undefined) return this.#options.accounts.read(query);
    account.touchedAt = this.#keeper.tip;
    const kept = keptReading(account, query, this.#keeper.tip);
    if (kept !== undefined) return kept;
    const floor = Math.max(minContextSlot, account.slot);
    const reading = await this.#options.accounts.read({ ...query, minContextSlot: floor > 0 ? floor : undefined });
    return { ...reading, lease: proofOf(account, reading, query) };
  }

  /**
   * Keeps an account watched, whether it is read or not, and tells of its news until the returned function is called.
   * Throws `overloaded` when no more can be watched, and what is told by `onEnd` when it has turned out of late that
   * this one can't be.
   */
  follow(address: string, commitment: Commitment, follower: Follower): () => void {
    const name = `${commitment}/${address}`;
    const account = this.#keeper.get(name) ?? this.#add(name, address, commitment);
    if (account === undefined) throw new GatewayError('overloaded', 'no more accounts can be watched');
    if (account.bar !== undefined) throw account.bar.reason;
    const followers = this.#followers.get(account) ?? new Set();
    this.#followers.set(account, followers.add(follower));
    return () => {
      followers.delete(follower);
      if (followers.size === 0) this.#followers.delete(account);
    };
  }

  /** Watches an account that has become hot. A processed state lives one slot: it is watched for followers only. */
  #admit(name: string, address: string, commitment: Commitment): WatchedAccount | undefined {
    return commitment === 'processed' ? undefined : this.#keeper.admit(name, () => this.#make(address, commitment));
  }

  #add(name: string, address: string, commitment: Commitment): WatchedAccount | undefined {
    return this.#keeper.add(name, () => this.#make(address, commitment));
  }

  #make(address: string, commitment: Commitment): WatchedAccount {
    return new WatchedAccount(address, commitment, this.#options.rule ?? twoReads, this.#keeper.tip);
  }

  /** It is not tried again for a while, by readers or followers. */
  #end(account: WatchedAccount, reason: GatewayError): void {
    account.bar = { reason, at: this.#keeper.tip };
    const followers = this.#followers.get(account) ?? [];
    this.#followers.delete(account);
    for (const follower of followers) follower.onEnd(reason);
  }

  #tell(account: WatchedAccount, news: News, slot: Slot): void {
    const isReorg = news === 'rolled-back';
    // What took its place is known only from the next slot on: the same slot again would be a step back.
    const from = isReorg ? Math.max(slot, account.slot + 1) : slot;
    for (const follower of this.#followers.get(account) ?? []) follower.onNews({ slot: from, isReorg });
  }
}

/**
 * What vouches for a reading that is newer than what the proof has come to: it says the same as what is kept live, so
 * it holds at its own slot, and at those that the proof comes to later.
 */
function proofOf(
  account: WatchedAccount,
  { slot, account: json }: AccountRead,
  query: AccountQuery,
): Proof | undefined {
  const { held, text } = account;
  if (held?.state !== 'live' || slot < account.slot) return undefined;
  const read = keep(json);
  if (query.shape === 'parsed') return !followsClock(json) && isSameAccount(read, text) ? held : undefined;
  return lamportsOf(read) === lamportsOf(text) ? held : undefined;
}

/** What is kept of an account, if it may answer the query. */
function keptReading(account: WatchedAccount, query: AccountQuery, tip: Slot): AccountRead | undefined {
  const { held, commitment } = account;
  const { minContextSlot = 0, shape } = query;
  const isNow = commitment === 'processed' && account.isKnown && account.slot >= tip - 1;
  if (held?.state !== 'live' && !isNow) return undefined;
  const slot = held?.slot ?? account.slot;
  if (slot < minContextSlot) return undefined;
  const json = bytesOf(account.text);
  if (shape === 'parsed' && slot > account.slot && followsClock(json)) return undefined;
  return {
    slot,
    sinceSlot: account.slot,
    account: json,
    lease: shape === 'parsed' && followsClock(json) ? undefined : held,
  };
}
