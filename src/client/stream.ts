import type { Clock } from '../domain/clock.ts';
import { parseExactJson } from '../domain/parse-exact-json.ts';
import type { Receipt } from '../receipts/receipt.ts';
import { Line } from './line.ts';
import { Outbox } from './outbox.ts';
import type { Prove } from './proof.ts';
import { isPassing } from './retry.ts';
import { type Gap, Sequence, type Snapshot } from './sequence.ts';
import { SlotgateError } from './slotgate-error.ts';
import type { Socket } from './socket.ts';
import { readMessage, refusalIn, type Subscription, type Topic, updateIn, wish } from './subscriptions.ts';
import { targetOf } from './target.ts';

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

export type Follow<T extends Topic> = Omit<Subscription<T>, 'topic' | 'address'>;

export interface StreamParts {
  readonly open: (target: string) => Socket;
  readonly prove: Prove;
  readonly clock: Clock;
  readonly random: () => number;
}

/** Frames come each slot, and after five seconds without one. */
const SILENCE_MS = 15_000;

/** How long a subscription waits that the gateway could not take just now. */
const AGAIN_MS = 2000;

/** So many messages may wait for a proof: while a new key is being asked for, others do. */
const MOST_WAITING = 1000;

export function openStream(options: StreamOptions, { open, prove, clock, random }: StreamParts): Stream {
  const { onSnapshot, onGap, onState, onError, interval, receipts = false } = options;
  const target = targetOf('/stream', { interval, receipts: receipts ? 1 : undefined });
  const sequence = new Sequence(interval === undefined);
  const subscriptions = new Map<number, Subscription<Topic>>();
  let lastId = 0;
  let outbox = new Outbox(clock, () => {});
  let work = Promise.resolve();
  let waiting = 0;
  let isOver = false;

  /** One after the other, as they came. */
  function take(text: string): void {
    if (++waiting > MOST_WAITING) line.restart();
    work = work
      .then(() => (isOver ? undefined : takeOne(text)))
      .catch((thrown: unknown) => {
        queueMicrotask(() => {
          throw thrown; // a callback of the caller's has thrown; nobody but the runtime can be told
        });
      })
      .finally(() => {
        waiting--;
      });
  }

  const takeOne = (text: string): Promise<void> =>
    text.startsWith('{"result":') ? takeFrame(text) : takeMessage(text);

  async function takeFrame(text: string): Promise<void> {
    const frame = await readFrame(text).catch(unreadable);
    if (frame === undefined) return;
    const gap = sequence.next(frame.result);
    if (gap === 'repeated') return;
    if (gap !== undefined) onGap?.(gap);
    onSnapshot?.(frame.result, { receipt: frame.receipt, body: text });
  }

  async function readFrame(text: string): Promise<{ readonly result: Snapshot; readonly receipt: Receipt | null }> {
    if (receipts) return prove<Snapshot>(text, { request: `SUB ${target}` });
    // Without receipts a frame is believed as it stands, and so is that it has the shape of one.
    const { result } = parseExactJson(text) as { readonly result: Snapshot };
    return { result, receipt: null };
  }

  async function takeMessage(text: string): Promise<void> {
    const told = readMessage(text);
    if (told === undefined) return unreadable(new SlotgateError('unreadable', 'a message that is none'));
    const id = Number(told.id);
    const subscription = subscriptions.get(id);
    if (subscription === undefined) return; // it has ended meanwhile
    if (told.type === 'error') refused(id, subscription, refusalIn(told));
    if (told.answer === undefined) return;
    const update = await updateIn(told, subscription, prove).catch((thrown: unknown) => {
      subscription.onError?.(thrown);
    });
    if (update !== undefined && subscriptions.has(id)) subscription.onUpdate(update);
  }

  /** What is wrong for now only is tried again, unless the next connection does so anyway. */
  function refused(id: number, subscription: Subscription<Topic>, error: SlotgateError): void {
    if (error.code !== 'rate_limited' && isPassing(error)) {
      const box = outbox;
      clock.after(AGAIN_MS, () => {
        if (box === outbox && subscriptions.get(id) === subscription) box.put(wish('subscribe', id, subscription));
      });
      return;
    }
    subscriptions.delete(id);
    subscription.onError?.(error);
  }

  function unreadable(thrown: unknown): undefined {
    onError?.(thrown);
  }

  onState?.('connecting');
  const line = new Line({
    open: () => open(target),
    clock,
    random,
    silenceMs: options.silenceMs ?? SILENCE_MS + (interval ?? 0),
    onMessage: take,
    onOpen() {
      outbox = new Outbox(clock, (message) => line.send(message));
      onState?.('open');
      for (const [id, subscription] of subscriptions) outbox.put(wish('subscribe', id, subscription));
    },
    onDown() {
      outbox.close();
      onState?.('waiting');
    },
    onEnd(why) {
      outbox.close();
      onState?.('ended');
      onError?.(why);
    },
  });

  return {
    subscribe(topic, address, follow) {
      const id = ++lastId;
      // Whoever reads the map calls `onUpdate` with what the topic of the same entry brings.
      const subscription = { ...follow, topic, address } as Subscription<Topic>;
      subscriptions.set(id, subscription);
      if (line.isOpen) outbox.put(wish('subscribe', id, subscription));
      return () => {
        if (subscriptions.delete(id) && line.isOpen) outbox.put(wish('unsubscribe', id, subscription));
      };
    },
    close() {
      isOver = true;
      subscriptions.clear();
      outbox.close();
      line.close();
      onState?.('ended');
    },
  };
}
