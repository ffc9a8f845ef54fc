import type { Clock } from '../domain/clock.ts';
import { parseExactJson } from '../domain/parse-exact-json.ts';
import type { Receipt } from '../receipts/receipt.ts';
import { type Gap, GapDetector, type Snapshot } from './gap-detector.ts';
import { ReconnectingSocket } from './reconnecting-socket.ts';
import { buildRequestTarget } from './request-target.ts';
import { isTransient } from './retry.ts';
import { SendThrottle } from './send-throttle.ts';
import { SlotgateError } from './slotgate-error.ts';
import type { Socket } from './socket.ts';
import {
  type AccountSubscription,
  parseSubscriptionMessage,
  subscriptionErrorOf,
  subscriptionRequest,
  type Topic,
  verifyUpdate,
} from './subscription-messages.ts';
import type { VerifyAnswer } from './verify-answer.ts';

/** `waiting`: it is down, and comes back by itself. `ended`: it does not. */
export type StreamState = 'connecting' | 'open' | 'waiting' | 'ended';

export interface StreamOptions {
  /** Called for each frame: the network as it is now. */
  readonly onSnapshot?: (
    snapshot: Snapshot,
    proof: { readonly receipt: Receipt | null; readonly body: string },
  ) => void;
  /** Frames were lost: on the way, while the line was down, or because another process took over. */
  readonly onGap?: (gap: Gap) => void;
  readonly onState?: (state: StreamState) => void;
  /** A frame that could not be proven or read, or the reason why the stream has ended. */
  readonly onError?: (error: unknown) => void;
  /** Frames at least so far apart; without it each comes. */
  readonly interval?: 1000 | 5000 | 10_000;
  /** Has each frame signed, and verifies it. Account updates are signed and verified always. */
  readonly receipts?: boolean;
  /** A line that brings nothing for so long is given up, in milliseconds: 15 seconds more than `interval` by default. */
  readonly silenceMs?: number;
}

/** The realtime side of a gateway, over a line that mends itself. */
export interface Stream {
  /**
   * Tells the value of an account now and each time it changes, whatever happens to the line. The function that it
   * returns ends that.
   */
  subscribe<T extends Topic>(topic: T, address: string, follow: Follow<T>): () => void;
  close(): void;
}

export type Follow<T extends Topic> = Omit<AccountSubscription<T>, 'topic' | 'address'>;

export interface StreamDeps {
  readonly openSocket: (target: string) => Socket;
  readonly verifyAnswer: VerifyAnswer;
  readonly clock: Clock;
  readonly random: () => number;
}

/** Frames come each slot, and after five seconds without one. */
const SILENCE_TIMEOUT_MS = 15_000;

/** How long a subscription waits that the gateway could not take just now. */
const RESUBSCRIBE_DELAY_MS = 2000;

/** So many messages may wait for a proof: while a new key is being asked for, others do. */
const MAX_PENDING_MESSAGES = 1000;

export function openStream(options: StreamOptions, { openSocket, verifyAnswer, clock, random }: StreamDeps): Stream {
  const { onSnapshot, onGap, onState, onError, interval, receipts = false } = options;
  const target = buildRequestTarget('/stream', { interval, receipts: receipts ? 1 : undefined });
  const gapDetector = new GapDetector(interval === undefined);
  const subscriptions = new Map<number, AccountSubscription<Topic>>();
  let lastId = 0;
  let sendThrottle = new SendThrottle(clock, () => {});
  let processing = Promise.resolve();
  let pendingCount = 0;
  let isClosed = false;

  /** One after the other, as they came. */
  function enqueueMessage(text: string): void {
    if (++pendingCount > MAX_PENDING_MESSAGES) socket.reconnect();
    processing = processing
      .then(() => (isClosed ? undefined : handleMessage(text)))
      .catch((thrown: unknown) => {
        queueMicrotask(() => {
          throw thrown; // a callback of the caller's has thrown; nobody but the runtime can be told
        });
      })
      .finally(() => {
        pendingCount--;
      });
  }

  const handleMessage = (text: string): Promise<void> =>
    text.startsWith('{"result":') ? handleFrame(text) : handleSubscriptionMessage(text);

  async function handleFrame(text: string): Promise<void> {
    const frame = await parseFrame(text).catch(reportError);
    if (frame === undefined) return;
    const gap = gapDetector.observe(frame.result);
    if (gap === 'duplicate') return;
    if (gap !== undefined) onGap?.(gap);
    onSnapshot?.(frame.result, { receipt: frame.receipt, body: text });
  }

  async function parseFrame(text: string): Promise<{ readonly result: Snapshot; readonly receipt: Receipt | null }> {
    if (receipts) return verifyAnswer<Snapshot>(text, { request: `SUB ${target}` });
    // Without receipts a frame is believed as it stands, and so is that it has the shape of one.
    const { result } = parseExactJson(text) as { readonly result: Snapshot };
    return { result, receipt: null };
  }

  async function handleSubscriptionMessage(text: string): Promise<void> {
    const message = parseSubscriptionMessage(text);
    if (message === undefined) return reportError(new SlotgateError('unreadable', 'a message that is none'));
    const id = Number(message.id);
    const subscription = subscriptions.get(id);
    if (subscription === undefined) return; // it has ended meanwhile
    if (message.type === 'error') handleRefusal(id, subscription, subscriptionErrorOf(message));
    if (message.answer === undefined) return;
    const update = await verifyUpdate(message, subscription, verifyAnswer).catch((thrown: unknown) => {
      subscription.onError?.(thrown);
    });
    if (update !== undefined && subscriptions.has(id)) subscription.onUpdate(update);
  }

  /** What is wrong for now only is tried again, unless the next connection does so anyway. */
  function handleRefusal(id: number, subscription: AccountSubscription<Topic>, error: SlotgateError): void {
    if (error.code !== 'rate_limited' && isTransient(error)) {
      const throttleAtRefusal = sendThrottle;
      clock.after(RESUBSCRIBE_DELAY_MS, () => {
        if (throttleAtRefusal === sendThrottle && subscriptions.get(id) === subscription)
          throttleAtRefusal.enqueue(subscriptionRequest('subscribe', id, subscription));
      });
      return;
    }
    subscriptions.delete(id);
    subscription.onError?.(error);
  }

  function reportError(thrown: unknown): undefined {
    onError?.(thrown);
  }

  onState?.('connecting');
  const socket = new ReconnectingSocket({
    openSocket: () => openSocket(target),
    clock,
    random,
    silenceMs: options.silenceMs ?? SILENCE_TIMEOUT_MS + (interval ?? 0),
    onMessage: enqueueMessage,
    onOpen() {
      sendThrottle = new SendThrottle(clock, (message) => socket.send(message));
      onState?.('open');
      for (const [id, subscription] of subscriptions)
        sendThrottle.enqueue(subscriptionRequest('subscribe', id, subscription));
    },
    onDisconnect() {
      sendThrottle.close();
      onState?.('waiting');
    },
    onEnd(why) {
      sendThrottle.close();
      onState?.('ended');
      onError?.(why);
    },
  });

  return {
    subscribe(topic, address, follow) {
      const id = ++lastId;
      // Whoever reads the map calls `onUpdate` with what the topic of the same entry brings.
      const subscription = { ...follow, topic, address } as AccountSubscription<Topic>;
      subscriptions.set(id, subscription);
      if (socket.isOpen) sendThrottle.enqueue(subscriptionRequest('subscribe', id, subscription));
      return () => {
        if (subscriptions.delete(id) && socket.isOpen)
          sendThrottle.enqueue(subscriptionRequest('unsubscribe', id, subscription));
      };
    },
    close() {
      isClosed = true;
      subscriptions.clear();
      sendThrottle.close();
      socket.close();
      onState?.('ended');
    },
  };
}
