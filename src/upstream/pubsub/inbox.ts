/** Messages taken in one turn of the event loop, so that a flood can't hold up everything else. */
const TURN = 256;
/** What a message costs beside its bytes. */
const OVERHEAD = 128;

export interface InboxOptions {
  /** Above so many waiting bytes the sender is held back, below half of them let go again. */
  readonly maxBytes: number;
  take(message: Buffer): void;
  hold(): void;
  release(): void;
}

/** Messages waiting to be taken, in order, over as many turns of the event loop as it needs. */
export class Inbox {
  readonly #options: InboxOptions;
  readonly #waiting: Buffer[] = [];
  #bytes = 0;
  #held = false;
  #turn: NodeJS.Immediate | undefined;

  constructor(options: InboxOptions) {
    this.#options = options;
  }

  push(message: Buffer): void {
    this.#waiting.push(message);
    this.#bytes += message.length + OVERHEAD;
    if (!this.#held && this.#bytes > this.#options.maxBytes) {
      this.#held = true;
      this.#options.hold();
    }
    this.#turn ??= setImmediate(this.#drain);
  }

  /** Forgets what is waiting. */
  close(): void {
    clearImmediate(this.#turn);
    this.#waiting.length = 0;
  }

  readonly #drain = (): void => {
    for (const message of this.#waiting.splice(0, TURN)) {
      this.#bytes -= message.length + OVERHEAD;
      this.#options.take(message);
    }
    this.#turn = this.#waiting.length > 0 ? setImmediate(this.#drain) : undefined;
    if (this.#held && this.#bytes < this.#options.maxBytes / 2) {
      this.#held = false;
      this.#options.release();
    }
  };
}
