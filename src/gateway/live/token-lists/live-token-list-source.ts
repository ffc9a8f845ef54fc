import { LRUCache } from 'lru-cache';
import type { Config } from '../../../config/config-schema.ts';
import type { Lease } from '../../../shared/domain/lease.ts';
import { countRows } from '../../../shared/domain/units.ts';
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
import type { VersionRing } from '../feed/version-ring.ts';
import { LiveSet, type LiveSourceOptions, type LiveSourceSettings } from '../live-set.ts';
import { isSynced } from '../live-state.ts';
import { readWhenCovered } from '../read-when-covered.ts';
import { recordList } from './past-token-lists.ts';
import { TokenListSession } from './token-list-session.ts';
import { TokenListState } from './token-list-state.ts';

export type LiveTokenListSettings = LiveSourceSettings & Pick<Config['live'], 'lists' | 'maxListMembers'>;

export interface LiveTokenListSourceOptions extends LiveSourceOptions<LiveTokenListSettings> {
  readonly mesh: Pick<Mesh, 'call' | 'openSession' | 'tip' | 'slotTimeMs'>;
  /** Lists an owner's token accounts. Default: lists that its own reads share. */
  readonly listOwner?: ListOwner;
  /** Keeps past versions of what is live; undefined where another process does. */
  readonly ring?: VersionRing<TokenList> | undefined;
}

/** About the most lists that one audit compares: three calls each, so two a second at the default interval. */
const MAX_AUDITED_LISTS = 20;

/** The most accounts of lists that are remembered though they are not kept live, a few hundred bytes each. */
const MAX_REMEMBERED_ACCOUNTS = 20_000;

/** About the subscriptions of a list: one per token program, and three per token that is listed. */
const TYPICAL_SUBSCRIPTIONS = 11;

const createLists = () =>
  new LRUCache<string, TokenList>({
    maxSize: MAX_REMEMBERED_ACCOUNTS,
    sizeCalculation: ({ accounts }) => accounts.length + 1,
  });

/** Reads token lists, and keeps those live that are read often. */
export class LiveTokenListSource implements TokenListSource {
  readonly liveSet: LiveSet<TokenListState, TokenList>;
  readonly #options: LiveTokenListSourceOptions;
  readonly #listOwner: ListOwner;
  /** The lists that were read last: a node may leave out an account that was closed just after the slot of the next one. */
  #lastRead = createLists();

  constructor(options: LiveTokenListSourceOptions) {
    const { settings, ring } = options;
    this.#options = options;
    this.#listOwner = options.listOwner ?? new SharedListings(options.mesh).list;
    this.liveSet = new LiveSet({
      ...options,
      maxSize: settings.lists,
      maxAudited: MAX_AUDITED_LISTS,
      subscriptionsPerState: TYPICAL_SUBSCRIPTIONS,
      createSession: (session) =>
        new TokenListSession({
          ...session,
          maxAccounts: settings.maxListMembers,
          ring,
          onCapacityExceeded: (state) => this.liveSet.reassign(state),
          onIneligible: (state) => this.liveSet.observer?.onLeft(state),
        }),
      createState: (owner, commitment, rules, heat) => new TokenListState(owner, commitment, rules, heat),
      onFollowedLease: ring && ((state) => recordList(ring, state)),
      onNotFollowed: (state) => state.markIneligible(this.liveSet.tip),
    });
  }

  /** Live once it is hot. A query for one mint is answered from the whole list, but doesn't make it hot. */
  async read(query: TokenListQuery): Promise<TokenListRead> {
    const { owner, mint, commitment, minContextSlot = 0, cost } = query;
    const state =
      mint === undefined ? this.liveSet.getOrAdd(owner, commitment, cost?.caller) : this.liveSet.get(owner, commitment);
    if (state === undefined || query.mustAgree === true) return this.#fetch(query);
    state.recordRead(this.liveSet.tip);
    const { clock, mesh } = this.#options;
    const fromState = await readWhenCovered({
      minSlot: minContextSlot,
      tip: mesh.tip(commitment),
      read: async () => {
        if (isSynced(state)) await state.pendingRead?.done; // that list is newer than the one that is kept
        return readFromState(state, query);
      },
      leaseOf: () => state.latestLease,
      clock,
      slotTimeMs: mesh.slotTimeMs,
    });
    if (fromState !== undefined) {
      countRows({ cost }, fromState.list.accounts.length);
      return fromState;
    }
    const floor = Math.max(minContextSlot, state.slot);
    const bounded = { ...query, minContextSlot: floor > 0 ? floor : undefined };
    const fetched = await this.#fetch(bounded, state.list);
    return { ...fetched, lease: leaseFor(state, fetched, query) };
  }

  /** Forgets the lists that were read and are not kept live, those too that are being read. */
  clear(): void {
    this.#lastRead = createLists();
  }

  async #fetch(query: TokenListQuery, listed?: TokenList): Promise<TokenListRead> {
    const key = `${query.commitment}/${query.owner}`;
    const lastRead = this.#lastRead;
    const known = listed ?? lastRead.get(key);
    const fetched = await readTokenList(this.#options.mesh, { ...query, known }, this.#listOwner);
    if (query.mint === undefined && fetched.isLong !== true) lastRead.set(key, fetched.list);
    return fetched;
  }
}

function readFromState(state: TokenListState, query: TokenListQuery): TokenListRead | undefined {
  const { slot: sinceSlot, list, latestLease: lease } = state;
  const { mint, minContextSlot = 0 } = query;
  if (lease === undefined || list === undefined || lease.slot < minContextSlot || lacksIdentities(list, query))
    return undefined;
  return {
    slot: lease.slot,
    sinceSlot,
    isConsistent: true,
    agreement: lease.agreement,
    list: mint === undefined ? list : filterByMint(list, mint),
    lease,
  };
}

const lacksIdentities = ({ identities }: TokenList, { mint, withIdentities = false }: TokenListQuery): boolean =>
  withIdentities && mint === undefined && identities === undefined;

/** If the read equals the list that is kept live, it holds at all slots that the lease of that advances to. */
function leaseFor(state: TokenListState, fetched: TokenListRead, query: TokenListQuery): Lease | undefined {
  const { lease, slot, list } = state;
  const { mint } = query;
  if (list === undefined || lacksIdentities(list, query)) return undefined;
  if (lease?.state !== 'active' || !fetched.isConsistent || fetched.slot < slot) return undefined;
  return isSameList(fetched.list, mint === undefined ? list : filterByMint(list, mint)) ? lease : undefined;
}
