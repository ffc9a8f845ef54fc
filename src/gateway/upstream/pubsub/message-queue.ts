import { YIELD_EVERY_BYTES } from '../json/cooperative.ts';

/** Messages handled in one turn of the event loop, so that a flood can't block everything else. */
const MESSAGES_PER_TURN = 256;
/** Memory of a queued message besides its bytes. */
const MESSAGE_OVERHEAD_BYTES = 128;

/** Not `ownTurn`, which is behind all other long work: the reading may be paused. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

export interface MessageQueueOptions {
  /** Queued bytes above which the sender is paused; below half of them it resumes. */
  readonly maxBytes: number;
  /** Returns a promise where the next message is to wait for it. It never rejects. */
  handle(message: Buffer): Promise<void> | undefined;
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

  /** Whether the sender is paused. */
  get isPaused(): boolean {
    return this.#isPaused;
  }

  push(message: Buffer): void {
    this.#messages.push(message);
    this.#bytes += message.length + MESSAGE_OVERHEAD_BYTES;
    if (!this.#isPaused && this.#bytes > this.#options.maxBytes) {
      this.#isPaused = true;
      this.#options.pause();
    }
    this.#schedule();
  }

  close(): void {
    clearImmediate(this.#scheduled);
    this.#messages.length = 0;
  }

  #schedule(): void {
    if (this.#scheduled === undefined && this.#messages.length > 0)
      this.#scheduled = setImmediate(() => void this.#drain());
  }

  async #drain(): Promise<void> {
    let bytesOfTurn = 0;
    for (const message of this.#messages.splice(0, MESSAGES_PER_TURN)) {
      const handling = this.#options.handle(message);
      if (handling !== undefined) await handling;
      this.#bytes -= message.length + MESSAGE_OVERHEAD_BYTES;
      bytesOfTurn += message.length;
      if (bytesOfTurn < YIELD_EVERY_BYTES) continue;
      await nextTurn();
      bytesOfTurn = 0;
    }
    this.#scheduled = undefined;
    this.#schedule();
    if (this.#isPaused && this.#bytes < this.#options.maxBytes / 2) {
      this.#isPaused = false;
      this.#options.resume();
    }
  }
}
