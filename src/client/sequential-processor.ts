export interface SequentialProcessorOptions {
  /** Processes one message. A rejection is an exception in a callback of the SDK's user. */
  readonly process: (text: string) => Promise<void>;
  /** Returns the most messages that may wait, as they do while a new key is being requested. */
  readonly maxPending: () => number;
  /** Called for each message beyond the limit. */
  readonly onOverflow: () => void;
}

/** Processes messages one after the other, in the order in which they were received. */
export class SequentialProcessor {
  readonly #options: SequentialProcessorOptions;
  #lastProcessed = Promise.resolve();
  #pendingCount = 0;
  #isClosed = false;

  constructor(options: SequentialProcessorOptions) {
    this.#options = options;
  }

  /** Adds a message. */
  add(text: string): void {
    const { process, maxPending, onOverflow } = this.#options;
    if (++this.#pendingCount > maxPending()) onOverflow();
    this.#lastProcessed = this.#lastProcessed
      .then(() => (this.#isClosed ? undefined : process(text)))
      .catch(throwUncaught)
      .finally(() => {
        this.#pendingCount--;
      });
  }

  /** Drops the messages that are not processed yet. */
  close(): void {
    this.#isClosed = true;
  }
}

/** Throws an error of the user's callback where only the runtime can catch it: no code of ours could handle it. */
function throwUncaught(thrown: unknown): void {
  queueMicrotask(() => {
    throw thrown;
  });
}
