import { WebSocket } from 'ws';
import type { Clock } from '../../domain/clock.ts';
import { RawJson, toJson } from '../../domain/to-json.ts';
import { members } from '../json/raw-json.ts';
import { connectionFault } from '../rpc/failure-reason.ts';
import type { NodeOptions, UpstreamSettings } from '../upstream-options.ts';
import { Heartbeat } from './heartbeat.ts';
import { MessageQueue } from './message-queue.ts';

/** Longest pause of reading: past it the gateway is too slow for the node, and a new channel is better than a growing lag. */
const MAX_PAUSE_MS = 2000;

/** Subscription to a node's pubsub, over any number of channels. */
export interface ChannelSubscription {
  readonly method: string;
  readonly params: readonly unknown[];
  /** Called with the bytes of `result` in each notification. */
  readonly onNotification: (result: Buffer) => void;
  /** Called when the node has accepted it: notifications arrive from now on. */
  readonly onAcknowledged?: () => void;
  /** Called when the node has rejected it. */
  readonly onRejected: () => void;
}

export interface ChannelOptions {
  readonly node: NodeOptions;
  readonly settings: UpstreamSettings;
  readonly clock: Clock;
  onOpen(): void;
  /** Called when the node has acknowledged a subscription. */
  onAcknowledged(): void;
  /** Called once, whatever the reason. Nothing is called afterwards. */
  onClose(reason: string): void;
}

/**
 * One WebSocket to a node, from handshake to close. It closes when the node closes it, falls silent, leaves a ping or a
 * subscription unanswered, sends a malformed message or sends faster than the gateway can read.
 */
export class PubsubChannel {
  readonly #options: ChannelOptions;
  readonly #socket: WebSocket;
  readonly #messages: MessageQueue;
  readonly #subscriptions = new Set<ChannelSubscription>();
  readonly #pending = new Map<
    string,
    { readonly subscription: ChannelSubscription; readonly cancelAckTimeout: () => void }
  >();
  /** Subscribers by the text of the node's subscription id, which may exceed a double. Equal subscriptions share an id. */
  readonly #subscribersById = new Map<string, Set<ChannelSubscription>>();
  readonly #heartbeat: Heartbeat;
  #cancelPauseTimeout = (): void => {};
  #lastId = 0;
  #isClosed = false;

  constructor(options: ChannelOptions) {
    const { node, settings, clock } = options;
    this.#options = options;
    this.#heartbeat = new Heartbeat({
      clock,
      pingMs: settings.pingMs,
      silenceMs: settings.silenceMs,
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
      handshakeTimeout: settings.ackMs,
    });
    this.#socket.on('open', () => {
      if (this.#isClosed) return;
      this.#heartbeat.start();
      options.onOpen();
    });
    this.#socket.on('pong', () => this.#heartbeat.onPong());
    this.#socket.on('message', (data) => {
      this.#heartbeat.onTraffic();
      if (!this.#isClosed && Buffer.isBuffer(data)) this.#messages.push(data);
    });
    this.#socket.on('error', (thrown) => this.close(`failed: ${connectionFault(thrown)}`));
    this.#socket.on('close', (code) => this.close(`was closed with code ${code}`));
  }

  /** Subscribes. From the first subscription on silence counts, since a node's slots never cease. */
  subscribe(subscription: ChannelSubscription): void {
    const { clock, settings } = this.#options;
    this.#heartbeat.expectTraffic();
    this.#subscriptions.add(subscription);
    const cancelAckTimeout = clock.after(settings.ackMs, () => this.close('left a subscription unanswered'));
    this.#pending.set(this.#send(subscription.method, subscription.params), { subscription, cancelAckTimeout });
  }

  unsubscribe(subscription: ChannelSubscription): void {
    this.#subscriptions.delete(subscription);
    for (const [subscriptionId, subscribers] of this.#subscribersById)
      if (subscribers.has(subscription)) this.#removeSubscriber(subscriptionId, subscription);
  }

  /** Terminates the connection, without a closing handshake that a dead node would leave unanswered. */
  close(reason: string): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#heartbeat.stop();
    this.#cancelPauseTimeout();
    for (const { cancelAckTimeout } of this.#pending.values()) cancelAckTimeout();
    this.#messages.close();
    this.#socket.terminate();
    this.#options.onClose(reason);
  }

  #send(method: string, params: readonly unknown[]): string {
    const id = `${++this.#lastId}`;
    this.#socket.send(toJson({ jsonrpc: '2.0', id: new RawJson(id), method, params }), () => {}); // a failure also closes
    return id;
  }

  #removeSubscriber(subscriptionId: string, subscription: ChannelSubscription): void {
    const subscribers = this.#subscribersById.get(subscriptionId);
    subscribers?.delete(subscription);
    if (subscribers === undefined || subscribers.size > 0) return;
    this.#subscribersById.delete(subscriptionId);
    const { method } = subscription;
    this.#send(method.replace('Subscribe', 'Unsubscribe'), [new RawJson(subscriptionId)]);
  }

  /** Handles a message. All are handled in order, so no notification precedes the acknowledgement that names its id. */
  #handleMessage(message: Buffer): void {
    if (this.#isClosed) return;
    try {
      const parts = members(message);
      const params = parts.get('params');
      if (params === undefined) this.#acknowledge(parts);
      else this.#dispatch(members(params));
    } catch {
      this.close('sent a malformed message');
    }
  }

  #dispatch(params: ReadonlyMap<string, Buffer>): void {
    const result = params.get('result');
    if (result === undefined) return;
    for (const { onNotification } of this.#subscribersById.get(`${params.get('subscription')}`) ?? [])
      onNotification(result);
  }

  #acknowledge(response: ReadonlyMap<string, Buffer>): void {
    const id = `${response.get('id')}`;
    const pending = this.#pending.get(id);
    if (pending === undefined) return; // such as the response to an unsubscribe
    const { subscription, cancelAckTimeout } = pending;
    this.#pending.delete(id);
    cancelAckTimeout();
    const subscriptionId = response.get('result')?.toString();
    if (subscriptionId === undefined) {
      subscription.onRejected();
    } else {
      const subscribers = this.#subscribersById.get(subscriptionId) ?? new Set();
      this.#subscribersById.set(subscriptionId, subscribers.add(subscription));
      if (!this.#subscriptions.has(subscription)) this.#removeSubscriber(subscriptionId, subscription);
      else subscription.onAcknowledged?.();
      this.#options.onAcknowledged();
    }
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
