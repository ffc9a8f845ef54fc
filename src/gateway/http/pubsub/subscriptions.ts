import type { Clock } from '../../../shared/domain/clock.ts';
import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import type { LogSource } from '../../live/logs/live-logs.ts';
import type { RouteContext } from '../../routes/routing/route.ts';
import type { Mesh } from '../../upstream/mesh/mesh.ts';
import type { EventChannels } from '../events/event-channels.ts';
import type { SubscriptionCaller } from '../stream/stream-connection.ts';
import { type AccountFeeds, AccountNotifications } from './account-source.ts';
import { sourceOfEvents } from './event-source.ts';
import { sourceOfLogs } from './log-source.ts';
import { NotificationQueue } from './notification-queue.ts';
import type { SignatureWatch } from './signature-watch.ts';
import { type Source, type SourceOptions, sourceOf } from './source.ts';
import { SUBSCRIPTION_KINDS, type SubscriptionKind, type SubscriptionRequest } from './subscription-request.ts';

/**
 * The time from the answer to a subscription to a notification that is ready before, in milliseconds. A client that reads both
 * together may lose the latter, as kit does: its caller has no iterator yet.
 */
const AFTER_ANSWER_MS = 20;

const TOO_MANY_WAIT = new GatewayError(
  'overloaded',
  'more notifications of yours wait than can be sent: subscribe to less',
);

/** A client, as its subscriptions use it. */
export interface Subscriber {
  readonly caller: SubscriptionCaller;
  send(text: string): void;
  /** Sends a notification that may wait: returns false if there is no room. {@link Subscriptions.resume} must follow. */
  offer(text: string): boolean;
  /** Called when a subscription has ended that the client did not end. */
  onEnded(reason: GatewayError): void;
}

/** A subscription, shared by all clients with equal parameters, which have one id for it. Events are of one client. */
interface SharedSubscription {
  readonly id: number;
  readonly key: string;
  readonly kind: SubscriptionKind;
  readonly source: Source;
  /** Those that are sent its notifications. */
  readonly subscribers: Set<Subscriber>;
  /** Those that wait for its first answer, and those above. */
  readonly callers: Set<Subscriber>;
  /** What those above are sent that wait while it is notified; undefined before the only notification of a signature. */
  last: string | undefined;
}

export interface SubscriptionsOptions {
  readonly clock: Clock;
  readonly accounts: AccountFeeds;
  readonly signatures: SignatureWatch;
  readonly liveLogs: LogSource;
  readonly events: Pick<EventChannels, 'join'>;
  readonly mesh: Pick<Mesh, 'onTip' | 'tip'>;
  readonly context: Pick<RouteContext, 'geyser'>;
}

/** The subscriptions of all clients: equal ones share a source and an id, and each notification is written once. */
export class Subscriptions {
  readonly #options: SubscriptionsOptions;
  readonly #queue = new NotificationQueue<Subscriber>(
    ({ caller }) => caller.name,
    (subscriber) => subscriber.onEnded(TOO_MANY_WAIT),
  );
  readonly #byKey = new Map<string, SharedSubscription>();
  readonly #bySubscriber = new Map<Subscriber, Map<number, SharedSubscription>>();
  /** The numbers of subscriptions by kind. */
  readonly counts = new Map<SubscriptionKind, number>(SUBSCRIPTION_KINDS.map((kind) => [kind, 0]));
  #lastId = 0;

  constructor(options: SubscriptionsOptions) {
    this.#options = options;
  }

  countOf(subscriber: Subscriber): number {
    return this.#bySubscriber.get(subscriber)?.size ?? 0;
  }

  /** Subscribes a client. `acknowledge` is called with the id, and waited for before the first notification. Rejects with GatewayError. */
  async subscribe(
    subscriber: Subscriber,
    request: SubscriptionRequest,
    acknowledge: (id: number) => Promise<void> | void,
  ): Promise<void> {
    const key = JSON.stringify(request);
    const own = this.#bySubscriber.get(subscriber) ?? new Map<number, SharedSubscription>();
    const known = isOfOne(request) ? [...own.values()].find((each) => each.key === key) : this.#byKey.get(key);
    known?.source.renew?.();
    const shared = known ?? this.#create(key, request, subscriber);
    if (!shared.callers.has(subscriber)) {
      if (shared.callers.size > 0) shared.source.addCaller(subscriber.caller);
      shared.callers.add(subscriber);
      own.set(shared.id, shared);
      this.#bySubscriber.set(subscriber, own);
      this.#count(shared.kind, 1);
    }
    try {
      const { ready } = shared.source;
      if (ready !== undefined) await ready; // else the answer precedes those to later messages of the same read
    } catch (thrown) {
      this.#remove(subscriber, shared);
      throw thrown;
    }
    if (!shared.callers.has(subscriber)) return; // closed since
    const acknowledged = acknowledge(shared.id);
    if (acknowledged !== undefined) await acknowledged;
    if (!shared.callers.has(subscriber)) return;
    shared.subscribers.add(subscriber);
    this.#options.clock.after(AFTER_ANSWER_MS, () => this.#begin(subscriber, shared));
  }

  /** Notifies a client of what was there before it subscribed. */
  #begin(subscriber: Subscriber, shared: SharedSubscription): void {
    if (!shared.callers.has(subscriber)) return; // closed since
    if (shared.last !== undefined) this.#send(subscriber, shared, shared.last);
    else if (shared.kind === 'signature') this.#options.signatures.poll();
    shared.source.resume?.();
  }

  /** Ends a subscription. Throws `invalid_params` if the client has none of this id. */
  unsubscribe(subscriber: Subscriber, id: unknown): void {
    const shared = typeof id === 'number' ? this.#bySubscriber.get(subscriber)?.get(id) : undefined;
    if (shared === undefined) throw new GatewayError('invalid_params', 'Invalid subscription id.');
    this.#remove(subscriber, shared);
  }

  /** Continues with the events that a client had no room for. */
  resume(subscriber: Subscriber): void {
    for (const { source } of this.#bySubscriber.get(subscriber)?.values() ?? []) source.resume?.();
  }

  /** Ends all subscriptions of a closed connection. */
  removeSubscriber(subscriber: Subscriber): void {
    for (const shared of [...(this.#bySubscriber.get(subscriber)?.values() ?? [])]) this.#remove(subscriber, shared);
  }

  #create(key: string, request: SubscriptionRequest, first: Subscriber): SharedSubscription {
    const id = ++this.#lastId;
    const subscribers = new Set<Subscriber>();
    const isLast = request.kind === 'signature';
    const textOf = (result: string): string =>
      `{"jsonrpc":"2.0","method":"${request.kind}Notification","params":{"result":${result},"subscription":${id}}}`;
    const forget = (): void => void this.#byKey.delete(key); // a subscription from now on is another one
    const source = this.#open(request, {
      caller: first.caller,
      offer: (result) => subscribers.has(first) && first.offer(textOf(result)),
      emit: (result) => {
        const text = textOf(result);
        if (isLast) {
          forget();
          shared.last = text;
        }
        this.#queue.add([...subscribers], text.length, (subscriber) => this.#send(subscriber, shared, text));
      },
      onExpired: () => {
        forget();
        for (const subscriber of [...shared.callers]) this.#remove(subscriber, shared);
      },
      onEnd: (reason) => {
        for (const subscriber of [...shared.callers]) {
          this.#remove(subscriber, shared);
          subscriber.onEnded(reason);
        }
      },
    });
    const shared: SharedSubscription = {
      id,
      key,
      kind: request.kind,
      source,
      subscribers,
      callers: new Set(),
      last: undefined,
    };
    if (!isOfOne(request)) this.#byKey.set(key, shared);
    return shared;
  }

  #send(subscriber: Subscriber, shared: SharedSubscription, text: string): void {
    if (!shared.subscribers.has(subscriber)) return;
    if (shared.last !== undefined) this.#remove(subscriber, shared);
    subscriber.send(text);
  }

  #open(request: SubscriptionRequest, options: SourceOptions): Source {
    const { accounts, context, events, liveLogs, mesh, signatures } = this.#options;
    switch (request.kind) {
      case 'account':
        return request.events === undefined
          ? new AccountNotifications(accounts, request, options)
          : sourceOfEvents(events, request, request.events, options, () => context.geyser() !== null);
      case 'logs':
        return sourceOfLogs(liveLogs, request, options);
      case 'signature':
        return sourceOf(signatures.watch(request, { onReached: options.emit, onExpired: options.onExpired }));
      case 'root':
        return sourceOf({ close: mesh.onTip('finalized', (slot) => options.emit(String(slot))) });
      case 'slot': {
        let previous = mesh.tip('processed') ?? 0;
        const stop = mesh.onTip('processed', (slot, parent = previous) => {
          options.emit(`{"slot":${slot},"parent":${parent},"root":${mesh.tip('finalized') ?? 0}}`);
          previous = slot;
        });
        return sourceOf({ close: stop });
      }
    }
  }

  #remove(subscriber: Subscriber, shared: SharedSubscription): void {
    if (!shared.callers.delete(subscriber)) return;
    shared.subscribers.delete(subscriber);
    this.#count(shared.kind, -1);
    const own = this.#bySubscriber.get(subscriber);
    own?.delete(shared.id);
    if (own?.size === 0) this.#bySubscriber.delete(subscriber);
    if (shared.callers.size > 0) {
      shared.source.removeCaller(subscriber.caller);
      return;
    }
    if (this.#byKey.get(shared.key) === shared) this.#byKey.delete(shared.key);
    shared.source.close(subscriber.caller);
  }

  #count(kind: SubscriptionKind, change: 1 | -1): void {
    this.counts.set(kind, (this.counts.get(kind) ?? 0) + change);
  }
}

/** Whether each client has a subscription of its own: it begins where that client is. */
const isOfOne = (request: SubscriptionRequest): boolean => request.kind === 'account' && request.events !== undefined;
