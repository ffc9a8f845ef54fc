import type { AccountChange, AccountChangeSource, AccountSubscription } from '../../../shared/domain/account-change.ts';
import type { Clock } from '../../../shared/domain/clock.ts';
import type { GatewayError } from '../../../shared/domain/gateway-error.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import { type RouteReads, readAnswer } from '../../routes/routing/route-read-through.ts';
import type { AccountTopic } from '../../routes/stream-topics.ts';
import type { Sealer } from '../../serving/sealer.ts';
import type { SubscriptionCaller } from './stream-connection.ts';

/** A state of a topic. Its body is the one that the route answers at the same slot. */
export interface TopicUpdate {
  readonly slot: Slot;
  readonly result: string;
  readonly body: string | Buffer;
  readonly isReorg: boolean;
}

/** Time until a read that failed is tried again, in milliseconds. */
const RETRY_MS = 400;

export interface TopicFeedOptions {
  readonly topic: AccountTopic;
  readonly caller: SubscriptionCaller;
  readonly readThrough: RouteReads;
  /** Makes the bodies of updates. Default: they have none. */
  readonly sealer?: Sealer;
  readonly liveAccounts: AccountChangeSource;
  readonly clock: Clock;
  readonly onUpdate: (update: TopicUpdate) => void;
  readonly onEnd: (reason: GatewayError) => void;
}

/** The updates of one topic for all its subscribers: it re-reads the route after each change of the account. */
export class TopicFeed {
  readonly #options: TopicFeedOptions;
  readonly #subscription: AccountSubscription;
  #pendingChange: AccountChange | undefined;
  #isUpdating = false;
  #latest: TopicUpdate | undefined;
  #cancelRetry = (): void => {};
  #isClosed = false;

  /** Throws if the account can't be kept live. */
  constructor(options: TopicFeedOptions) {
    const { topic, caller, liveAccounts, onEnd } = options;
    this.#options = options;
    const onChange = (change: AccountChange): void => {
      const isReorg = change.isReorg || this.#pendingChange?.isReorg === true;
      this.#pendingChange = { slot: Math.max(change.slot, this.#pendingChange?.slot ?? 0), isReorg };
      void this.#updateUntilCurrent();
    };
    this.#subscription = liveAccounts.subscribe(topic.address, topic.commitment, { onChange, onEnd }, caller.name);
  }

  get latest(): TopicUpdate | undefined {
    return this.#latest;
  }

  /** Has the place of the account count for another caller, too. */
  addCaller(caller: SubscriptionCaller): void {
    this.#subscription.addCaller(caller.name);
  }

  /** Removes one {@link addCaller}, or the first caller's subscription. Another caller must be left. */
  removeCaller(caller: SubscriptionCaller): void {
    this.#subscription.removeCaller(caller.name);
  }

  async readCurrent(caller: SubscriptionCaller): Promise<TopicUpdate> {
    return this.#accept(await this.#read(undefined, false, caller));
  }

  close(): void {
    this.#isClosed = true;
    this.#cancelRetry();
    this.#subscription.end();
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
        this.#cancelRetry = this.#options.clock.after(RETRY_MS, () => void this.#updateUntilCurrent());
        break;
      }
    }
    this.#isUpdating = false;
  }

  #accept(update: TopicUpdate): TopicUpdate {
    const previous = this.#latest;
    if (previous !== undefined && update.slot <= previous.slot) return previous;
    this.#latest = update;
    if (previous !== undefined && (update.result !== previous.result || update.isReorg)) this.#options.onUpdate(update);
    return update;
  }

  /** A caller's first read waits for its turn like a request. A change is read once for all, as work of the gateway. */
  async #read(minSlot: Slot | undefined, isReorg: boolean, caller?: SubscriptionCaller): Promise<TopicUpdate> {
    const { readThrough, sealer, topic } = this.#options;
    const readRequest = { ...topic.request, minSlot, isForPush: true };
    const { entry } = await readAnswer(readThrough, readRequest, caller?.admit, caller?.newCost());
    const body = sealer === undefined ? '' : (sealer.bodyOf(entry) ?? (await sealer.seal(entry)));
    return { slot: entry.slot, result: entry.result.toString(), body, isReorg };
  }
}
