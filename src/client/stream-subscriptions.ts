import type { Clock } from '../domain/clock.ts';
import { isTransient } from './retry.ts';
import { SendThrottle } from './send-throttle.ts';
import { SlotgateError } from './slotgate-error.ts';
import {
  type AccountSubscription,
  parseSubscriptionMessage,
  subscriptionErrorOf,
  subscriptionRequest,
  type Topic,
  verifyUpdate,
} from './subscription-messages.ts';
import type { VerifyAnswer } from './verify-answer.ts';

/** The delay before a subscription is sent again that the gateway refused with a transient error. */
const RESUBSCRIBE_DELAY_MS = 2000;

export interface StreamSubscriptionsOptions {
  readonly clock: Clock;
  readonly verifyAnswer: VerifyAnswer;
  /** Called for a message that is not one of a gateway. */
  readonly onError: ((error: unknown) => void) | undefined;
}

/** The account subscriptions of one stream, which are sent again on each new connection. */
export class StreamSubscriptions {
  readonly #options: StreamSubscriptionsOptions;
  readonly #byId = new Map<number, AccountSubscription<Topic>>();
  #lastId = 0;
  /** The throttle of the open connection; undefined without one. */
  #throttle: SendThrottle | undefined;

  constructor(options: StreamSubscriptionsOptions) {
    this.#options = options;
  }

  /** Adds a subscription. Returns the function that ends it. */
  add(subscription: AccountSubscription<Topic>): () => void {
    const id = ++this.#lastId;
    this.#byId.set(id, subscription);
    this.#throttle?.enqueue(subscriptionRequest('subscribe', id, subscription));
    return () => {
      if (this.#byId.delete(id)) this.#throttle?.enqueue(subscriptionRequest('unsubscribe', id, subscription));
    };
  }

  /** Sends all subscriptions on a new connection. */
  onConnect(send: (message: string) => void): void {
    this.#throttle = new SendThrottle(this.#options.clock, send);
    for (const [id, subscription] of this.#byId)
      this.#throttle.enqueue(subscriptionRequest('subscribe', id, subscription));
  }

  /** Sends nothing more until the next connection. */
  onDisconnect(): void {
    this.#throttle?.close();
    this.#throttle = undefined;
  }

  /** Ends all subscriptions. */
  close(): void {
    this.#byId.clear();
    this.onDisconnect();
  }

  /** Handles a message about a subscription. Rejects only with what a callback throws. */
  async handle(text: string): Promise<void> {
    const message = parseSubscriptionMessage(text);
    if (message === undefined) {
      this.#options.onError?.(new SlotgateError('unreadable', 'the gateway sent a malformed message'));
      return;
    }
    const id = Number(message.id);
    const subscription = this.#byId.get(id);
    if (subscription === undefined) return; // it has ended meanwhile
    if (message.type === 'error') this.#onRefusal(id, subscription, subscriptionErrorOf(message));
    if (message.answer === undefined) return;
    const update = await verifyUpdate(message, subscription, this.#options.verifyAnswer).catch((thrown: unknown) => {
      subscription.onError?.(thrown);
    });
    if (update !== undefined && this.#byId.has(id)) subscription.onUpdate(update);
  }

  /** Retries after a transient error, unless the next connection does so anyway; ends the subscription after others. */
  #onRefusal(id: number, subscription: AccountSubscription<Topic>, error: SlotgateError): void {
    if (error.code === 'rate_limited' || !isTransient(error)) {
      this.#byId.delete(id);
      subscription.onError?.(error);
      return;
    }
    const throttle = this.#throttle;
    this.#options.clock.after(RESUBSCRIBE_DELAY_MS, () => {
      if (throttle === this.#throttle && this.#byId.get(id) === subscription)
        throttle?.enqueue(subscriptionRequest('subscribe', id, subscription));
    });
  }
}
