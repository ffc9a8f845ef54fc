import type { Clock } from '../../../shared/domain/clock.ts';
import type { MessageId } from './stream-message.ts';

/** The shortest time between two frames that report refused messages to a client. */
const INTERVAL_MS = 1000;

/** The messages of one connection that were refused since the last report of them. */
export class RefusedMessages {
  readonly #clock: Clock;
  readonly #report: (ids: readonly MessageId[]) => void;
  #ids: MessageId[] = [];
  #cancelTimer: (() => void) | undefined;

  /** Calls `report` with the ids of all refused messages: immediately for the first one, then at most once a second. */
  constructor(clock: Clock, report: (ids: readonly MessageId[]) => void) {
    this.#clock = clock;
    this.#report = report;
  }

  /** Adds a message that was refused. */
  add(id: MessageId): void {
    this.#ids.push(id);
    if (this.#cancelTimer === undefined) this.#flush();
  }

  /** Forgets the messages, since the connection is closed. */
  close(): void {
    this.#cancelTimer?.();
  }

  #flush(): void {
    this.#cancelTimer = undefined;
    if (this.#ids.length === 0) return;
    this.#report(this.#ids);
    this.#ids = [];
    this.#cancelTimer = this.#clock.after(INTERVAL_MS, () => this.#flush());
  }
}
