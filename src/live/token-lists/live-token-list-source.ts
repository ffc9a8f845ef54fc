import { LRUCache } from 'lru-cache';
import type { Config } from '../../config/config-schema.ts';
import type { Commitment } from '../../domain/commitment.ts';
import type { Lease } from '../../domain/lease.ts';
import { type ListOwner, SharedListings } from '../../tokens/owner-listing.ts';
import {
  filterByMint,
  isSameList,
  readTokenList,
  type TokenList,
  type TokenListQuery,
  type TokenListRead,
  type TokenListSource,
} from '../../tokens/token-list.ts';
import type { Mesh } from '../../upstream/mesh/mesh.ts';
import type { FollowedSession, FollowLink, ToldHeat } from '../followed-session.ts';
import { doubleRead } from '../initial-sync.ts';
import type { LiveObserver } from '../live-observer.ts';
import {
  type KeptOver,
  LiveSet,
  type LiveSetStats,
  type LiveSourceOptions,
  type LiveSourceSettings,
} from '../live-set.ts';
import type { ReadHeat } from '../read-heat.ts';
import { TokenListSession } from './token-list-session.ts';
import { TokenListState } from './token-list-state.ts';

/** The part of the config section `watch` that is about token lists. */
export type LiveTokenListSettings = LiveSourceSettings & Pick<Config['watch'], 'lists' | 'maxListMembers'>;

export interface LiveTokenListSourceOptions extends LiveSourceOptions<LiveTokenListSettings> {
  readonly mesh: Pick<Mesh, 'call' | 'openSession' | 'tip'>;
  /** Lists an owner's token accounts. Default: lists that its own reads share. */
  readonly listOwner?: ListOwner;
}

/** About the most lists that one audit compares: three calls each, so two a second at the default interval. */
const MAX_AUDITED_LISTS = 20;

/** The most accounts of lists that are remembered though they are not kept live, a few hundred bytes each. */
const MAX_REMEMBERED_ACCOUNTS = 20_000;

/** About the subscriptions of a list: one per token program, and three per token that is listed. */
const TYPICAL_SUBSCRIPTIONS = 11;

/** Reads token lists, and keeps those live that are read often. */
export class LiveTokenListSource implements TokenListSource {
  readonly stats: LiveSetStats;
  readonly #options: LiveTokenListSourceOptions;
  readonly #liveSet: LiveSet<TokenListState, TokenList>;
  #observer: LiveObserver<TokenListState> | undefined;
  readonly #listOwner: ListOwner;
  /** The lists that were read last: a node may leave out an account that was closed just after the slot of the next one. */
  readonly #lastRead = new LRUCache<string, TokenList>({
    maxSize: MAX_REMEMBERED_ACCOUNTS,
    sizeCalculation: ({ accounts }) => accounts.length + 1,
  });

  constructor(options: LiveTokenListSourceOptions) {
    const { settings } = options;
    this.#options = options;
    this.#listOwner = options.listOwner ?? new SharedListings(options.mesh).list;
    this.#liveSet = new LiveSet({
      ...options,
      maxSize: settings.lists,
      maxAudited: MAX_AUDITED_LISTS,
      subscriptionsPerState: TYPICAL_SUBSCRIPTIONS,
      describe: ({ owner, commitment }) => ({ owner, commitment }),
      createSession: (session) =>
        new TokenListSession({
          ...session,
          maxAccounts: settings.maxListMembers,
          onCapacityExceeded: (state) => this.#liveSet.reassign(state),
          onIneligible: (state) => this.#observer?.onLeft(state),
        }),
      keyOf: ({ owner, commitment }) => keyOf(owner, commitment),
      onNotFollowed: (state) => state.markIneligible(this.#liveSet.tip),
    });
    this.stats = this.#liveSet;
  }

  /**
   * Reads a list: from memory when it is kept live, else from the upstream. Keeps it live once it is hot. A query for
   * one mint is answered from the whole list, but doesn't make it hot.
   */
  async read(query: TokenListQuery): Promise<TokenListRead> {
    const { owner, mint, commitment, minContextSlot = 0, cost } = query;
    const key = keyOf(owner, commitment);
    const state = this.#liveSet.get(key) ?? (mint === undefined ? this.#addIfHot(key, query) : undefined);
    if (state === undefined) return this.#fetch(key, query);
    state.holder.heat.record(this.#liveSet.tip);
    if (state.holder.isSynced) await state.pendingRead?.done; // that list is newer than the one that is kept
    const fromState = readFromState(state, query) ?? (await readFromNextState(state, query));
    if (fromState !== undefined) {
      if (cost !== undefined) cost.rows += fromState.list.accounts.length;
      return fromState;
    }
    const floor = Math.max(minContextSlot, state.slot);
    const bounded = { ...query, minContextSlot: floor > 0 ? floor : undefined };
    const fetched = await this.#fetch(key, bounded, state.list);
    return { ...fetched, lease: leaseFor(state, fetched, query) };
  }

  /** Reads a list from the upstream, and the accounts of the one before by address. */
  async #fetch(key: string, query: TokenListQuery, known = this.#lastRead.get(key)): Promise<TokenListRead> {
    const fetched = await readTokenList(this.#options.mesh, { ...query, known }, this.#listOwner);
    if (query.mint === undefined && fetched.isLong !== true) this.#lastRead.set(key, fetched.list);
    return fetched;
  }

  /** Checks sessions and idle lists when the cluster's tip at a commitment has advanced. */
  onTip(commitment: Commitment): void {
    this.#liveSet.onTip(commitment);
  }

  /** Re-reads all lists that have a lease and compares them. A timer calls this each `auditMs`; tests call it too. */
  audit(): Promise<void> {
    return this.#liveSet.audit();
  }

  /** Tells an observer from now on what is kept live. */
  observeWith(observer: LiveObserver<TokenListState>): void {
    this.#observer = observer;
    this.#liveSet.observeWith(observer);
  }

  /** Keeps a list live for the readers of another gateway; undefined when others are read more. */
  keepFor(owner: string, commitment: Commitment, heat: ToldHeat): TokenListState | undefined {
    return this.#liveSet.keepFor(keyOf(owner, commitment), heat, (own) => this.#createState(owner, commitment, own));
  }

  /** Creates the session by which lists can be copied from another gateway. */
  createFollowedSession(link: FollowLink<TokenListState>): FollowedSession<TokenListState, TokenList> {
    return this.#liveSet.createFollowedSession(link);
  }

  /** Keeps all lists live over this from now on. */
  keepOver(keptOver: KeptOver<TokenListState, TokenList>): void {
    this.#liveSet.keepOver(keptOver);
  }

  close(): void {
    this.#liveSet.close();
  }

  /** Adds a list that has become hot. A processed list holds for one slot only: it is never kept live. */
  #addIfHot(key: string, { owner, commitment, cost }: TokenListQuery): TokenListState | undefined {
    if (commitment === 'processed') return undefined;
    return this.#liveSet.addIfHot(key, cost?.caller, (heat) => this.#createState(owner, commitment, heat));
  }

  #createState(owner: string, commitment: Commitment, heat: ReadHeat): TokenListState {
    return new TokenListState(owner, commitment, this.#options.initialSync ?? doubleRead, heat);
  }
}

const keyOf = (owner: string, commitment: Commitment): string => `${commitment}/${owner}`;

/** Answers a query from the list that is kept live; undefined when that list can't answer it. */
function readFromState(state: TokenListState, query: TokenListQuery): TokenListRead | undefined {
  const { slot: sinceSlot, list } = state;
  const { mint, minContextSlot = 0 } = query;
  const lease = state.lease?.state === 'active' ? state.lease : state.heldLease;
  if (lease === undefined || list === undefined || lease.slot < minContextSlot || lacksIdentities(list, query))
    return undefined;
  return {
    slot: lease.slot,
    sinceSlot,
    isConsistent: true,
    list: mint === undefined ? list : filterByMint(list, mint),
    lease,
  };
}

/** Answers a query from the list once the Clock update has come that completes its latest changes, if any. */
async function readFromNextState(state: TokenListState, query: TokenListQuery): Promise<TokenListRead | undefined> {
  if (state.heldLease === undefined) return undefined;
  await state.pendingUpdate?.done;
  return readFromState(state, query);
}

const lacksIdentities = ({ identities }: TokenList, { mint, withIdentities = false }: TokenListQuery): boolean =>
  withIdentities && mint === undefined && identities === undefined;

/**
 * Returns the lease for a list that was read at a slot that the lease doesn't cover yet: if the read equals the list
 * that is kept live, it holds at its own slot and at all slots that the lease advances to.
 */
function leaseFor(state: TokenListState, fetched: TokenListRead, query: TokenListQuery): Lease | undefined {
  const { lease, slot, list } = state;
  const { mint } = query;
  if (list === undefined || lacksIdentities(list, query)) return undefined;
  if (lease?.state !== 'active' || !fetched.isConsistent || fetched.slot < slot) return undefined;
  return isSameList(fetched.list, mint === undefined ? list : filterByMint(list, mint)) ? lease : undefined;
}
