/** The members, as their owner keeps them: there may be very many. */
export interface Members<T> {
  all(): Iterable<T>;
  has(member: T): boolean;
  /** Returns how often a member is read. One whose rank falls may be found late. */
  rankOf(member: T): number;
}

/** A member, and its rank when it was queued: it may have been read since. */
interface Queued<T> {
  readonly member: T;
  readonly rank: number;
}

/** The members that are found by one look at all of them. */
const QUEUE_LENGTH = 64;

/**
 * Finds the least read member of a set. It doesn't follow reads, which are many: they only raise a rank, so the members that
 * had the lowest ones stay the candidates. One pass over all members finds the next {@link QUEUE_LENGTH} of these.
 */
export class LeastRead<T> {
  readonly #members: Members<T>;
  /** The members that were least read, in the order of their ranks then. */
  #queue: Queued<T>[] = [];
  /** The rank up to which the queue is complete: every other member has a higher one. */
  #completeTo = Number.NEGATIVE_INFINITY;

  constructor(members: Members<T>) {
    this.#members = members;
  }

  /** Called with each member that has come. */
  add(member: T): void {
    this.#enqueue(member);
  }

  /** Returns the member with the lowest rank; undefined if there is none. */
  find(): T | undefined {
    for (;;) {
      const [first] = this.#queue;
      if (first === undefined) {
        this.#refill();
        if (this.#queue.length === 0) return undefined;
      } else {
        const { member, rank } = first;
        const isMember = this.#members.has(member);
        if (isMember && this.#members.rankOf(member) === rank) return member;
        this.#queue.shift();
        if (isMember) this.#enqueue(member);
      }
    }
  }

  /** Queues a member at its rank, unless the queue leaves it out. */
  #enqueue(member: T): void {
    const rank = this.#members.rankOf(member);
    if (rank > this.#completeTo) return;
    const index = this.#queue.findLastIndex((other) => other.rank <= rank) + 1;
    this.#queue.splice(index, 0, { member, rank });
    if (this.#queue.length > 2 * QUEUE_LENGTH) this.#truncate();
  }

  #refill(): void {
    this.#completeTo = Number.POSITIVE_INFINITY;
    for (const member of this.#members.all()) if (this.#members.has(member)) this.#enqueue(member);
    this.#truncate();
  }

  /** Leaves out the members beyond the length of the queue. */
  #truncate(): void {
    const left = this.#queue.splice(QUEUE_LENGTH);
    if (left.length > 0) this.#completeTo = this.#queue.at(-1)?.rank ?? Number.NEGATIVE_INFINITY;
  }
}
