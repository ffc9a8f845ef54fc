/** The notifications that are sent in one turn of the event loop, in about a millisecond: requests wait for them. */
const SENT_PER_TURN = 128;

/** The most bytes of the notifications that wait for later turns, with their subscribers. */
const MAX_WAITING_BYTES = 64 << 20;

/** The most notifications, each to all of its subscribers, that wait for later turns. */
const MAX_WAITING = 10_000;

/** The bytes that a subscriber of a notification that waits counts as: it has 8, but a million at a time would hold a turn. */
const SUBSCRIBER_BYTES = 64;

/** The notifications that could be sent while a subscriber is ended: it may have many subscriptions. */
const SENT_PER_END = 16;

interface Sending<Subscriber> {
  readonly subscribers: readonly Subscriber[];
  next: number;
  readonly bytes: number;
  readonly send: (subscriber: Subscriber) => void;
}

/**
 * Sends notifications in the order in which they come: few in this turn, many over as many turns as needed. Where too many
 * wait, the oldest is dropped, and the subscribers that it was for are ended: none misses one without notice.
 */
export class NotificationQueue<Subscriber> {
  readonly #end: (subscriber: Subscriber) => void;
  #waiting: Sending<Subscriber>[] = [];
  #waitingBytes = 0;
  /** Those that are to be ended, before anything else is sent. */
  readonly #late = new Set<Subscriber>();
  #left = SENT_PER_TURN;
  #isScheduled = false;

  constructor(end: (subscriber: Subscriber) => void) {
    this.#end = end;
  }

  /** `textBytes`: about the bytes of the notification. */
  add(subscribers: readonly Subscriber[], textBytes: number, send: (subscriber: Subscriber) => void): void {
    const bytes = textBytes + subscribers.length * SUBSCRIBER_BYTES;
    this.#waiting.push({ subscribers, next: 0, bytes, send });
    this.#waitingBytes += bytes;
    this.#sendSome();
    while (this.#waiting.length > MAX_WAITING || this.#waitingBytes > MAX_WAITING_BYTES) this.#dropOldest();
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
      for (; sending.next < sending.subscribers.length && this.#left > 0; this.#left--) {
        const subscriber = sending.subscribers[sending.next++];
        if (subscriber !== undefined) sending.send(subscriber);
      }
      if (sending.next < sending.subscribers.length) break;
      this.#waitingBytes -= sending.bytes;
      done++;
    }
    this.#waiting.splice(0, done);
  }

  #dropOldest(): void {
    const oldest = this.#waiting.shift();
    if (oldest === undefined) return;
    this.#waitingBytes -= oldest.bytes;
    for (const subscriber of oldest.subscribers.slice(oldest.next)) this.#late.add(subscriber);
  }
}
