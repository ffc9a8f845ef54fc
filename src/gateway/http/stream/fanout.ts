import type { ShardQueue } from './shard-queue.ts';

/** The number of sockets per shard: publishing to as many holds the event loop for about a millisecond. */
const SHARD_SIZE = 128;

/** The most subscribers that are served in one turn, in about two milliseconds: requests wait for them. */
const MAX_SINGLE_TURN_SUBSCRIBERS = 256;

/** A topic cut into shards: with many subscribers these take turns with requests. */
export class Fanout {
  readonly #topicPrefix: string;
  readonly #queue: ShardQueue;
  readonly #shardSizes: number[] = [];

  /** All fan-outs of an event loop share one queue. */
  constructor(topicPrefix: string, queue: ShardQueue) {
    this.#topicPrefix = topicPrefix;
    this.#queue = queue;
  }

  addSubscriber(): number {
    const free = this.#shardSizes.findIndex((size) => size < SHARD_SIZE);
    const shard = free < 0 ? this.#shardSizes.length : free;
    this.#shardSizes[shard] = (this.#shardSizes[shard] ?? 0) + 1;
    return shard;
  }

  removeSubscriber(shard: number): void {
    this.#shardSizes[shard] = (this.#shardSizes[shard] ?? 1) - 1;
  }

  topicOf(shard: number): string {
    return `${this.#topicPrefix}/${shard}`;
  }

  get subscriberCount(): number {
    return this.#shardSizes.reduce((sum, size) => sum + size, 0);
  }

  hasPending(shard: number): boolean {
    return this.#queue.hasPending(this.topicOf(shard));
  }

  /** Sends to few subscribers in this turn, else to one shard per turn; always in order. */
  send(message: string | Buffer, isBinary: boolean): void {
    const shards = [...this.#shardSizes.keys()].filter((shard) => (this.#shardSizes[shard] ?? 0) > 0);
    const messages = shards.map((shard) => ({ topic: this.topicOf(shard), message, isBinary }));
    const isShort = this.subscriberCount <= MAX_SINGLE_TURN_SUBSCRIBERS;
    if (isShort && !shards.some((shard) => this.hasPending(shard))) this.#queue.publishNow(messages);
    else this.#queue.add(messages);
  }
}
