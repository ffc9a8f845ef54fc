/** Sends one message to all subscribers of a topic. */
export type Publish = (topic: string, message: string | Buffer, isBinary: boolean) => void;

/** The number of sockets per shard: publishing to as many holds the event loop for about a millisecond. */
const SHARD_SIZE = 128;

/** The most subscribers that are served in one turn, in about two milliseconds: requests wait for them. */
const MAX_SINGLE_TURN_SUBSCRIBERS = 256;

/** The most shards in one turn, while nothing else is to be done. */
const MAX_SHARDS_IN_TURN = 4;

interface QueuedMessage {
  readonly topic: string;
  readonly message: string | Buffer;
  readonly isBinary: boolean;
}

/**
 * A topic cut into shards. With many subscribers one shard is published per turn of the event loop, so that requests
 * are answered in between; twice as many as in the turn before if that had no I/O event.
 */
export class Fanout {
  readonly #topicPrefix: string;
  readonly #publish: Publish;
  readonly #polledEvents: () => number;
  readonly #shardSizes: number[] = [];
  #queue: QueuedMessage[] = [];

  /** `polledEvents` counts the I/O events of the event loop up to this turn. */
  constructor(topicPrefix: string, publish: Publish, polledEvents: () => number) {
    this.#topicPrefix = topicPrefix;
    this.#publish = publish;
    this.#polledEvents = polledEvents;
  }

  /** Adds a subscriber and returns its shard. */
  addSubscriber(): number {
    const free = this.#shardSizes.findIndex((size) => size < SHARD_SIZE);
    const shard = free < 0 ? this.#shardSizes.length : free;
    this.#shardSizes[shard] = (this.#shardSizes[shard] ?? 0) + 1;
    return shard;
  }

  /** Removes a subscriber of the shard. */
  removeSubscriber(shard: number): void {
    this.#shardSizes[shard] = (this.#shardSizes[shard] ?? 1) - 1;
  }

  /** Returns the engine's topic of a shard. */
  topicOf(shard: number): string {
    return `${this.#topicPrefix}/${shard}`;
  }

  get subscriberCount(): number {
    return this.#shardSizes.reduce((sum, size) => sum + size, 0);
  }

  /** Returns true while a message for this shard waits for its turn. */
  hasPending(shard: number): boolean {
    return this.#queue.some(({ topic }) => topic === this.topicOf(shard));
  }

  /** Sends to few subscribers at once, else to the first shard now and to others in each turn; always in order. */
  send(message: string | Buffer, isBinary: boolean): void {
    const isIdle = this.#queue.length === 0;
    this.#shardSizes.forEach((size, shard) => {
      if (size > 0) this.#queue.push({ topic: this.topicOf(shard), message, isBinary });
    });
    if (isIdle) this.#publishNext(this.subscriberCount <= MAX_SINGLE_TURN_SUBSCRIBERS ? this.#queue.length : 1);
  }

  #publishNext(shards: number): void {
    for (const { topic, message, isBinary } of this.#queue.splice(0, shards)) this.#publish(topic, message, isBinary);
    if (this.#queue.length === 0) return;
    const events = this.#polledEvents();
    setImmediate(() => {
      const isIdle = this.#polledEvents() === events;
      this.#publishNext(isIdle ? Math.min(2 * shards, MAX_SHARDS_IN_TURN) : 1);
    });
  }
}
