import type { Proof } from '../../domain/proof.ts';
import {
  isSameList,
  ofMint,
  readTokenList,
  type TokenListQuery,
  type TokenListReading,
  type TokenListSource,
} from '../../tokens/token-list.ts';
import type { Mesh } from '../../upstream/mesh/mesh.ts';
import { twoReads } from '../arming.ts';
import { Keeper, type Keeping, type WatchOptions, type WatchSettings } from '../keeper.ts';
import { ListLine } from './list-line.ts';
import { WatchedList } from './watched-list.ts';

/** The `watch` part of the config, as far as it is about lists. */
export interface ListWatchSettings extends WatchSettings {
  /** How many token lists are watched at a time, each commitment counted for itself. */
  readonly lists: number;
  /** A list with more accounts is not kept live. */
  readonly maxListMembers: number;
}

export interface ListWatchOptions extends WatchOptions<ListWatchSettings> {
  readonly mesh: Pick<Mesh, 'call' | 'openSession' | 'tip' | 'onTip'>;
}

/** Keeps the token lists live of those owners that are read again and again. */
export class ListWatch implements TokenListSource {
  readonly keeping: Keeping;
  readonly #options: ListWatchOptions;
  readonly #keeper: Keeper<WatchedList, ListLine>;

  constructor(options: ListWatchOptions) {
    const { settings } = options;
    this.#options = options;
    this.#keeper = new Keeper({
      ...options,
      most: settings.lists,
      describe: ({ owner, commitment }) => ({ owner, commitment }),
      watchOver: (over) =>
        new ListLine({
          ...over,
          maxMembers: settings.maxListMembers,
          onCrowded: (list) => this.#keeper.move(list),
        }),
    });
    this.keeping = this.#keeper;
  }

  /**
   * Reads a list: at once when it is kept live, else from the upstream. A list that is read often is kept live soon;
   * the part about one mint is cut from what is kept, but does not make a list hot.
   */
  async read(query: TokenListQuery): Promise<TokenListReading> {
    const { owner, mint, commitment, minContextSlot = 0 } = query;
    const { mesh } = this.#options;
    const name = `${commitment}/${owner}`;
    const list = this.#keeper.get(name) ?? (mint === undefined ? this.#admit(name, query) : undefined);
    if (list === undefined) return readTokenList(mesh, query);
    list.touchedAt = this.#keeper.tip;
    if (list.isLive) await list.reading?.over; // what it will say is newer than what is kept
    const kept = keptReading(list, query);
    if (kept !== undefined) return kept;
    const floor = Math.max(minContextSlot, list.slot);
    const known = list.list;
    const reading = await readTokenList(mesh, { ...query, known, minContextSlot: floor > 0 ? floor : undefined });
    return { ...reading, proof: proofOf(list, reading, query) };
  }

  /** Watches a list that has become hot. A processed state lives one slot: it is not worth it. */
  #admit(name: string, { owner, commitment }: TokenListQuery): WatchedList | undefined {
    if (commitment === 'processed') return undefined;
    const { rule = twoReads } = this.#options;
    return this.#keeper.admit(name, () => new WatchedList(owner, commitment, rule, this.#keeper.tip));
  }
}

/** What is kept of a list, if it may answer the query. */
function keptReading(
  { held, slot: sinceSlot, list }: WatchedList,
  query: TokenListQuery,
): TokenListReading | undefined {
  const { mint, minContextSlot = 0 } = query;
  if (held?.state !== 'live' || list === undefined || held.slot < minContextSlot) return undefined;
  return { slot: held.slot, sinceSlot, agree: true, list: mint === undefined ? list : ofMint(list, mint), proof: held };
}

/**
 * What vouches for a reading that is newer than what the proof has come to: it says the same as what is kept live, so
 * it holds at its own slot, and at those that the proof comes to later.
 */
function proofOf(watched: WatchedList, reading: TokenListReading, { mint }: TokenListQuery): Proof | undefined {
  const { held, slot, list } = watched;
  if (held?.state !== 'live' || list === undefined || !reading.agree || reading.slot < slot) return undefined;
  return isSameList(reading.list, mint === undefined ? list : ofMint(list, mint)) ? held : undefined;
}
