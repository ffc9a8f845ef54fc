import type { Socket } from 'node:net';
import { WebSocket } from 'ws';
import type { Clock } from '../../../shared/domain/clock.ts';
import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import { RawJson, toJson } from '../../../shared/domain/to-json.ts';
import { corkForTurn } from '../../../shared/runtime/cork-for-turn.ts';
import { hashText } from '../../../shared/runtime/hash-text.ts';
import { readInTurns } from '../../../shared/runtime/read-in-turns.ts';
import { runYielding, YIELD_EVERY_BYTES } from '../json/cooperative.ts';
import { malformed } from '../json/json-scanner.ts';
import { type Picked, type PickedNested, pickNested, pickNestedYielding, shortText } from '../json/raw-json.ts';
import { StringCheck } from '../json/string-check.ts';
import { connectionFault } from '../rpc/failure-reason.ts';
import type { NodeOptions, UpstreamSettings } from '../upstream-options.ts';
import { Heartbeat } from './heartbeat.ts';
import { MessageQueue, nextTurn } from './message-queue.ts';
import type { PubsubCounts } from './pubsub-counts.ts';

/** Longest pause of reading: past it the gateway is too slow for the node, and a new channel is better than a growing lag. */
const MAX_PAUSE_MS = 2000;
/** What is read of a message, each within what is named last before. */
const MESSAGE = [
  ['id', 'error', 'result', 'params'],
  ['subscription', 'result'],
  ['value', 'context'],
  ['slot'],
] as const;

/** Node's id of a subscription: a number, or its text where that exceeds a double. */
export type SubscriptionId = number | string;

/** The reason of a close that is no loss. */
export const NOT_NEEDED = 'is no longer needed';

export interface Notification {
  readonly result: Buffer;
  /** The slot of its context, and its value, where it has them. */
  readonly slot: Buffer | undefined;
  readonly value: Buffer | undefined;
}

export interface ChannelSubscription {
  readonly method: string;
  /** Id that the node gave it on its present channel; the channel sets it. */
  subscriptionId?: SubscriptionId | undefined;
  /** A hash of its method and params; the channel sets it. */
  contentsHash?: number | undefined;
  onNotification(notification: Notification): void;
  /** Called when the node has accepted it: notifications arrive from now on. */
  onAcknowledged(): void;
  /** Called with the node's `error` when it has rejected it. */
  onRejected(error: Buffer | undefined): void;
}

interface PendingSubscription {
  readonly subscription: ChannelSubscription;
  readonly sentMs: number;
}

/** Subscriptions of equal contents that the node has not answered yet. */
interface PendingContents {
  count: number;
  /** Stand-ins for the subscribers that the node's ids of these contents have lost since. */
  readonly standIns: ChannelSubscription[];
}

export interface ChannelOptions {
  readonly node: NodeOptions;
  readonly settings: UpstreamSettings;
  readonly clock: Clock;
  readonly counts: PubsubCounts;
  /** Called before anything is subscribed. A rejection closes the channel. */
  verifyGenesis(): Promise<unknown>;
  /** Called once the genesis is verified, on a channel that is still open. */
  onReady(): void;
  /**
   * Called once, whatever the reason. Nothing is called afterwards. `isUnanswered` says that the node ended it, or sent no
   * answer in time, while it had not answered all subscriptions.
   */
  onClose(reason: string, isUnanswered: boolean): void;
}

/**
 * One WebSocket to a node, from handshake to close. It closes when the node closes it, fails the genesis check, falls silent,
 * leaves a ping or a subscription unanswered, sends a malformed message or sends faster than the gateway can read.
 */
export class PubsubChannel {
  readonly #options: ChannelOptions;
  readonly #socket: WebSocket;
  /** That of the WebSocket, once it is open. */
  #connection: Socket | undefined;
  readonly #messages: MessageQueue;
  readonly #pending = new Map<number, PendingSubscription>();
  readonly #pendingByContents = new Map<number | undefined, PendingContents>();
  readonly #stopped = new Set<ChannelSubscription>();
  /** Subscribers by the node's id. Equal subscriptions share an id. */
  readonly #subscribersById = new Map<SubscriptionId, ChannelSubscription | Set<ChannelSubscription>>();
  readonly #heartbeat: Heartbeat;
  #cancelPauseTimeout = (): void => {};
  #cancelAckTimeout: (() => void) | undefined;
  #lastId = 0;
  #isOpen = false;
  #isClosed = false;

  constructor(options: ChannelOptions) {
    const { node, settings, clock } = options;
    this.#options = options;
    this.#heartbeat = new Heartbeat({
      clock,
      pingMs: settings.pingMs,
      silenceMs: settings.idleTimeoutMs,
      sendPing: () => this.#socket.ping(),
      onDead: (reason) => this.close(reason),
    });
    this.#messages = new MessageQueue({
      maxBytes: settings.maxBytes, // a single message may have as many
      handle: (message) => this.#handleMessage(message),
      pause: () => this.#pause(),
      resume: () => this.#resume(),
    });
    this.#socket = new WebSocket(node.wsUrl, {
      headers: { ...node.headers },
      perMessageDeflate: false,
      maxPayload: settings.maxBytes,
      handshakeTimeout: settings.ackTimeoutMs,
    });
    this.#socket.on('upgrade', ({ socket }) => {
      this.#connection = socket;
    });
    readInTurns(this.#socket, () => !this.#messages.isPaused);
    this.#socket.on('open', () => {
      if (this.#isClosed) return;
      this.#isOpen = true;
      options.counts.recordOpen();
      this.#heartbeat.start();
      options
        .verifyGenesis()
        .then(() => !this.#isClosed && options.onReady())
        .catch(() => this.close('failed the genesis check'));
    });
    this.#socket.on('pong', () => this.#heartbeat.onPong());
    this.#socket.on('message', (data) => {
      this.#heartbeat.onTraffic();
      if (!this.#isClosed && Buffer.isBuffer(data)) this.#messages.push(data);
    });
    this.#socket.on('error', (thrown) => this.#end(`failed: ${connectionFault(thrown)}`, true));
    this.#socket.on('close', (code) => this.#end(`was closed with code ${code}`, true));
  }

  /** Subscribes. From the first subscription on silence counts, since a node's slots never cease. */
  subscribe(subscription: ChannelSubscription, params: readonly unknown[]): void {
    this.#heartbeat.expectTraffic();
    subscription.subscriptionId = undefined;
    subscription.contentsHash = hashText(toJson([subscription.method, params]));
    const equal = this.#pendingByContents.get(subscription.contentsHash);
    if (equal === undefined) this.#pendingByContents.set(subscription.contentsHash, { count: 1, standIns: [] });
    else equal.count++;
    const sentMs = this.#options.clock.monotonic();
    this.#pending.set(this.#send(subscription.method, params), { subscription, sentMs });
    this.#watchAcks();
  }

  unsubscribe(subscription: ChannelSubscription): void {
    const { subscriptionId } = subscription;
    if (subscriptionId === undefined) this.#stopped.add(subscription);
    else this.#removeSubscriber(subscriptionId, subscription);
  }

  /** Terminates the connection, without a closing handshake that a dead node would leave unanswered. */
  close(reason: string): void {
    this.#end(reason, false);
  }

  #end(reason: string, isByNode: boolean): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#options.counts.subscriptions -= this.#subscribersById.size;
    if (this.#isOpen && reason !== NOT_NEEDED) this.#options.counts.recordLoss();
    this.#heartbeat.stop();
    this.#cancelPauseTimeout();
    this.#cancelAckTimeout?.();
    this.#messages.close();
    this.#socket.terminate();
    this.#options.onClose(reason, isByNode && this.#pending.size > 0);
  }

  #send(method: string, params: readonly unknown[]): number {
    const id = ++this.#lastId;
    if (this.#connection !== undefined) corkForTurn(this.#connection); // thousands may be subscribed to in a turn
    this.#socket.send(toJson({ jsonrpc: '2.0', id, method, params }), () => {}); // a failure also closes
    return id;
  }

  /** Closes the channel when the oldest pending subscription has waited too long; one timer serves all. */
  #watchAcks(): void {
    if (this.#cancelAckTimeout !== undefined) return;
    const [oldest] = this.#pending.values();
    if (oldest === undefined) return;
    const { clock, settings } = this.#options;
    const waitMs = Math.max(0, oldest.sentMs + settings.ackTimeoutMs - clock.monotonic());
    this.#cancelAckTimeout = clock.after(waitMs, () => {
      this.#cancelAckTimeout = undefined;
      const [first] = this.#pending.values();
      if (first === undefined) return;
      if (clock.monotonic() - first.sentMs >= settings.ackTimeoutMs) this.#end('left a subscription unanswered', true);
      else this.#watchAcks();
    });
  }

  #addSubscriber(subscriptionId: SubscriptionId, subscription: ChannelSubscription): void {
    subscription.subscriptionId = subscriptionId;
    const present = this.#subscribersById.get(subscriptionId);
    if (present === undefined) {
      this.#options.counts.subscriptions++;
      this.#subscribersById.set(subscriptionId, subscription);
    } else if (present instanceof Set) present.add(subscription);
    else this.#subscribersById.set(subscriptionId, new Set([present, subscription]));
  }

  /** Returns true for an id of another subscription, whose notifications would be mistaken for its own. */
  #isOfOthers(subscriptionId: SubscriptionId, { contentsHash }: ChannelSubscription): boolean {
    const present = this.#subscribersById.get(subscriptionId);
    const [first] = present instanceof Set ? present : [present];
    return first !== undefined && first.contentsHash !== contentsHash;
  }

  /**
   * Removes a subscriber, and unsubscribes what has no other: that ends the id for all, so not before the node has answered
   * each equal subscription, which may share it, unless it gives no id twice.
   */
  #removeSubscriber(subscriptionId: SubscriptionId, subscription: ChannelSubscription, mayBeGivenAgain = true): void {
    const present = this.#subscribersById.get(subscriptionId);
    if (present instanceof Set) {
      present.delete(subscription);
      if (present.size > 0) return;
    } else if (present !== subscription) return;
    const { method, contentsHash } = subscription;
    const equal = mayBeGivenAgain ? this.#pendingByContents.get(contentsHash) : undefined;
    if (equal !== undefined) {
      const standIn = { ...SILENT, method, contentsHash, subscriptionId };
      this.#subscribersById.set(subscriptionId, standIn);
      equal.standIns.push(standIn);
      return;
    }
    this.#subscribersById.delete(subscriptionId);
    if (!this.#isClosed) this.#options.counts.subscriptions--;
    this.#send(method.replace('Subscribe', 'Unsubscribe'), [new RawJson(`${subscriptionId}`)]);
  }

  /**
   * Handles a message, a long one in turns of the event loop. All are handled in order, so no notification precedes the
   * acknowledgement that names its id.
   */
  #handleMessage(message: Buffer): Promise<void> | undefined {
    if (this.#isClosed) return undefined;
    if (message.length > YIELD_EVERY_BYTES) return this.#handleLong(message);
    try {
      new StringCheck(message).run();
      this.#dispatch(pickNested(message, ...MESSAGE));
    } catch {
      this.close(MALFORMED);
    }
    return undefined;
  }

  async #handleLong(message: Buffer): Promise<void> {
    try {
      await runYielding(new StringCheck(message), nextTurn);
      const parts = await pickNestedYielding(message, MESSAGE, nextTurn);
      if (!this.#isClosed) this.#dispatch(parts);
    } catch {
      this.close(MALFORMED);
    }
  }

  #dispatch([[id, error, ackResult, params], notification, parts, context]: PickedNested): void {
    if (params === undefined) {
      this.#acknowledge(id, ackResult, error);
      return;
    }
    if (notification === undefined) throw malformed();
    const [subscription, result] = notification;
    if (result === undefined) return;
    const subscribers = this.#subscribersById.get(toSubscriptionId(shortText(subscription)));
    const [[value], [slot]]: readonly [Picked, Picked] = [parts ?? [], context ?? []];
    const notified = { result, slot, value };
    if (subscribers instanceof Set) for (const subscriber of subscribers) subscriber.onNotification(notified);
    else subscribers?.onNotification(notified);
  }

  #acknowledge(idBytes: Buffer | undefined, result: Buffer | undefined, error: Buffer | undefined): void {
    const id = Number(shortText(idBytes));
    const pending = this.#pending.get(id);
    if (pending === undefined) return; // such as the response to an unsubscribe
    const { subscription } = pending;
    const { contentsHash } = subscription;
    const equal = this.#pendingByContents.get(contentsHash);
    this.#pending.delete(id);
    const isLast = equal !== undefined && --equal.count === 0;
    if (isLast) this.#pendingByContents.delete(contentsHash);
    this.#settle(subscription, result, error);
    if (isLast) for (const standIn of equal.standIns) this.unsubscribe(standIn);
    else if (equal !== undefined) this.#endOtherIds(equal, subscription.subscriptionId);
  }

  /** A node that gives an equal subscription another id, while the earlier one lives, gives none the earlier one again. */
  #endOtherIds(equal: PendingContents, subscriptionId: SubscriptionId | undefined): void {
    if (subscriptionId === undefined) return; // it was rejected
    for (const standIn of equal.standIns.splice(0)) {
      if (standIn.subscriptionId === undefined || standIn.subscriptionId === subscriptionId)
        equal.standIns.push(standIn);
      else this.#removeSubscriber(standIn.subscriptionId, standIn, false);
    }
  }

  #settle(subscription: ChannelSubscription, result: Buffer | undefined, error: Buffer | undefined): void {
    const isStopped = this.#stopped.delete(subscription);
    if (result === undefined) {
      subscription.onRejected(error);
      return;
    }
    const text = shortText(result);
    if (!UNSIGNED_INTEGER.test(text)) throw new GatewayError('upstream_error', 'an id of a subscription is no number');
    const subscriptionId = toSubscriptionId(text);
    if (this.#isOfOthers(subscriptionId, subscription)) {
      this.close('gave one id to two subscriptions');
      return;
    }
    this.#addSubscriber(subscriptionId, subscription);
    if (isStopped) this.#removeSubscriber(subscriptionId, subscription);
    else subscription.onAcknowledged();
  }

  #pause(): void {
    this.#socket.pause();
    this.#heartbeat.setPaused(true);
    this.#cancelPauseTimeout = this.#options.clock.after(MAX_PAUSE_MS, () =>
      this.close('sent more than could be read'),
    );
  }

  #resume(): void {
    this.#cancelPauseTimeout();
    this.#heartbeat.setPaused(false);
    if (!this.#isClosed) this.#socket.resume();
  }
}

const MALFORMED = 'sent a malformed message';

const SILENT = { onNotification() {}, onAcknowledged() {}, onRejected() {} };

/** Digits of the longest number that is exact as a double. */
const EXACT_DIGITS = 15;

const UNSIGNED_INTEGER = /^\d+$/;

const toSubscriptionId = (text: string): SubscriptionId => (text.length <= EXACT_DIGITS ? Number(text) : text);
