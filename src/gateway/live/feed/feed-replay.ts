import type { Clock } from '../../../shared/domain/clock.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import { CLOCK_SYSVAR } from '../../../shared/domain/well-known-addresses.ts';
import { decodeUpdate } from '../../upstream/geyser/decode-update.ts';
import { encodeFilter, encodePing, type FeedMode } from '../../upstream/geyser/encode-request.ts';
import type { AccountWrite, BlockLink, FeedUpdate } from '../../upstream/geyser/feed-update.ts';
import type { FeedClient } from '../../upstream/geyser/geyser-client.ts';
import { keyOfAddress } from './address-key.ts';
import type { FeedVersion } from './feed-account.ts';
import { FEED_RULES } from './feed-rules.ts';

export interface FeedReplayOptions {
  readonly client: Pick<FeedClient, 'subscribe' | 'firstReplayed'>;
  readonly mode: FeedMode;
  readonly clock: Clock;
  /** The most bytes of what is sent again. */
  readonly maxBytes: number;
}

export interface ReplayQuery {
  readonly addresses: readonly string[];
  /** The blocks behind this one are needed. */
  readonly since: Slot;
  /** Up to which block they are needed. */
  readonly until: Slot;
}

/** What a feed has sent again. */
export interface Replay {
  /** All blocks behind this one, up to {@link until}, are in it. */
  readonly from: Slot;
  readonly until: Slot;
  /** What these blocks have written, oldest first, by address. */
  readonly versions: ReadonlyMap<string, readonly FeedVersion[]>;
}

const TIMEOUT_MS = 10_000;
/** By these the oldest slot may have moved on when the request is there. */
const MOVED_SLOTS = 4;

/** Reads what accounts were before this process knew them: undefined where the feed does not reach back, or sends no whole row. */
export async function readReplay(options: FeedReplayOptions, query: ReplayQuery): Promise<Replay | undefined> {
  const { client, mode, clock, maxBytes } = options;
  const oldest = await client.firstReplayed().catch(() => undefined);
  if (oldest === undefined || oldest > query.since) return undefined;
  const row = new ReplayedRow(mode, query, maxBytes);
  return new Promise((resolve) => {
    const finish = (replay: Replay | undefined): void => {
      cancel();
      call.cancel();
      resolve(replay);
    };
    const cancel = clock.after(TIMEOUT_MS, () => finish(undefined));
    const call = client.subscribe({
      onMessage: (bytes) => {
        try {
          const update = decodeUpdate(bytes);
          if (update.kind === 'ping') call.send(encodePing());
          const state = row.add(update, bytes.length);
          if (state !== 'open') finish(state === 'whole' ? row.replay : undefined);
        } catch {
          finish(undefined);
        }
      },
      onEnd: () => finish(undefined),
    });
    const addresses = new Set([CLOCK_SYSVAR, ...query.addresses]);
    const fromSlot = Math.min(query.since, oldest + MOVED_SLOTS);
    call.send(encodeFilter({ mode, version: 1, addresses, fromSlot }));
  });
}

/** Puts the blocks of a replay in a row. */
class ReplayedRow {
  readonly #mode: FeedMode;
  readonly #query: ReplayQuery;
  readonly #maxBytes: number;
  readonly #addresses: ReadonlyMap<string, string>;
  readonly #versions = new Map<string, FeedVersion[]>();
  /** The accounts of blocks whose meta has not come. */
  readonly #open = new Map<Slot, AccountWrite[]>();
  #from: Slot = -1;
  #last: BlockLink | undefined;
  #bytes = 0;

  constructor(mode: FeedMode, query: ReplayQuery, maxBytes: number) {
    this.#mode = mode;
    this.#maxBytes = maxBytes;
    this.#query = query;
    this.#addresses = new Map(query.addresses.map((address) => [keyOfAddress(address), address]));
  }

  get replay(): Replay {
    return { from: this.#from, until: this.#last?.slot ?? -1, versions: this.#versions };
  }

  /** Adds a message of the feed. Live ones may come between those that are sent again, which have all of them once more. */
  add(update: FeedUpdate, bytes: number): 'open' | 'whole' | 'broken' {
    this.#bytes += bytes;
    if (this.#bytes > this.#maxBytes) return 'broken';
    if (update.kind === 'account') this.#open.set(update.slot, [...(this.#open.get(update.slot) ?? []), update.write]);
    if (update.kind !== 'block' && update.kind !== 'block-meta') return 'open';
    if (!FEED_RULES.isBarrier(update.kind, this.#mode)) return 'open';
    const writes = update.kind === 'block' ? update.writes : (this.#open.get(update.slot) ?? []);
    this.#open.delete(update.slot);
    const last = this.#last;
    if (last === undefined) {
      if (update.parentSlot > this.#query.since) return 'open'; // a live one, before the replay begins
      this.#from = update.parentSlot;
    } else if (update.slot <= last.slot) return 'open';
    else if (update.parentSlot !== last.slot || update.parentBlockhash !== last.blockhash)
      return update.parentSlot > last.slot ? 'open' : 'broken';
    this.#apply(update, writes);
    return update.slot >= this.#query.until ? 'whole' : 'open';
  }

  #apply(block: BlockLink, writes: readonly AccountWrite[]): void {
    this.#last = block;
    const newest = new Map<string, AccountWrite>();
    for (const write of writes) {
      const known = newest.get(write.key);
      if (known === undefined || FEED_RULES.supersedes(write, known)) newest.set(write.key, write);
    }
    for (const [key, { value }] of newest) {
      const address = this.#addresses.get(key);
      if (address === undefined) continue;
      const versions = this.#versions.get(address) ?? [];
      this.#versions.set(address, versions);
      versions.push({ slot: block.slot, value });
    }
  }
}
