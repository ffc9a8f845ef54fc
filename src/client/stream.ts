import type { Clock } from '../shared/domain/clock.ts';
import { FrameReader, type Gap, type Snapshot } from './frame-reader.ts';
import { ReconnectingSocket } from './reconnecting-socket.ts';
import { buildRequestTarget } from './request-target.ts';
import { brokenSocket, type Socket } from './socket.ts';
import { StreamSubscriptions } from './stream-subscriptions.ts';
import type { AccountSubscription, Topic } from './subscription-messages.ts';
import type { Receipt } from './verify/receipt.ts';
import type { VerifyAnswer } from './verify-answer.ts';

/** The state of a stream. `waiting`: disconnected, and about to reconnect. `ended`: disconnected for good. */
export type StreamState = 'connecting' | 'open' | 'waiting' | 'ended';

export interface StreamOptions {
  /** Called for each frame: the current state of the network. */
  readonly onSnapshot?: (
    snapshot: Snapshot,
    proof: { readonly receipt: Receipt | null; readonly body: string },
  ) => void;
  /** Called when frames were lost: on the way, while disconnected, or because another gateway process took over. */
  readonly onGap?: (gap: Gap) => void;
  readonly onState?: (state: StreamState) => void;
  /** Called for a frame that could not be verified or parsed, and with the reason why the stream has ended. */
  readonly onError?: (error: unknown) => void;
  /** The shortest interval between frames, in milliseconds; without it every frame is sent. */
  readonly interval?: 1000 | 5000 | 10_000;
  /** True has each frame signed, and verifies it. Account updates are always signed and verified. */
  readonly receipts?: boolean;
  /** The time without a message after which the stream reconnects, in milliseconds; `interval` + 15,000 by default. */
  readonly silenceMs?: number;
}

/** The real-time stream of a gateway, which reconnects by itself. */
export interface Stream {
  /**
   * Reports the value of an account now and after each change, also after reconnects. Returns the function that ends the
   * subscription.
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

/** The default time without a message: a gateway sends a frame each slot, or after five seconds without a slot. */
const SILENCE_TIMEOUT_MS = 15_000;

/** The most messages that wait to be verified, first values apart. */
const MAX_PENDING_MESSAGES = 1000;

export function openStream(options: StreamOptions, { openSocket, verifyAnswer, clock, random }: StreamDeps): Stream {
  const { onSnapshot, onGap, onState, onError, interval, receipts = false } = options;
  const target = buildRequestTarget('/stream', { interval, receipts: receipts ? 1 : undefined });
  const signedRequest = receipts ? `SUB ${target}` : undefined;
  const expectsEveryFrame = interval === undefined;
  const closing = new AbortController();
  const { signal } = closing;
  const verify: VerifyAnswer = (body, expected) => verifyAnswer(body, expected, { signal });
  const frames = new FrameReader({
    ...{ signedRequest, expectsEveryFrame, verifyAnswer: verify, signal },
    ...{ onSnapshot, onGap, onError },
  });
  const subscriptions = new StreamSubscriptions({ clock, verifyAnswer: verify, onError });
  let processed = Promise.resolve();
  let pendingCount = 0;
  const handle = (text: string): Promise<void> =>
    text.startsWith('{"result":') ? frames.handle(text) : subscriptions.handle(text);
  /** Handles messages one after the other: they wait while a new key is being requested. */
  const onMessage = (text: string): void => {
    pendingCount++;
    if (pendingCount > MAX_PENDING_MESSAGES + subscriptions.size) socket.reconnect(); // their first values may arrive together
    processed = processed
      .then(() => (signal.aborted ? undefined : handle(text)))
      .catch(throwUncaught)
      .finally(() => {
        pendingCount--;
      });
  };

  let wasOpened = false;
  const socket = new ReconnectingSocket({
    openSocket() {
      onState?.('connecting');
      try {
        const opened = openSocket(target);
        wasOpened = true;
        return opened;
      } catch (thrown) {
        if (!wasOpened) throw thrown; // to the caller that opens the stream
        onError?.(thrown);
        return brokenSocket();
      }
    },
    clock,
    random,
    silenceMs: options.silenceMs ?? SILENCE_TIMEOUT_MS + (interval ?? 0),
    onMessage,
    onOpen() {
      onState?.('open');
      subscriptions.onConnect((message) => socket.send(message));
    },
    onDisconnect() {
      subscriptions.onDisconnect();
      onState?.('waiting');
    },
    onEnd(error) {
      subscriptions.onDisconnect();
      onState?.('ended');
      onError?.(error);
    },
  });

  return {
    subscribe(topic, address, follow) {
      // The map forgets T; each subscription gets the updates of its own topic only.
      return subscriptions.add({ ...follow, topic, address } as AccountSubscription<Topic>);
    },
    close() {
      closing.abort();
      subscriptions.close();
      socket.close();
      onState?.('ended');
    },
  };
}

/** Throws an error of the user's callback where only the runtime can catch it: no code of ours could handle it. */
function throwUncaught(thrown: unknown): void {
  queueMicrotask(() => {
    throw thrown;
  });
}
