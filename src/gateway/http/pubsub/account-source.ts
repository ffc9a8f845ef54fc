import type { Clock } from '../../../shared/domain/clock.ts';
import type { Commitment } from '../../../shared/domain/commitment.ts';
import { ERRORS, GatewayError } from '../../../shared/domain/gateway-error.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import { tryOrUndefined } from '../../../shared/domain/try-or-undefined.ts';
import { mapInChunks } from '../../../shared/runtime/map-in-chunks.ts';
import { sleep } from '../../../shared/runtime/sleep.ts';
import { WorkPerTurn } from '../../../shared/runtime/work-per-turn.ts';
import { accountTopicOf } from '../../routes/stream-topics.ts';
import { member, members, parseSafeInteger } from '../../upstream/json/raw-json.ts';
import type { SubscriptionCaller } from '../stream/stream-connection.ts';
import { TopicFeed, type TopicFeedOptions, type TopicUpdate } from '../stream/topic-feed.ts';
import { type AccountView, type ReadAccount, readAccount, writeAccount } from './account-view.ts';
import type { ReadRpc, Source, SourceOptions } from './source.ts';

export interface AccountFeedsOptions extends Pick<TopicFeedOptions, 'readThrough' | 'liveAccounts'> {
  readonly clock: Clock;
  /** Reads by a node's method. */
  readonly readRpc: ReadRpc;
}

/** An account, read once for all views of it, and the slot at which it holds; undefined for data of a node that can't be read. */
interface AccountAt {
  readonly slot: Slot;
  readonly account: ReadAccount | undefined;
}

/** A feed of one account at one commitment, for all views of it. */
interface SharedFeed {
  readonly feed: TopicFeed;
  readonly listeners: Set<AccountNotifications>;
  /** The read of the bytes for the newest update. */
  raw: { readonly slot: Slot; readonly read: Promise<AccountAt> } | undefined;
}

/** Time until a read that failed is tried again, in milliseconds. */
const RETRY_MS = 400;

/** The views of accounts that are written in one turn of the event loop, in about a millisecond. */
const VIEWS_PER_TURN = 64;

/** The accounts of pubsub: each is kept live once, for all clients and encodings. */
export class AccountFeeds {
  readonly #options: AccountFeedsOptions;
  readonly #byKey = new Map<string, SharedFeed>();
  readonly #written = new WorkPerTurn(VIEWS_PER_TURN);

  constructor(options: AccountFeedsOptions) {
    this.#options = options;
  }

  get clock(): Clock {
    return this.#options.clock;
  }

  /** Adds a source to the feed of its account. Throws if the account can't be kept live. */
  join(source: AccountNotifications, caller: SubscriptionCaller): SharedFeed {
    const { address, commitment } = source;
    const key = `${address} ${commitment}`;
    const known = this.#byKey.get(key);
    if (known !== undefined) {
      known.feed.addCaller(caller);
      known.listeners.add(source);
      return known;
    }
    const listeners = new Set([source]);
    const { clock, liveAccounts, readThrough } = this.#options;
    const feed = new TopicFeed({
      clock,
      liveAccounts,
      readThrough,
      topic: accountTopicOf('account', address, commitment),
      caller,
      onUpdate: notifyAll(listeners),
      onEnd: (reason) => {
        this.#byKey.delete(key);
        feed.close();
        for (const listener of listeners) listener.onEnd(reason);
      },
    });
    const shared: SharedFeed = { feed, listeners, raw: undefined };
    this.#byKey.set(key, shared);
    return shared;
  }

  /** Removes a source, and its last caller. */
  leave(source: AccountNotifications, { feed, listeners }: SharedFeed, caller: SubscriptionCaller): void {
    if (!listeners.delete(source)) return;
    if (listeners.size > 0) {
      feed.removeCaller(caller);
      return;
    }
    this.#byKey.delete(`${source.address} ${source.commitment}`);
    feed.close();
  }

  /** Reads the bytes of an account, once for all that need them for an update. */
  readRaw({ address, commitment }: AccountNotifications, shared: SharedFeed, minSlot: Slot): Promise<AccountAt> {
    if (shared.raw === undefined || shared.raw.slot < minSlot) {
      const config = { encoding: 'base64', commitment };
      const read = this.#options.readRpc('getAccountInfo', [address, config], minSlot).then((result) => {
        const parts = members(Buffer.from(result));
        const slot = parseSafeInteger(member(parts.get('context') ?? Buffer.alloc(0), 'slot'));
        return { slot, account: readAccount(String(parts.get('value'))) };
      });
      read.catch(() => {
        shared.raw = undefined;
      });
      shared.raw = { slot: minSlot, read };
    }
    return shared.raw.read;
  }

  /** Resolves in a turn of the event loop that has room for one more view. */
  awaitTurn(): Promise<void> {
    return new Promise((resolve) => this.#written.run(resolve));
  }
}

/** Returns what notifies all views of an account of its newest state, some of them in each turn of the event loop. */
function notifyAll(listeners: ReadonlySet<AccountNotifications>): (update: TopicUpdate) => void {
  let newest: TopicUpdate | undefined;
  let isNotifying = false;
  const notifyUntilCurrent = async (): Promise<void> => {
    isNotifying = true;
    for (let update = newest; update !== undefined; update = newest) {
      newest = undefined;
      const { slot, result } = update;
      const account = tryOrUndefined(() => readAccount(result));
      await mapInChunks([...listeners], VIEWS_PER_TURN, (listener) => listener.onUpdate({ slot, account }));
    }
    isNotifying = false;
  };
  return (update) => {
    newest = update;
    if (!isNotifying) void notifyUntilCurrent();
  };
}

/** The changes of one account in one view. */
export class AccountNotifications implements Source {
  readonly address: string;
  readonly commitment: Commitment;
  readonly #feeds: AccountFeeds;
  readonly #view: AccountView;
  readonly #options: SourceOptions;
  readonly #shared: SharedFeed;
  #ready: Promise<void> | undefined;
  /** The slot of the newest state whose bytes are to be read. */
  #newestSlot: Slot = 0;
  #sentSlot: Slot = 0;
  #isReading = false;
  #isClosed = false;
  #cancelRetry = (): void => {};

  /** Throws if the account can't be kept live. */
  constructor(
    feeds: AccountFeeds,
    {
      address,
      commitment,
      view,
    }: { readonly address: string; readonly commitment: Commitment; readonly view: AccountView },
    options: SourceOptions,
  ) {
    this.address = address;
    this.commitment = commitment;
    this.#feeds = feeds;
    this.#view = view;
    this.#options = options;
    this.#shared = feeds.join(this, options.caller);
    if (this.#shared.feed.latest !== undefined) return;
    this.#ready = this.#readFirst(options.caller).then(() => {
      this.#ready = undefined;
    });
    this.#ready.catch(() => {}); // of nobody that waits any more
  }

  get ready(): Promise<void> | undefined {
    return this.#ready;
  }

  onUpdate(update: AccountAt): void {
    if (this.#emit(update)) return;
    this.#newestSlot = update.slot;
    void this.#readUntilCurrent();
  }

  onEnd(reason: GatewayError): void {
    this.#options.onEnd(reason);
  }

  addCaller(caller: SubscriptionCaller): void {
    this.#shared.feed.addCaller(caller);
  }

  removeCaller(caller: SubscriptionCaller): void {
    this.#shared.feed.removeCaller(caller);
  }

  close(lastCaller: SubscriptionCaller): void {
    this.#isClosed = true;
    this.#cancelRetry();
    this.#feeds.leave(this, this.#shared, lastCaller);
  }

  /** What changes is notified: the value that it changes must be known. A node that does not answer is read again. */
  async #readFirst(caller: SubscriptionCaller): Promise<void> {
    while (this.#shared.feed.latest === undefined) {
      try {
        await this.#shared.feed.readCurrent(caller);
      } catch (thrown) {
        if (this.#isClosed || ERRORS[GatewayError.from(thrown).code].retry === 'no') throw thrown;
        await sleep(this.#feeds.clock, RETRY_MS);
        if (this.#isClosed) throw thrown;
      }
    }
  }

  /** Reads the bytes of the newest update, one read at a time. */
  async #readUntilCurrent(): Promise<void> {
    if (this.#isReading) return;
    this.#isReading = true;
    this.#cancelRetry();
    let readSlot: Slot = 0;
    while (Math.max(readSlot, this.#sentSlot) < this.#newestSlot && !this.#isClosed) {
      readSlot = this.#newestSlot;
      try {
        const read = await this.#feeds.readRaw(this, this.#shared, readSlot);
        await this.#feeds.awaitTurn(); // many views may wait for reads
        this.#emit(read);
      } catch {
        this.#cancelRetry = this.#feeds.clock.after(RETRY_MS, () => void this.#readUntilCurrent());
        break;
      }
    }
    this.#isReading = false;
  }

  /** Notifies of a state, unless it or a later one was. Returns false if it lacks the bytes that the view wants. */
  #emit({ slot, account }: AccountAt): boolean {
    if (this.#isClosed || slot <= this.#sentSlot) return true;
    const value = account && writeAccount(account, this.#view);
    if (value === undefined) return false;
    this.#sentSlot = slot;
    this.#options.emit(`{"context":{"slot":${slot}},"value":${value}}`);
    return true;
  }
}
