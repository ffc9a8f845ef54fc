/** Sends one message to all subscribers of a topic. */
export type Publish = (topic: string, message: string | Buffer, isBinary: boolean) => void;

export interface ShardMessage {
  readonly topic: string;
  readonly message: string | Buffer;
  readonly isBinary: boolean;
}

/** The most shards in one turn, while the turns before had no I/O event. */
const MAX_SHARDS_IN_TURN = 4;

/**
 * The messages of all fan-outs for the shards that have not had theirs. One shard is published per turn of the event loop,
 * so that requests are answered in between. After a turn without I/O events the number doubles.
 */
export class ShardQueue {
  readonly #publish: Publish;
  readonly #polledEvents: () => number;
  #waiting: ShardMessage[] = [];

  /** `polledEvents` counts the I/O events of the event loop up to this turn. */
  constructor(publish: Publish, polledEvents: () => number) {
    this.#publish = publish;
    this.#polledEvents = polledEvents;
  }

  hasPending(topic: string): boolean {
    return this.#waiting.some((waiting) => waiting.topic === topic);
  }

  publishNow(messages: readonly ShardMessage[]): void {
    for (const { topic, message, isBinary } of messages) this.#publish(topic, message, isBinary);
  }

  /** Publishes messages in turns, behind all that waits; the first one now if nothing does. */
  add(messages: readonly ShardMessage[]): void {
    const isIdle = this.#waiting.length === 0;
    this.#waiting.push(...messages);
    if (isIdle) this.#publishNext(1);
  }

  #publishNext(shards: number): void {
    this.publishNow(this.#waiting.splice(0, shards));
    if (this.#waiting.length === 0) return;
    const events = this.#polledEvents();
    setImmediate(() => {
      const isQuiet = this.#polledEvents() === events;
      this.#publishNext(isQuiet ? Math.min(2 * shards, MAX_SHARDS_IN_TURN) : 1);
    });
  }
}
