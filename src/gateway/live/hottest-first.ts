/** An item of a queue, its rank, and its turn among those of equal rank. */
export interface Ranked<T> {
  readonly item: T;
  readonly rank: number;
  readonly turn: number;
}

/** A binary heap: the item of the highest rank comes first, of several the oldest. An item keeps its rank. */
export class HottestFirst<T> {
  readonly #heap: Ranked<T>[] = [];
  #lastTurn = 0;

  get size(): number {
    return this.#heap.length;
  }

  push(item: T, rank: number): void {
    this.putBack({ item, rank, turn: ++this.#lastTurn });
  }

  /** Adds an item again, with the turn that it had. */
  putBack(added: Ranked<T>): void {
    const heap = this.#heap;
    let index = heap.length;
    for (let parent = heap[(index - 1) >> 1]; parent !== undefined; parent = heap[(index - 1) >> 1]) {
      if (isBefore(parent, added)) break;
      heap[index] = parent;
      index = (index - 1) >> 1;
    }
    heap[index] = added;
  }

  pop(): Ranked<T> | undefined {
    const heap = this.#heap;
    const [first] = heap;
    const last = heap.pop();
    if (last === undefined || last === first) return first;
    let index = 0;
    for (let child = heap[1]; child !== undefined; child = heap[2 * index + 1]) {
      const other = heap[2 * index + 2];
      const [next, nextIndex] =
        other !== undefined && isBefore(other, child) ? [other, 2 * index + 2] : [child, 2 * index + 1];
      if (isBefore(last, next)) break;
      heap[index] = next;
      index = nextIndex;
    }
    heap[index] = last;
    return first;
  }
}

const isBefore = (one: Ranked<unknown>, other: Ranked<unknown>): boolean =>
  one.rank === other.rank ? one.turn < other.turn : one.rank > other.rank;
