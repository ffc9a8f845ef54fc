import type { Clock } from '../shared/domain/clock.ts';
import { isAfter, parseEventId } from '../shared/domain/event-id.ts';
import type { Slot } from '../shared/domain/slot.ts';
import { MAX_ADDRESSES } from '../shared/domain/stream-protocol.ts';
import { exponentialDelayMs } from '../shared/runtime/exponential-backoff.ts';
import { isTransient } from './retry.ts';
import { createSendThrottle, type SendThrottle } from './send-throttle.ts';
import { SlotgateError } from './slotgate-error.ts';
import {
  type AccountSubscription,
  type LostChanges,
  parseSubscriptionMessage,
  type SubscriptionMessage,
  subscriptionErrorOf,
  subscriptionRequest,
  type Topic,
  topicKeyOf,
  type Update,
  verifyUpdate,
} from './subscription-messages.ts';
import { EventChain, type StateBefore } from './verify/event-chain.ts';
import type { Receipt } from './verify/receipt.ts';
import { ensure, ReceiptError } from './verify/receipt-error.ts';
import type { VerifiedAnswer, VerifyAnswer } from './verify-answer.ts';

/** The shortest and the longest delay before a subscription is sent again: it doubles with each failure in a row. */
const [RESUBSCRIBE_DELAY_MS, MAX_RESUBSCRIBE_DELAY_MS] = [2000, 60_000];

/** The longest delay that a gateway may name. */
const MAX_RETRY_AFTER_MS = 600_000;

/** With any other address a message of many could be longer than 4 KiB, and the gateway would close the stream for all. */
const SENDABLE_ADDRESS = /^\w{1,44}$/;

/** The most addresses of one message with ids: more don't fit into 4 KiB. */
const MAX_RESUMED = 50;

export interface StreamSubscriptionsOptions {
  readonly clock: Clock;
  readonly verifyAnswer: VerifyAnswer;
  /** Called for a message that is not one of a gateway. */
  readonly onError: ((error: unknown) => void) | undefined;
}

interface SentMessage {
  readonly op: 'subscribe' | 'unsubscribe';
  readonly subscriptions: Map<string, AccountSubscription<Topic>>;
}

export class StreamSubscriptions {
  readonly #options: StreamSubscriptionsOptions;
  /** All subscriptions, each with the id of the message that requested it on this connection; undefined before that. */
  readonly #messageIds = new Map<AccountSubscription<Topic>, number | undefined>();
  /** How far those that resume have come. */
  readonly #positions = new WeakMap<AccountSubscription<Topic>, Position>();
  /** How often in a row each has failed without news. */
  readonly #failures = new WeakMap<AccountSubscription<Topic>, number>();
  readonly #toUnsubscribe = new Set<AccountSubscription<Topic>>();
  readonly #toSubscribe = new Set<AccountSubscription<Topic>>();
  readonly #sent = new Map<number, SentMessage>();
  #lastId = 0;
  /** Cancel what is to happen later on this connection. */
  readonly #timers = new Set<() => void>();
  #throttle: SendThrottle | undefined;

  constructor(options: StreamSubscriptionsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#messageIds.size;
  }

  add(subscription: AccountSubscription<Topic>): () => void {
    if (!SENDABLE_ADDRESS.test(subscription.address)) {
      const error = new SlotgateError('invalid_address', 'no account has this address', { status: 400 });
      queueMicrotask(() => subscription.onError?.(error));
      return () => {};
    }
    this.#messageIds.set(subscription, undefined);
    this.#enqueue(subscription);
    return () => this.#remove(subscription);
  }

  onConnect(send: (message: string) => void): void {
    this.#throttle = createSendThrottle(this.#options.clock, () => {
      const message = this.#nextMessage();
      if (message !== undefined) send(message);
      return message !== undefined;
    });
    for (const subscription of this.#messageIds.keys()) this.#enqueue(subscription);
  }

  onDisconnect(): void {
    this.#throttle?.close();
    this.#throttle = undefined;
    for (const cancel of this.#timers) cancel();
    this.#timers.clear();
    this.#sent.clear();
    this.#toSubscribe.clear();
    this.#toUnsubscribe.clear();
    for (const subscription of this.#messageIds.keys()) this.#messageIds.set(subscription, undefined);
  }

  close(): void {
    this.#messageIds.clear();
    this.onDisconnect();
  }

  /** Handles a message about subscriptions. Rejects only with what a callback throws. */
  async handle(text: string): Promise<void> {
    const message = parseSubscriptionMessage(text);
    if (message === undefined) {
      this.#options.onError?.(new SlotgateError('unreadable', 'the gateway sent a malformed message'));
      return;
    }
    if (message.ids !== undefined) this.#onNotHandled(message.ids);
    else if (message.type === 'error') this.#onRefusal(message);
    else if (message.type === 'mark') this.#onMark(message);
    else if (message.type === 'unsubscribed') this.#sent.delete(Number(message.id));
    else if (message.answer !== undefined) await this.#onAnswer(message);
  }

  #enqueue(subscription: AccountSubscription<Topic>): void {
    if (this.#throttle === undefined) return; // the next connection sends all
    this.#toSubscribe.add(subscription);
    this.#throttle.schedule();
  }

  #remove(subscription: AccountSubscription<Topic>): void {
    const id = this.#messageIds.get(subscription);
    this.#messageIds.delete(subscription);
    this.#toSubscribe.delete(subscription);
    if (id !== undefined) this.#unsubscribe(id, subscription);
  }

  #unsubscribe(id: number, subscription: AccountSubscription<Topic>): void {
    if (!this.#forget(id, subscription)) return;
    this.#toUnsubscribe.add(subscription);
    this.#throttle?.schedule();
  }

  /** Makes the next message; undefined if there is nothing to send. Subscriptions end before others of the same account start. */
  #nextMessage(): string | undefined {
    const op = this.#toUnsubscribe.size > 0 ? 'unsubscribe' : 'subscribe';
    const subscriptions = removeBatch(op === 'unsubscribe' ? this.#toUnsubscribe : this.#toSubscribe);
    const [first] = subscriptions.values();
    if (first === undefined) return undefined;
    const id = ++this.#lastId;
    this.#sent.set(id, { op, subscriptions });
    if (op === 'subscribe') for (const subscription of subscriptions.values()) this.#messageIds.set(subscription, id);
    const since = [...subscriptions.values()].map((subscription) => this.#positions.get(subscription)?.event ?? null);
    const isResumed = op === 'subscribe' && first.resumes === true;
    return subscriptionRequest(op, id, first, [...subscriptions.keys()], isResumed ? since : undefined);
  }

  async #onAnswer(message: SubscriptionMessage): Promise<void> {
    const subscription = this.#subscriptionOf(message);
    if (subscription === undefined) return; // it has ended since
    let update: Update<Topic>;
    let news: News | undefined;
    try {
      update = await verifyUpdate(message, subscription, this.#options.verifyAnswer);
      if (this.#subscriptionOf(message) !== subscription) return; // it has ended, or begun again, in the meantime
      news = this.#newsIn(subscription, message, update);
    } catch (thrown) {
      if (this.#subscriptionOf(message) === subscription) this.#onUnproven(message, subscription, thrown);
      return;
    }
    if (news === undefined) return;
    this.#failures.delete(subscription);
    if (news.lost) subscription.onLost?.(news.lost);
    subscription.onUpdate(update);
  }

  /**
   * Records an event or a state. Returns undefined for the state of a stream that goes on, which is no news. Throws a ReceiptError
   * `chain` for an event that does not follow the last one, and for a state from before it, which somebody may have kept.
   */
  #newsIn(
    subscription: AccountSubscription<Topic>,
    { event, gap, before }: SubscriptionMessage,
    { receipt, slot }: VerifiedAnswer<unknown>,
  ): News | undefined {
    if (subscription.resumes !== true) return { lost: undefined };
    const position = this.#positionOf(subscription);
    const { last } = position;
    const { digest, previous = null } = receipt;
    const isState = previous === null;
    const isKnown = isState && !gap && last?.digest === digest;
    // Another process may know since when an account has been as it is: that slot is older.
    ensure(last === undefined || isKnown || slot > last.slot, 'chain');
    const reached = parseEventId(position.event ?? '')?.slot ?? -1; // a mark may have come behind the last event
    const follows = isNext(position, receipt, before);
    position.isDoubted = false;
    position.isBroken = false;
    position.last = { digest, slot: Math.max(slot, last?.slot ?? 0) };
    moveTo(position, event, isState && !isKnown);
    if (isKnown) return undefined;
    if (gap || last === undefined || (!isState && follows)) return { lost: gap ?? undefined };
    return {
      lost: { from: reached < slot ? Math.max(reached, last.slot) : last.slot, to: slot, message: UNEXPLAINED },
    };
  }

  /**
   * Reports an update that proves nothing. The subscription begins again if another one may come in its place: where only the
   * gateway can't be reached, and where events are missing, behind the last event.
   */
  #onUnproven({ id }: SubscriptionMessage, subscription: AccountSubscription<Topic>, thrown: unknown): void {
    const areMissing = thrown instanceof ReceiptError && thrown.code === 'chain';
    const position = this.#positionOf(subscription);
    position.isDoubted = true;
    if (areMissing) position.isBroken = true;
    if (areMissing || thrown instanceof SlotgateError) {
      this.#unsubscribe(Number(id), subscription);
      this.#retry(subscription);
    }
    subscription.onError?.(thrown);
  }

  #positionOf(subscription: AccountSubscription<Topic>): Position {
    const position = this.#positions.get(subscription) ?? {
      chain: new EventChain(),
      event: undefined,
      last: undefined,
      isDoubted: false,
      isBroken: false,
    };
    this.#positions.set(subscription, position);
    return position;
  }

  #onMark(message: SubscriptionMessage): void {
    const subscription = this.#subscriptionOf(message);
    if (subscription === undefined) return;
    const position = this.#positionOf(subscription);
    if (!position.isDoubted) moveTo(position, message.event);
  }

  #subscriptionOf({ id, address }: SubscriptionMessage): AccountSubscription<Topic> | undefined {
    return this.#sent.get(Number(id))?.subscriptions.get(String(address));
  }

  /** Sends the messages again that the gateway did not handle, as they were over the pace of all streams of its caller. */
  #onNotHandled(ids: readonly unknown[], delayMs = RESUBSCRIBE_DELAY_MS): void {
    for (const id of ids) {
      const sent = this.#sent.get(Number(id));
      this.#sent.delete(Number(id));
      if (sent?.op === 'subscribe')
        for (const subscription of sent.subscriptions.values()) this.#retry(subscription, delayMs);
      else for (const subscription of sent?.subscriptions.values() ?? []) this.#toUnsubscribe.add(subscription);
    }
    this.#later(() => this.#throttle?.schedule(), delayMs);
  }

  /** Retries after a transient error, unless the next connection does so anyway; ends the subscription after others. */
  #onRefusal(message: SubscriptionMessage): void {
    const id = Number(message.id);
    const { op, subscriptions } = this.#sent.get(id) ?? {};
    const error = subscriptionErrorOf(message);
    const isAboutOne = message.address !== undefined;
    if (!isAboutOne && isTransient(error)) this.#onNotHandled([id], delayMsOf(message));
    else if (op === 'unsubscribe') this.#sent.delete(id);
    else if (subscriptions !== undefined) {
      const refused = isAboutOne ? [subscriptions.get(String(message.address))] : subscriptions.values();
      const delayMs = delayMsOf(message);
      for (const subscription of refused)
        if (subscription !== undefined) this.#onRefused(id, subscription, error, delayMs);
    }
  }

  #onRefused(id: number, subscription: AccountSubscription<Topic>, error: SlotgateError, delayMs: number): void {
    this.#forget(id, subscription);
    // About one address, `rate_limited` means that the connection has all the subscriptions that it may have.
    if (error.code !== 'rate_limited' && isTransient(error)) {
      this.#retry(subscription, delayMs);
      return;
    }
    this.#messageIds.delete(subscription);
    subscription.onError?.(error);
  }

  #forget(id: number, { address }: AccountSubscription<Topic>): boolean {
    const subscriptions = this.#sent.get(id)?.subscriptions;
    const isRemoved = subscriptions?.delete(address) === true;
    if (subscriptions?.size === 0) this.#sent.delete(id);
    return isRemoved;
  }

  #retry(subscription: AccountSubscription<Topic>, minDelayMs = 0): void {
    const failures = this.#failures.get(subscription) ?? 0;
    this.#failures.set(subscription, failures + 1);
    const backoffMs = exponentialDelayMs(failures, RESUBSCRIBE_DELAY_MS, MAX_RESUBSCRIBE_DELAY_MS);
    this.#messageIds.set(subscription, undefined);
    this.#later(
      () => {
        if (this.#messageIds.has(subscription)) this.#enqueue(subscription);
      },
      Math.max(backoffMs, minDelayMs),
    );
  }

  /** Calls back after a pause, unless the connection has ended until then. */
  #later(callback: () => void, delayMs: number): void {
    const cancel = this.#options.clock.after(delayMs, () => {
      this.#timers.delete(cancel);
      callback();
    });
    this.#timers.add(cancel);
  }
}

/** What a subscription has not had before, and the changes that it has lost until then. */
interface News {
  readonly lost: LostChanges | undefined;
}

const UNEXPLAINED = 'the gateway sent another state, and no change that leads to it';

/** The last event of a subscription that resumes, and the chain of its receipts. */
interface Position {
  chain: EventChain;
  event: string | undefined;
  /** The digest of the last result, and the newest slot of which a receipt has proven one. */
  last: { readonly digest: string; readonly slot: Slot } | undefined;
  /** Whether what came last has proven nothing: no mark then says that nothing is missing. */
  isDoubted: boolean;
  /** Whether events are missing, and were requested again. */
  isBroken: boolean;
}

/** Adds an event to the chain. Returns false if it begins another one, since the gateway has no event that follows the last. */
function isNext(position: Position, receipt: Receipt, before: StateBefore | undefined): boolean {
  try {
    position.chain.add(receipt, before);
    return true;
  } catch (thrown) {
    if (!position.isBroken) throw thrown;
    position.chain = new EventChain();
    position.chain.add(receipt, before);
    return false;
  }
}

/** Goes on behind an event, or up to a mark. Nobody has signed these ids: one that is too new holds until the next state only. */
function moveTo(position: Position, event = '', isBeginning = false): void {
  const [id, known] = [parseEventId(event), parseEventId(position.event ?? '')];
  if (id !== undefined && (isBeginning || known === undefined || isAfter(id, known))) position.event = event;
}

const delayMsOf = ({ retryAfter = 0 }: SubscriptionMessage): number =>
  Math.min(Math.max(RESUBSCRIBE_DELAY_MS, retryAfter * 1000), MAX_RETRY_AFTER_MS);

/** Removes the subscriptions that one message can name: one topic, one commitment, each address once. */
function removeBatch(waiting: Set<AccountSubscription<Topic>>): Map<string, AccountSubscription<Topic>> {
  const batch = new Map<string, AccountSubscription<Topic>>();
  let key: string | undefined;
  for (const subscription of waiting) {
    if (batch.size === (subscription.resumes === true ? MAX_RESUMED : MAX_ADDRESSES)) break;
    key ??= topicKeyOf(subscription);
    if (topicKeyOf(subscription) !== key || batch.has(subscription.address)) continue;
    batch.set(subscription.address, subscription);
    waiting.delete(subscription);
  }
  return batch;
}
