/** Messages handled in one turn of the event loop, so that a flood can't block everything else. */
const MESSAGES_PER_TURN = 256;
/** Memory of a queued message besides its bytes. */
const MESSAGE_OVERHEAD_BYTES = 128;

export interface MessageQueueOptions {
  /** Queued bytes above which the sender is paused; below half of them it resumes. */
  readonly maxBytes: number;
  handle(message: Buffer): void;
  pause(): void;
  resume(): void;
}

/** Queues messages and handles them in order, over as many turns of the event loop as needed. */
export class MessageQueue {
  readonly #options: MessageQueueOptions;
  readonly #messages: Buffer[] = [];
  #bytes = 0;
  #isPaused = false;
  #scheduled: NodeJS.Immediate | undefined;

  constructor(options: MessageQueueOptions) {
    this.#options = options;
  }

  push(message: Buffer): void {
    this.#messages.push(message);
    this.#bytes += message.length + MESSAGE_OVERHEAD_BYTES;
    if (!this.#isPaused && this.#bytes > this.#options.maxBytes) {
      this.#isPaused = true;
      this.#options.pause();
    }
    this.#scheduled ??= setImmediate(this.#drain);
  }

  close(): void {
    clearImmediate(this.#scheduled);
    this.#messages.length = 0;
  }

  readonly #drain = (): void => {
    for (const message of this.#messages.splice(0, MESSAGES_PER_TURN)) {
      this.#bytes -= message.length + MESSAGE_OVERHEAD_BYTES;
      this.#options.handle(message);
    }
    this.#scheduled = this.#messages.length > 0 ? setImmediate(this.#drain) : undefined;
    if (this.#isPaused && this.#bytes < this.#options.maxBytes / 2) {
      this.#isPaused = false;
      this.#options.resume();
    }
  };
}
