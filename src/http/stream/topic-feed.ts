import type { AccountChange } from '../../domain/account-change.ts';
import type { Clock } from '../../domain/clock.ts';
import type { GatewayError } from '../../domain/gateway-error.ts';
import { SLOT_MS, type Slot } from '../../domain/slot.ts';
import type { AccountTopic } from '../../routes/stream-topics.ts';
import type { LiveAccounts } from '../../routing/route.ts';
import type { RouteReadThrough } from '../../routing/route-read-through.ts';
import type { Sealer } from '../../serving/sealer.ts';

/** A state of a topic. Its body is the one that the route answers at the same slot. */
export interface TopicUpdate {
  readonly slot: Slot;
  readonly result: string;
  readonly body: string | Buffer;
  readonly isReorg: boolean;
}

export interface TopicFeedOptions {
  readonly topic: AccountTopic;
  readonly readThrough: RouteReadThrough;
  readonly sealer: Sealer;
  readonly liveAccounts: LiveAccounts;
  readonly clock: Clock;
  /** Called with each answer that differs from the previous one. */
  readonly onUpdate: (update: TopicUpdate) => void;
  /** Called when no more updates can come. */
  readonly onEnd: (reason: GatewayError) => void;
}

/** The updates of one topic for all its subscribers: it re-reads the route after each change of the account. */
export class TopicFeed {
  readonly #options: TopicFeedOptions;
  readonly #unsubscribe: () => void;
  #pendingChange: AccountChange | undefined;
  #isUpdating = false;
  #latest: TopicUpdate | undefined;
  #cancelRetry = (): void => {};
  #isClosed = false;

  /** Throws if the account can't be kept live. */
  constructor(options: TopicFeedOptions) {
    const { topic, liveAccounts, onEnd } = options;
    this.#options = options;
    this.#unsubscribe = liveAccounts.subscribe(topic.address, topic.commitment, {
      onChange: (change) => {
        const isReorg = change.isReorg || this.#pendingChange?.isReorg === true;
        this.#pendingChange = { slot: Math.max(change.slot, this.#pendingChange?.slot ?? 0), isReorg };
        void this.#updateUntilCurrent();
      },
      onEnd,
    });
  }

  /** The newest update; undefined before the first one. */
  get latest(): TopicUpdate | undefined {
    return this.#latest;
  }

  /** Reads the current value. Rejects as a read of the route does. */
  async readCurrent(): Promise<TopicUpdate> {
    return this.#accept(await this.#read(undefined, false));
  }

  /** Ends the feed. */
  close(): void {
    this.#isClosed = true;
    this.#cancelRetry();
    this.#unsubscribe();
  }

  /** Reads the route until no change is pending, one read at a time: of many changes only the newest counts. */
  async #updateUntilCurrent(): Promise<void> {
    if (this.#isUpdating) return;
    this.#isUpdating = true;
    this.#cancelRetry();
    for (let change = this.#pendingChange; change !== undefined && !this.#isClosed; change = this.#pendingChange) {
      this.#pendingChange = undefined;
      try {
        this.#accept(await this.#read(change.slot, change.isReorg));
      } catch {
        this.#pendingChange ??= change;
        this.#cancelRetry = this.#options.clock.after(SLOT_MS, () => void this.#updateUntilCurrent());
        break;
      }
    }
    this.#isUpdating = false;
  }

  /** Keeps the newer of two updates, and passes it on if it differs. */
  #accept(update: TopicUpdate): TopicUpdate {
    const previous = this.#latest;
    if (previous !== undefined && update.slot <= previous.slot) return previous;
    this.#latest = update;
    if (previous !== undefined && (update.result !== previous.result || update.isReorg)) this.#options.onUpdate(update);
    return update;
  }

  async #read(minSlot: Slot | undefined, isReorg: boolean): Promise<TopicUpdate> {
    const { readThrough, sealer, topic } = this.#options;
    const readRequest = { ...topic.request, minSlot };
    const { entry } = readThrough.fromCache(readRequest) ?? (await readThrough.fetch(readRequest));
    const body = sealer.bodyOf(entry) ?? (await sealer.seal(entry));
    return { slot: entry.slot, result: entry.result, body, isReorg };
  }
}
