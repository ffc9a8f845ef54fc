/** The notifications that are sent in one turn of the event loop, in about a millisecond: requests wait for them. */
const SENT_PER_TURN = 128;

/** The most notifications, each to all of its subscribers, that wait for later turns. */
const MAX_WAITING = 10_000;

interface Sending<Subscriber> {
  readonly subscribers: readonly Subscriber[];
  next: number;
  readonly send: (subscriber: Subscriber) => void;
}

/** Sends notifications in the order in which they come: few in this turn, many over as many turns as needed. */
export class NotificationQueue<Subscriber> {
  #waiting: Sending<Subscriber>[] = [];
  #left = SENT_PER_TURN;
  #isScheduled = false;

  add(subscribers: readonly Subscriber[], send: (subscriber: Subscriber) => void): void {
    this.#waiting.push({ subscribers, next: 0, send });
    if (this.#waiting.length > MAX_WAITING) this.#left = Number.POSITIVE_INFINITY; // the gateway is too busy for turns
    this.#sendSome();
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#left = SENT_PER_TURN;
      this.#sendSome();
      if (this.#waiting.length > 0) this.#schedule();
    });
  }

  #sendSome(): void {
    let done = 0;
    for (const sending of this.#waiting) {
      for (; sending.next < sending.subscribers.length && this.#left > 0; this.#left--) {
        const subscriber = sending.subscribers[sending.next++];
        if (subscriber !== undefined) sending.send(subscriber);
      }
      if (sending.next < sending.subscribers.length) break;
      done++;
    }
    this.#waiting.splice(0, done);
  }
}
