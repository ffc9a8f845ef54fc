import type { Clock } from '../../domain/clock.ts';
import type { MessageId } from './stream-message.ts';

/** The shortest time between two frames that tell a client of refused messages. */
const INTERVAL_MS = 1000;

/** The messages of one connection that were refused since it was told so last. */
export class RefusedMessages {
  readonly #clock: Clock;
  readonly #tell: (ids: readonly MessageId[]) => void;
  #ids: MessageId[] = [];
  #cancelTimer: (() => void) | undefined;

  /** `tell` is called with the ids of all refused messages, the first one at once, then at most once a second. */
  constructor(clock: Clock, tell: (ids: readonly MessageId[]) => void) {
    this.#clock = clock;
    this.#tell = tell;
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
    this.#tell(this.#ids);
    this.#ids = [];
    this.#cancelTimer = this.#clock.after(INTERVAL_MS, () => this.#flush());
  }
}
