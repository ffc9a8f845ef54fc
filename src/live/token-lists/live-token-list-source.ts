import type { Lease } from '../../domain/lease.ts';
import {
  filterByMint,
  isSameList,
  readTokenList,
  type TokenListQuery,
  type TokenListRead,
  type TokenListSource,
} from '../../tokens/token-list.ts';
import type { Mesh } from '../../upstream/mesh/mesh.ts';
import { doubleRead } from '../initial-sync.ts';
import { LiveSet, type LiveSetStats, type LiveSourceOptions, type LiveSourceSettings } from '../live-set.ts';
import { TokenListSession } from './token-list-session.ts';
import { TokenListState } from './token-list-state.ts';

/** The `watch` part of the config, as far as it is about lists. */
export interface LiveTokenListSettings extends LiveSourceSettings {
  /** How many token lists are watched at a time, each commitment counted for itself. */
  readonly lists: number;
  /** A list with more accounts is not kept live. */
  readonly maxListMembers: number;
}

export interface LiveTokenListSourceOptions extends LiveSourceOptions<LiveTokenListSettings> {
  readonly mesh: Pick<Mesh, 'call' | 'openSession' | 'tip' | 'onTip'>;
}

/** Keeps the token lists live of those owners that are read again and again. */
export class LiveTokenListSource implements TokenListSource {
  readonly stats: LiveSetStats;
  readonly #options: LiveTokenListSourceOptions;
  readonly #liveSet: LiveSet<TokenListState, TokenListSession>;

  constructor(options: LiveTokenListSourceOptions) {
    const { settings } = options;
    this.#options = options;
    this.#liveSet = new LiveSet({
      ...options,
      maxSize: settings.lists,
      describe: ({ owner, commitment }) => ({ owner, commitment }),
      createSession: (session) =>
        new TokenListSession({
          ...session,
          maxAccounts: settings.maxListMembers,
          onCapacityExceeded: (state) => this.#liveSet.reassign(state),
        }),
    });
    this.stats = this.#liveSet;
  }

  /**
   * Reads a list: at once when it is kept live, else from the upstream. A list that is read often is kept live soon;
   * the part about one mint is cut from what is kept, but does not make a list hot.
   */
  async read(query: TokenListQuery): Promise<TokenListRead> {
    const { owner, mint, commitment, minContextSlot = 0 } = query;
    const { mesh } = this.#options;
    const key = `${commitment}/${owner}`;
    const state = this.#liveSet.get(key) ?? (mint === undefined ? this.#addIfHot(key, query) : undefined);
    if (state === undefined) return readTokenList(mesh, query);
    state.tipAtLastRead = this.#liveSet.tip;
    if (state.isSynced) await state.pendingRead?.done; // what it will say is newer than what is kept
    const fromState = readFromState(state, query);
    if (fromState !== undefined) return fromState;
    const floor = Math.max(minContextSlot, state.slot);
    const known = state.list;
    const reading = await readTokenList(mesh, { ...query, known, minContextSlot: floor > 0 ? floor : undefined });
    return { ...reading, lease: leaseFor(state, reading, query) };
  }

  /** Watches a list that has become hot. A processed state lives one slot: it is not worth it. */
  #addIfHot(key: string, { owner, commitment }: TokenListQuery): TokenListState | undefined {
    if (commitment === 'processed') return undefined;
    const { initialSync = doubleRead } = this.#options;
    return this.#liveSet.addIfHot(key, () => new TokenListState(owner, commitment, initialSync, this.#liveSet.tip));
  }
}

/** What is kept of a list, if it may answer the query. */
function readFromState(
  { lease, slot: sinceSlot, list }: TokenListState,
  query: TokenListQuery,
): TokenListRead | undefined {
  const { mint, minContextSlot = 0 } = query;
  if (lease?.state !== 'active' || list === undefined || lease.slot < minContextSlot) return undefined;
  return {
    slot: lease.slot,
    sinceSlot,
    isConsistent: true,
    list: mint === undefined ? list : filterByMint(list, mint),
    lease: lease,
  };
}

/**
 * What vouches for a reading that is newer than what the proof has come to: it says the same as what is kept live, so
 * it holds at its own slot, and at those that the proof comes to later.
 */
function leaseFor(state: TokenListState, reading: TokenListRead, { mint }: TokenListQuery): Lease | undefined {
  const { lease, slot, list } = state;
  if (lease?.state !== 'active' || list === undefined || !reading.isConsistent || reading.slot < slot) return undefined;
  return isSameList(reading.list, mint === undefined ? list : filterByMint(list, mint)) ? lease : undefined;
}
