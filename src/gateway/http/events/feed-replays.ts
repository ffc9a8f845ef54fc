import { LRUCache } from 'lru-cache';
import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import { mapInChunks } from '../../../shared/runtime/map-in-chunks.ts';
import { ownTurn } from '../../../shared/runtime/own-turn.ts';
import type { Replay, ReplayQuery } from '../../live/feed/feed-replay.ts';
import { isSameValue } from '../../live/feed/feed-rules.ts';
import type { AccountHistory, FeedHistory, FeedVersion } from '../../live/feed/kept-account.ts';

/** What a feed has sent again about an account, before what the ring has. */
export interface Replayed {
  /** A history that has ended may be gone: what it keeps is counted nowhere. */
  readonly history: WeakRef<FeedHistory>;
  /** The slot of the version that follows it. */
  readonly next: Slot;
  /** The blocks behind this one are in it. */
  readonly from: Slot;
  readonly versions: readonly FeedVersion[];
}

/** An account whose history begins too late for a reader, which has all up to a slot. */
export interface LateAccount {
  readonly address: string;
  readonly history: FeedHistory;
  readonly since: Slot;
}

export interface FeedReplaysOptions {
  /** Rejects where the feed does not answer, and with `result_too_large`. */
  replay(query: ReplayQuery): Promise<Replay | undefined>;
  /** The most bytes of what is kept. */
  readonly maxBytes: number;
  /** Called when what was before a history is not kept any more. */
  onDropped(history: FeedHistory): void;
}

/** Has a feed send again what was before the ring, of all accounts that readers wait for together, and keeps it. */
export class FeedReplays {
  readonly #options: FeedReplaysOptions;
  readonly #replayed: LRUCache<string, Replayed>;
  /** Up to which block the feed has nothing to send again. */
  #lost = new WeakMap<FeedHistory, Slot>();
  /** How often what was sent again was forgotten. */
  #clears = 0;
  #waiting: (() => readonly LateAccount[])[] = [];
  #next: Promise<void> | undefined;
  #running = Promise.resolve();

  constructor(options: FeedReplaysOptions) {
    this.#options = options;
    const dispose = (replayed: Replayed): void => {
      const history = replayed.history.deref();
      if (history !== undefined) options.onDropped(history);
    };
    this.#replayed = new LRUCache({ maxSize: options.maxBytes, sizeCalculation: bytesOf, dispose });
  }

  clear(): void {
    this.#clears++;
    this.#replayed.clear();
    this.#lost = new WeakMap();
  }

  /** Returns what was before a history, if the history still begins where that ends. */
  of(address: string, history: AccountHistory): Replayed | undefined {
    const replayed = this.#replayed.get(address);
    return replayed?.history.deref() === history && replayed.next === history.oldest.slot ? replayed : undefined;
  }

  /** Whether the feed may send again what an account lacks. */
  mayHave({ address, history, since }: LateAccount): boolean {
    const from = this.of(address, history)?.from ?? history.oldest.slot;
    return since < from && since > (this.#lost.get(history) ?? -1);
  }

  /** Resolves when the feed has sent again what it has. `lateOf`: what its reader still needs then. */
  async load(lateOf: () => readonly LateAccount[]): Promise<void> {
    this.#waiting.push(lateOf);
    this.#next ??= this.#replayNext();
    await this.#next;
    await ownTurn(); // all that have waited go on from here
  }

  async #replayNext(): Promise<void> {
    await this.#running;
    this.#next = undefined;
    this.#running = this.#replayFor(this.#waiting.splice(0)).catch(() => {
      this.#waiting = []; // all that wait for a feed that does not answer go on without it
    });
    await this.#running;
  }

  async #replayFor(waiting: readonly (() => readonly LateAccount[])[]): Promise<void> {
    const late = new Map<string, LateAccount>();
    for (const account of (await mapInChunks(waiting, PER_TURN, (lateOf) => lateOf())).flat())
      if (account.since < (late.get(account.address)?.since ?? Number.POSITIVE_INFINITY))
        late.set(account.address, account);
    await this.#replay([...late.values()]);
  }

  async #replay(late: readonly LateAccount[]): Promise<void> {
    if (late.length === 0) return;
    const clears = this.#clears;
    const nextOf = new Map(late.map(({ history }) => [history, history.oldest]));
    const since = late.reduce((least, account) => Math.min(least, account.since), Number.POSITIVE_INFINITY);
    const until = late.reduce((greatest, { history }) => Math.max(greatest, history.oldest.slot), -1);
    let replay: Replay | undefined;
    try {
      replay = await this.#options.replay({ addresses: late.map(({ address }) => address), since, until });
    } catch (thrown) {
      if (GatewayError.from(thrown).code !== 'result_too_large') throw thrown;
      if (late.length > 1) {
        const half = late.length >>> 1;
        await this.#replay(late.slice(0, half));
        await this.#replay(late.slice(half));
        return;
      }
    }
    await mapInChunks(late, PER_TURN, (account) => {
      if (clears === this.#clears) this.#keep(account, nextOf.get(account.history) ?? account.history.oldest, replay);
    });
  }

  #keep({ address, history, since }: LateAccount, next: FeedVersion, replay: Replay | undefined): void {
    const versions = (replay?.versions.get(address) ?? []).filter(({ slot }) => slot <= next.slot);
    const { value } = versions.at(-1) ?? next;
    // Where the read and the feed differ, what is between is not known.
    if (replay !== undefined && replay.from < next.slot && isSameValue(value, next.value)) {
      const { from } = replay;
      // Without a write the account has been what was read since the replay begins.
      const known = versions.length > 0 ? versions : [{ slot: from, value }];
      this.#replayed.set(address, { history: new WeakRef(history), next: next.slot, from, versions: known });
    }
    const { from } = this.of(address, history) ?? {};
    if (from === undefined || from > since) this.#lost.set(history, from === undefined ? since : from - 1);
  }
}

/** Readers, or accounts, that are handled in one turn of the event loop. */
const PER_TURN = 200;

const bytesOf = ({ versions }: Replayed): number =>
  versions.reduce((sum, { value }) => sum + VERSION_BYTES + (value?.data.length ?? 0), 0);

/** About the bytes of a version beside its data. */
const VERSION_BYTES = 120;
