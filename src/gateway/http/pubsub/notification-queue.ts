/** The notifications that are sent in one turn of the event loop, in about a millisecond: requests wait for them. */
const SENT_PER_TURN = 128;

/** The most bytes of the notifications that wait for later turns, with their subscribers. */
const MAX_WAITING_BYTES = 64 << 20;

/** What a notification counts as beside its text, so that at most 10,000 wait. */
const NOTIFICATION_BYTES = MAX_WAITING_BYTES / 10_000;

/** The bytes that a subscriber of a notification that waits counts as: it has 8, but a million at a time would hold a turn. */
const SUBSCRIBER_BYTES = 64;

/** The part of the bound that is free after subscribers were chosen to end: it takes a turn's millisecond to choose them. */
const FREED_SHARE = 0.1;

/** The notifications that could be sent while a subscriber is ended: it may have many subscriptions. */
const SENT_PER_END = 16;

interface Sending<Subscriber> {
  readonly subscribers: readonly Subscriber[];
  next: number;
  /** The bytes that it counts as for each subscriber: an equal part of it. */
  readonly share: number;
  readonly send: (subscriber: Subscriber) => void;
}

/**
 * Sends notifications in the order in which they come: few in this turn, many over as many turns as needed. Where too many
 * wait, the caller for whom most do loses the subscribers with most: none of them misses one without notice, and no caller
 * makes another's subscribers end.
 */
export class NotificationQueue<Subscriber> {
  readonly #callerOf: (subscriber: Subscriber) => string;
  readonly #end: (subscriber: Subscriber) => void;
  #waiting: Sending<Subscriber>[] = [];
  #waitingBytes = 0;
  /** What waits for each subscriber, in bytes. */
  readonly #bytesOf = new Map<Subscriber, number>();
  /** Those that are to be ended, before anything else is sent. */
  readonly #late = new Set<Subscriber>();
  #left = SENT_PER_TURN;
  #isScheduled = false;

  constructor(callerOf: (subscriber: Subscriber) => string, end: (subscriber: Subscriber) => void) {
    this.#callerOf = callerOf;
    this.#end = end;
  }

  /** `textBytes`: about the bytes of the notification. */
  add(subscribers: readonly Subscriber[], textBytes: number, send: (subscriber: Subscriber) => void): void {
    if (subscribers.length === 0) return;
    const share = Math.ceil((textBytes + NOTIFICATION_BYTES) / subscribers.length) + SUBSCRIBER_BYTES;
    this.#waiting.push({ subscribers, next: 0, share, send });
    for (const subscriber of subscribers) if (!this.#late.has(subscriber)) this.#count(subscriber, share);
    this.#sendSome();
    if (this.#waitingBytes > MAX_WAITING_BYTES) this.#makeRoom();
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#left = SENT_PER_TURN;
      this.#sendSome();
      if (this.#waiting.length + this.#late.size > 0) this.#schedule();
    });
  }

  #sendSome(): void {
    for (const subscriber of this.#late) {
      if (this.#left <= 0) return;
      this.#left -= SENT_PER_END;
      this.#late.delete(subscriber);
      this.#end(subscriber);
    }
    let done = 0;
    for (const sending of this.#waiting) {
      const { subscribers, share, send } = sending;
      for (; sending.next < subscribers.length && this.#left > 0; this.#left--) {
        const subscriber = subscribers[sending.next++];
        if (subscriber === undefined || !this.#bytesOf.has(subscriber)) continue; // it is to be ended
        this.#count(subscriber, -share);
        send(subscriber);
      }
      if (sending.next < subscribers.length) break;
      done++;
    }
    this.#waiting.splice(0, done);
  }

  #count(subscriber: Subscriber, bytes: number): void {
    const waiting = (this.#bytesOf.get(subscriber) ?? 0) + bytes;
    if (waiting === 0) this.#bytesOf.delete(subscriber);
    else this.#bytesOf.set(subscriber, waiting);
    this.#waitingBytes += bytes;
  }

  /** Chooses whom to end: subscribers of the caller for whom most waits, and of the next where that is not enough. */
  #makeRoom(): void {
    const byCaller = new Map<string, { bytes: number; readonly subscribers: [Subscriber, number][] }>();
    for (const [subscriber, bytes] of this.#bytesOf) {
      const name = this.#callerOf(subscriber);
      const caller = byCaller.get(name) ?? { bytes: 0, subscribers: [] };
      if (caller.bytes === 0) byCaller.set(name, caller);
      caller.bytes += bytes;
      caller.subscribers.push([subscriber, bytes]);
    }
    for (const { subscribers } of [...byCaller.values()].sort((a, b) => b.bytes - a.bytes)) {
      if (this.#waitingBytes <= MAX_WAITING_BYTES) break;
      for (const [subscriber, bytes] of subscribers.sort(([, a], [, b]) => b - a)) {
        if (this.#waitingBytes <= MAX_WAITING_BYTES * (1 - FREED_SHARE)) break;
        this.#count(subscriber, -bytes);
        this.#late.add(subscriber);
      }
    }
    this.#waiting = this.#waiting.filter(({ subscribers, next }) =>
      subscribers.some((subscriber, i) => i >= next && this.#bytesOf.has(subscriber)),
    );
  }
}
