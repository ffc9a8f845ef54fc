/** Sends one message to all subscribers of a topic. */
export type Publish = (topic: string, message: string | Buffer, isBinary: boolean) => void;

/** Publishing to so many sockets holds the event loop for about a millisecond. */
const SHARD_SIZE = 128;

/** An audience of this size is served in one turn: the turns would cost its last listener more than they give others. */
const AT_ONCE = 1024;

interface Message {
  readonly topic: string;
  readonly message: string | Buffer;
  readonly isBinary: boolean;
}

/**
 * A topic cut into shards. For a large audience one of them is published per turn of the event loop, so that requests
 * are answered in between however many listen.
 */
export class Fanout {
  readonly #name: string;
  readonly #publish: Publish;
  readonly #members: number[] = [];
  #queue: Message[] = [];

  constructor(name: string, publish: Publish) {
    this.#name = name;
    this.#publish = publish;
  }

  /** Takes in one more subscriber and says which shard it belongs to. */
  join(): number {
    const free = this.#members.findIndex((members) => members < SHARD_SIZE);
    const shard = free < 0 ? this.#members.length : free;
    this.#members[shard] = (this.#members[shard] ?? 0) + 1;
    return shard;
  }

  leave(shard: number): void {
    this.#members[shard] = (this.#members[shard] ?? 1) - 1;
  }

  topic(shard: number): string {
    return `${this.#name}/${shard}`;
  }

  get size(): number {
    return this.#members.reduce((sum, members) => sum + members, 0);
  }

  /** True while a message for this shard waits for its turn. */
  isPending(shard: number): boolean {
    return this.#queue.some(({ topic }) => topic === this.topic(shard));
  }

  /** All at once to a small audience, else the first shard now and each other in a turn of its own; in order. */
  send(message: string | Buffer, isBinary: boolean): void {
    const isIdle = this.#queue.length === 0;
    this.#members.forEach((members, shard) => {
      if (members > 0) this.#queue.push({ topic: this.topic(shard), message, isBinary });
    });
    if (isIdle) this.#publishNext(this.size <= AT_ONCE ? this.#queue.length : 1);
  }

  #publishNext(shards: number): void {
    for (const { topic, message, isBinary } of this.#queue.splice(0, shards)) this.#publish(topic, message, isBinary);
    if (this.#queue.length > 0) setImmediate(() => this.#publishNext(1));
  }
}
